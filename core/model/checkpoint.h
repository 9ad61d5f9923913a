#pragma once
// A checkpoint folder: config.json plus safetensors, one file or shards with an index. Memory-mapped; every size and
// offset is checked before a byte of a tensor is touched.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config.h"
#include "core/records/result.h"

namespace kernelscope {

struct TensorInfo {
    std::string name;
    std::string dtype;                 ///< float32, float16 or bfloat16
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;  ///< into the mapping; may be unaligned for its type
};

/// A read-only mapping of a whole file. Move-only. (The one place that maps; POSIX inside its .cpp.)
class MappedFile;

/// Parses one safetensors file held in memory. Errors: badInput, saying what is wrong with which tensor.
Result<std::vector<TensorInfo>> parseSafetensors(std::span<const std::byte> file, const std::string& fileName);

class Checkpoint {
public:
    /// Opens config.json, the index or model.safetensors, and checks every tensor the config calls for: present, of the
    /// right shape, of a type we read. Shard names are plain file names; symlinks inside the folder are followed.
    static Result<Checkpoint> open(const std::filesystem::path& folder);
    ~Checkpoint();
    Checkpoint(Checkpoint&&) noexcept;
    Checkpoint& operator=(Checkpoint&&) noexcept;

    [[nodiscard]] const ModelConfig& config() const;
    [[nodiscard]] const TensorInfo* find(std::string_view name) const;
    [[nodiscard]] const std::map<std::string, TensorInfo, std::less<>>& tensors() const;
    [[nodiscard]] const std::vector<std::filesystem::path>& files() const;
    [[nodiscard]] std::int64_t bytes() const;  ///< of all tensors

private:
    struct Impl;
    explicit Checkpoint(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// Names and shapes a config calls for, in the Hugging Face naming ("model.layers.0.self_attn.q_proj.weight", ...).
struct ExpectedTensor {
    std::string name;
    std::vector<std::int64_t> shape;
};
std::vector<ExpectedTensor> expectedTensors(const ModelConfig& config);

}  // namespace kernelscope
