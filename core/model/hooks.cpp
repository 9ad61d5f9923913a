#include "core/model/hooks.h"

namespace kernelscope {

std::string_view toString(ModuleType type) {
    switch (type) {
        case ModuleType::none: return "";
        case ModuleType::embedding: return "Embedding";
        case ModuleType::rotary: return "Rotary";
        case ModuleType::rmsNorm: return "RMSNorm";
        case ModuleType::attention: return "Attention";
        case ModuleType::mlp: return "MLP";
        case ModuleType::residual: return "Residual";
        case ModuleType::lmHead: return "LM head";
    }
    return "";
}

}  // namespace kernelscope
