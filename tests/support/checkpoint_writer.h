#pragma once
// Writes checkpoint folders for tests: the good ones, and the raw pieces from which torn ones are made.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config.h"
#include "core/records/result.h"

namespace kernelscope::test {

/// Borrowed bytes, row-major, little endian.
struct TensorToWrite {
    std::string name;
    std::string dtype;  ///< float32, float16 or bfloat16
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
};

/// A config.json that parseConfig reads back as `config` (its name aside).
std::string configJson(const ModelConfig& config);

/// config.json and the weights: model.safetensors, or for shards > 1 model-0000i-of-0000n.safetensors with an index.
/// The folder is made. Errors: environment, when a file cannot be written.
Result<void> writeCheckpoint(const std::filesystem::path& folder, const ModelConfig& config, std::span<const TensorToWrite> tensors,
                             std::size_t shards = 1);

/// One safetensors file: header length, header, data.
std::string safetensorsFile(std::string_view header, std::string_view data);
std::string safetensorsFile(std::span<const TensorToWrite> tensors);

/// Every tensor that `config` calls for, filled with a repeating byte pattern, owned.
class PatternTensors {
public:
    PatternTensors(const ModelConfig& config, const std::string& dtype);
    [[nodiscard]] const std::vector<TensorToWrite>& tensors() const { return m_tensors; }

private:
    std::vector<std::vector<std::byte>> m_bytes;
    std::vector<TensorToWrite> m_tensors;
};

/// Bytes to a file, whole. Returns false when that fails.
bool writeFile(const std::filesystem::path& path, std::string_view text);
std::string readFile(const std::filesystem::path& path);

}  // namespace kernelscope::test
