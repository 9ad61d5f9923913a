#pragma once
// Which operators, variants, shapes and types a job on kernels is about: what validate and sweep have in common.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/engine/model_setup.h"
#include "core/engine/settings.h"
#include "core/ops/operator.h"

namespace kernelscope {

/// The options that name kernels and shapes, as they stand in the settings; empty lists mean the job's defaults.
struct SelectionSettings {
    std::string ops, variants, dtypes;
    std::vector<std::int64_t> hidden, rows;
};
/// Does the request itself say something for this key?
bool wasGiven(const JobRequest& request, const char* key);
SelectionSettings readSelection(SettingsReader& reader, const std::string& defaultDtypes);

/// The model whose shapes are the defaults. A list of types in the settings stands for the request's one type, which may be such a
/// list itself, where a run is taken up again.
Result<ModelSetup> prepareModelFor(const JobRequest& request, const SelectionSettings& settings);

/// "float32,float16" -> types, each once. Errors: usage.
Result<std::vector<at::ScalarType>> parseDtypes(const std::string& text);

struct SelectedOperator {
    const Operator* op = nullptr;
    std::vector<const Variant*> variants;
};

/// With "all", every operator, and every variant that runs on the device; by name, also those that do not, which are then
/// skipped with the reason. Errors: usage, naming what is unknown and what there is.
Result<std::vector<SelectedOperator>> selectVariants(const SelectionSettings& settings, const OperatorTable& operators, at::Device device);

/// The parts between commas, trimmed, empty ones left out.
std::vector<std::string> splitNames(const std::string& text);

/// Sizes from the command line that a tensor can have. Errors: usage.
Result<void> checkSizes(const std::vector<std::int64_t>& hidden, const std::vector<std::int64_t>& rows);

/// Ends the process at once when the device has faulted: its context is dead, and the client starts another engine, which goes on
/// behind this cell. The words go to standard error, where the client finds them.
void leaveIfFaulted(const Device& device, const std::string& cell, const std::string& words);

}  // namespace kernelscope
