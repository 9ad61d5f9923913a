#include <dlfcn.h>

#include "core/own/loaded_from.h"

namespace kernelscope {

std::filesystem::path fileOfSymbol(void* symbol) {
    Dl_info info{};
    return symbol && dladdr(symbol, &info) != 0 && info.dli_fname ? std::filesystem::path(info.dli_fname) : std::filesystem::path();
}

}  // namespace kernelscope
