#pragma once
// NumPy's .npy files: float32, two dimensions, row-major, little endian.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

struct NpyMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<float> values;  ///< row after row
};

/// Writes beside `file` and renames, so that a reader never sees half of it; missing folders are made.
/// Precondition: values.size() == rows x columns. Errors: environment, when it cannot be written.
Result<void> writeNpy(const std::filesystem::path& file, std::span<const float> values, std::int64_t rows, std::int64_t columns);

/// Makes the file's folder and sees that a file can be written there, before a long job. Errors: environment.
Result<void> prepareNpy(const std::filesystem::path& file);

/// Errors: badInput, when it is no float32 matrix.
Result<NpyMatrix> readNpy(const std::filesystem::path& file);

}  // namespace kernelscope
