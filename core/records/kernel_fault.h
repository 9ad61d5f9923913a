#pragma once
// A kernel that a patch put into a model, and that took the engine with it: said alike by the engine and by whoever sees it die.

#include <string>

#include <nlohmann/json.hpp>

#include "core/records/result.h"

namespace kernelscope {

struct Progress;

/// Exit code of an engine whose GPU context a kernel's fault has killed.
inline constexpr int kExitDeviceFault = 70;
/// The phase in which a patch is validated, before the model runs with it: single calls of its kernels.
inline constexpr const char* kProvingPatch = "Validating the patch";

/// A job.progress also says what of a patch runs now, alone or in the model ("rms_norm=my_norm"; empty: nothing). An engine that dies or falls silent
/// meanwhile does so of it.
nlohmann::json progressWithKernel(const Progress& progress, const std::string& kernel);
std::string kernelOf(const nlohmann::json& progress);

/// `kernel`: "rms_norm=my_norm", or several with commas. `how`: "crashes", "hangs", "faults the GPU". `words`: what is known, "signal 11 (SIGSEGV)".
/// `settings`: the job's; a `kernel` in them is the file that validate is to look at.
/// The error (cantTell) says "rms_norm=my_norm crashes at this model's shapes (signal 11 (SIGSEGV))" and which validate finds the call.
Error kernelFault(const std::string& kernel, const std::string& how, const std::string& words, const nlohmann::json& settings);

/// "kernelscope-cli validate --kernel FILE", or of the first variant where no file is given.
std::string validateCommand(const std::string& kernel, const nlohmann::json& settings);

}  // namespace kernelscope
