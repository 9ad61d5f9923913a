#pragma once
// Runs from Chrome traces that the torch profiler wrote: its kernels, and its module spans where it kept them.

#include <filesystem>
#include <istream>
#include <string_view>

#include "core/client/import.h"

namespace kernelscope {

/// Does a file that begins like this hold a Chrome trace?
bool looksLikeTrace(std::string_view beginning);

/// Reads the trace as it streams by (a trace of 200 MB needs a fraction of that in memory) and makes a profile run of
/// it: rows by module type where the trace has module spans (`with_modules=True` or `with_stack=True`), else by kernel. A
/// pass is a ProfilerStep where there are any, else the whole trace. What the trace cannot say stands in the run's
/// result under "missing". `name` is shown as the model. Errors: badInput.
Result<ImportedRun> profileOfTrace(std::istream& trace, const std::string& name);

/// The same, kept in the store.
Result<RunHeader> importTrace(Store& store, std::istream& trace, const std::string& name);

}  // namespace kernelscope
