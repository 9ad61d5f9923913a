#pragma once
// The kernels of this library as one list that is handed around as an object. Adding a variant is one function and one line in
// builtin_kernels.cpp.

#include <string_view>
#include <variant>
#include <vector>

#include "kernelscope/kernels.h"

namespace kernelscope {

using RmsNormFunction = decltype(&ks_rms_norm);
using AddRmsNormFunction = decltype(&ks_add_rms_norm);
using SiluMulFunction = decltype(&ks_silu_mul);
using RopeFunction = decltype(&ks_rope);
using KernelFunction = std::variant<RmsNormFunction, AddRmsNormFunction, SiluMulFunction, RopeFunction>;

enum class KernelDevice { cpu, cuda };

struct KernelEntry {
    KernelDevice device;
    std::string_view op;           // rms_norm, add_rms_norm, silu_mul, rope
    std::string_view variant;      // fused; fused_plain: without programmatic launch
    std::string_view description;  // one line for a list
    KernelFunction function;
};

class KernelTable {
public:
    explicit KernelTable(std::vector<KernelEntry> entries) : m_entries(std::move(entries)) {}

    [[nodiscard]] const std::vector<KernelEntry>& entries() const { return m_entries; }

    /// The function of that name, or null where there is none (or it is one of another operator's type).
    template <class Function>
    [[nodiscard]] Function find(KernelDevice device, std::string_view op, std::string_view variant) const {
        for (const KernelEntry& entry : m_entries)
            if (entry.device == device && entry.op == op && entry.variant == variant)
                if (const Function* function = std::get_if<Function>(&entry.function)) return *function;
        return nullptr;
    }

private:
    std::vector<KernelEntry> m_entries;
};

/// Everything built into this library; CUDA entries only where it was built with CUDA.
[[nodiscard]] KS_API KernelTable builtinKernels();

}  // namespace kernelscope
