#pragma once
// Runs from files: JSON documents that this program wrote.

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/client/store.h"

namespace kernelscope {

/// A run on its way into a store.
struct ImportedRun {
    RunHeader header;
    std::vector<RowRecord> rows;
};

/// Reads a run's JSON document. Errors: badInput in words (no document of ours, a newer schema, a row that does not fit: named by its number).
Result<ImportedRun> readRun(std::string_view document);

/// Reads a run's JSON document into the store as a run of its own. The id is kept where it is free, else a new one is
/// made. Errors: those of readRun and of the store.
Result<RunHeader> importRun(Store& store, std::string_view document);

/// A file of either kind: a JSON document of ours or a Chrome trace, told apart by their beginning. Errors: badInput, naming
/// the file.
Result<RunHeader> importFile(Store& store, const std::filesystem::path& file);

}  // namespace kernelscope
