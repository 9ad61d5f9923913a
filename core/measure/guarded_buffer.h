#pragma once
// Operands laid out as a check wants them, between guard zones that nobody may write to.

#include <cstdint>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

namespace kernelscope {

/// Of [rows, ...]; in elements.
struct Layout {
    std::int64_t offset = 0;      ///< of the base pointer from the allocation's alignment
    std::int64_t rowPadding = 0;  ///< between the end of a row and the next
    std::int64_t lastStride = 1;
    std::int64_t rowStride = 0;   ///< instead of rowPadding, when not 0
};

class GuardedBuffer {
public:
    /// A copy of `content` ([rows, ...] or [n], any type) in that layout. Guard zones and paddings hold a NaN of our own: a
    /// kernel that reads there spoils its result, one that writes there is seen.
    GuardedBuffer(const at::Tensor& content, const Layout& layout);
    /// A place for results of that size: every element is our NaN.
    GuardedBuffer(at::IntArrayRef sizes, at::TensorOptions options, const Layout& layout);

    [[nodiscard]] const at::Tensor& view() const { return m_view; }

    /// Where something was written outside the rows, in words.
    [[nodiscard]] std::optional<std::string> damage() const;
    /// Where an element differs, bit by bit, from `content`: "row:column".
    [[nodiscard]] std::optional<std::string> changedSince(const at::Tensor& content) const;
    /// How many elements of the rows still hold our NaN, and the first of them.
    struct Unwritten {
        std::int64_t count = 0;
        std::string first;
    };
    [[nodiscard]] Unwritten unwritten() const;

private:
    void allocate(at::IntArrayRef sizes, at::TensorOptions options, const Layout& layout);
    [[nodiscard]] at::Tensor bits() const;  ///< the rows as integers of the element's size, [rows, width]
    [[nodiscard]] std::optional<std::string> writtenIn(std::int64_t begin, std::int64_t end, const std::string& where) const;

    std::int64_t m_pattern = 0;  ///< the bits of our NaN
    at::Tensor m_buffer;  ///< integers
    at::Tensor m_view;
    std::int64_t m_begin = 0, m_rows = 0, m_width = 0, m_rowStride = 0, m_lastStride = 1, m_end = 0;
};

/// "row:column" of a flat index into rows of that width.
std::string placeText(std::int64_t index, std::int64_t width);

}  // namespace kernelscope
