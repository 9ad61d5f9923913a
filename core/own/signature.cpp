#include "core/own/signature.h"

#include <array>

namespace kernelscope {
namespace {

constexpr auto kPointer = ParameterKind::pointer;
constexpr auto kNumber = ParameterKind::number;
constexpr auto kReal = ParameterKind::real;

constexpr std::array kRmsNorm{
    Parameter{kPointer, "out", "T*"},       Parameter{kPointer, "x", "const T*"},           Parameter{kPointer, "weight", "const T*"},
    Parameter{kNumber, "rows", "long long"}, Parameter{kNumber, "hidden", "long long"},     Parameter{kNumber, "x_row_stride", "long long"},
    Parameter{kNumber, "out_row_stride", "long long"}, Parameter{kReal, "eps", "float"},
};
constexpr std::array kAddRmsNorm{
    Parameter{kPointer, "out", "T*"},
    Parameter{kPointer, "residual_out", "T*"},
    Parameter{kPointer, "x", "const T*"},
    Parameter{kPointer, "residual", "const T*"},
    Parameter{kPointer, "weight", "const T*"},
    Parameter{kNumber, "rows", "long long"},
    Parameter{kNumber, "hidden", "long long"},
    Parameter{kNumber, "x_row_stride", "long long"},
    Parameter{kNumber, "residual_row_stride", "long long"},
    Parameter{kNumber, "out_row_stride", "long long"},
    Parameter{kNumber, "residual_out_row_stride", "long long"},
    Parameter{kReal, "eps", "float"},
};
constexpr std::array kSiluMul{
    Parameter{kPointer, "out", "T*"},         Parameter{kPointer, "gate", "const T*"},         Parameter{kPointer, "up", "const T*"},
    Parameter{kNumber, "rows", "long long"},  Parameter{kNumber, "width", "long long"},        Parameter{kNumber, "gate_row_stride", "long long"},
    Parameter{kNumber, "up_row_stride", "long long"}, Parameter{kNumber, "out_row_stride", "long long"},
};
constexpr std::array kRope{
    Parameter{kPointer, "q", "T*"},
    Parameter{kPointer, "k", "T*"},
    Parameter{kPointer, "cos", "const float*"},
    Parameter{kPointer, "sin", "const float*"},
    Parameter{kPointer, "positions", "const long long*"},
    Parameter{kNumber, "tokens", "long long"},
    Parameter{kNumber, "q_heads", "long long"},
    Parameter{kNumber, "kv_heads", "long long"},
    Parameter{kNumber, "head_dim", "long long"},
    Parameter{kNumber, "q_token_stride", "long long"},
    Parameter{kNumber, "k_token_stride", "long long"},
};
constexpr std::array<Signature, 4> kSignatures{Signature{"rms_norm", kRmsNorm, "rows"}, Signature{"add_rms_norm", kAddRmsNorm, "rows"},
                                               Signature{"silu_mul", kSiluMul, "rows"}, Signature{"rope", kRope, "tokens"}};

}  // namespace

std::string Signature::text() const {
    std::string text;
    for (const Parameter& parameter : parameters) text += (text.empty() ? "" : ", ") + std::string(parameter.type) + " " + std::string(parameter.name);
    return text;
}

std::span<const Signature> signatures() { return kSignatures; }

const Signature* findSignature(std::string_view op) {
    for (const Signature& each : kSignatures) {
        if (each.op == op) return &each;
    }
    return nullptr;
}

}  // namespace kernelscope
