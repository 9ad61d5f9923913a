#pragma once
// What the C functions call after their checks: one backend for CUDA (or its stand-in in a build without CUDA), one for the CPU.

#include <span>

#include "kernels/common/arguments.h"
#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels {

/// Caller's options, or the defaults; KS_ERROR_CONFIG if the struct is not one this library knows.
[[nodiscard]] int readOptions(const ks_launch_options* given, ks_launch_options& options);

namespace cuda {
[[nodiscard]] int rmsNorm(const NormArguments& a, const ks_launch_options& options, void* stream);
[[nodiscard]] int addRmsNorm(const NormArguments& a, const ks_launch_options& options, void* stream);
[[nodiscard]] int siluMul(const SiluMulArguments& a, const ks_launch_options& options, void* stream);
[[nodiscard]] int rope(const RopeArguments& a, const ks_launch_options& options, void* stream);
[[nodiscard]] int configCount(int op);
[[nodiscard]] const char* configName(int op, int config);
[[nodiscard]] int choose(int op, int64_t rows, int64_t hidden, int dtype, ks_launch_options& options);
[[nodiscard]] int useTable(std::span<const ks_table_entry> entries);
}  // namespace cuda

namespace cpu {
[[nodiscard]] int rmsNorm(const NormArguments& a, const ks_launch_options& options);
[[nodiscard]] int addRmsNorm(const NormArguments& a, const ks_launch_options& options);
[[nodiscard]] int siluMul(const SiluMulArguments& a, const ks_launch_options& options);
[[nodiscard]] int rope(const RopeArguments& a, const ks_launch_options& options);
}  // namespace cpu

}  // namespace kernelscope::kernels
