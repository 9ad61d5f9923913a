#pragma once
// The file behind the user's own dispatch table (kernel_table.h): one a GPU model, beside the store.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

/// One cell, by names, so that it outlives a new version's numbering. As TuneRow (core/records/kernel_rows.h) has them.
struct KernelTableCell {
    std::string op, launch;
    std::int64_t hidden = 0, rows = 0;
    std::string config, trigger, prefetch;
    std::int64_t blocksPerSm = 0;

    bool operator==(const KernelTableCell&) const = default;
};

/// Reads a file's text; `name` stands for it in messages. Errors: badInput (torn, another schema), naming it.
Result<std::vector<KernelTableCell>> parseKernelTable(std::string_view text, const std::string& name);
std::string kernelTableText(const std::string& gpu, const std::vector<KernelTableCell>& cells);

/// Cells of the file, none where there is no file. Errors: badInput (torn, another schema, no file), naming the file.
Result<std::vector<KernelTableCell>> readKernelTable(const std::filesystem::path& file);

/// Puts `cells` into the file, over those of the same shape and beside the others; whole or not at all. Errors: environment.
Result<void> writeKernelTable(const std::filesystem::path& file, const std::string& gpu, const std::vector<KernelTableCell>& cells);

}  // namespace kernelscope
