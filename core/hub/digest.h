#pragma once
// The digests by which a hub publishes its files: SHA-256 for large ones, git's blob hash (SHA-1) for small ones.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelscope {

/// FIPS 180-4, fed piece by piece.
class Digest {
public:
    enum class Kind { sha1, sha256 };
    explicit Digest(Kind kind);
    void add(std::string_view bytes);
    /// Lower-case hexadecimal. The digest is used up.
    [[nodiscard]] std::string finish();

private:
    void block(const unsigned char* bytes);
    void block1(const std::array<std::uint32_t, 16>& words);
    void block256(const std::array<std::uint32_t, 16>& words);

    Kind m_kind;
    std::array<std::uint32_t, 8> m_state{};
    std::array<unsigned char, 64> m_rest{};  ///< less than a block, waiting for more
    std::size_t m_held = 0;
    std::uint64_t m_bytes = 0;
};

}  // namespace kernelscope
