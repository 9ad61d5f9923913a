#include "core/measure/guarded_buffer.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace kernelscope {
namespace {

// Enough for a stray vector, a stray tile and a stray short row; a multiple of every vector, so that offsets are as asked.
constexpr std::int64_t kGuard = 4096;

at::ScalarType integerOf(std::int64_t elementBytes) {
    switch (elementBytes) {
        case 8: return at::kLong;
        case 4: return at::kInt;
        case 2: return at::kShort;
        default: return at::kChar;
    }
}

/// A NaN in float16, bfloat16 and float32 that arithmetic does not produce; a signalling one where the type leaves the choice, since arithmetic
/// hands a quiet one on as it is: who reads beyond a row and writes beyond it would write what is there.
std::int64_t pattern(std::int64_t elementBytes) {
    switch (elementBytes) {
        case 8: return 0x7ff5a5a5a5a5a5a5;
        case 4: return 0x7f85a5a5;
        case 2: return 0x7fa5;
        default: return 0x5a;
    }
}

// Results are filled with a NaN of their own, for the same reason.
constexpr std::int64_t kOfResults = 0x11;

std::int64_t widthOf(at::IntArrayRef sizes) {
    std::int64_t width = 1;
    for (std::size_t dim = 1; dim < sizes.size(); ++dim) width *= sizes[dim];
    return width;
}

std::optional<std::int64_t> firstTrue(const at::Tensor& mask) {
    if (mask.numel() == 0 || !mask.any().item<bool>()) return std::nullopt;
    return mask.reshape({-1}).to(at::kInt).argmax().item<std::int64_t>();
}

}  // namespace

std::string placeText(std::int64_t index, std::int64_t width) {
    return width > 0 ? fmt::format("{}:{}", index / width, index % width) : std::string();
}

GuardedBuffer::GuardedBuffer(at::IntArrayRef sizes, at::TensorOptions options, const Layout& layout)
    : m_pattern(pattern(static_cast<std::int64_t>(options.dtype().itemsize())) ^ kOfResults) {
    allocate(sizes, options, layout);
}

GuardedBuffer::GuardedBuffer(const at::Tensor& content, const Layout& layout) : m_pattern(pattern(static_cast<std::int64_t>(content.element_size()))) {
    allocate(content.sizes(), content.options(), layout);
    m_view.copy_(content);
}

void GuardedBuffer::allocate(at::IntArrayRef sizes, at::TensorOptions options, const Layout& layout) {
    const auto bytes = static_cast<std::int64_t>(options.dtype().itemsize());
    m_rows = sizes.empty() ? 1 : sizes[0];
    m_width = widthOf(sizes);
    m_lastStride = layout.lastStride;
    const std::int64_t dense = (m_width > 0 ? (m_width - 1) * m_lastStride + 1 : 0);
    m_rowStride = layout.rowStride != 0 ? layout.rowStride : (sizes.size() < 2 ? m_lastStride : m_lastStride * m_width + layout.rowPadding);
    m_begin = kGuard + layout.offset;
    m_end = m_begin + (m_rows > 0 ? (m_rows - 1) * m_rowStride + dense : 0);
    m_buffer = at::empty({m_end + kGuard}, options.dtype(integerOf(bytes)));
    // Rows that lie far apart: only what is near them is filled and watched, so that the rest needs no memory on a CPU.
    if (m_rowStride > kGuard + m_lastStride * m_width + kGuard) {
        for (std::int64_t row = 0; row < m_rows; ++row) {
            const std::int64_t from = std::max<std::int64_t>(0, m_begin + row * m_rowStride - kGuard);
            m_buffer.narrow(0, from, std::min(m_end + kGuard, m_begin + row * m_rowStride + dense + kGuard) - from).fill_(m_pattern);
        }
    } else {
        m_buffer.fill_(m_pattern);
    }
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t stride = m_lastStride;
    for (std::size_t dim = sizes.size(); dim-- > 1;) {
        strides[dim] = stride;
        stride *= sizes[dim];
    }
    if (!sizes.empty()) strides[0] = m_rowStride;
    m_view = m_buffer.view(c10::typeMetaToScalarType(options.dtype())).as_strided(sizes, strides, m_begin);
}

at::Tensor GuardedBuffer::bits() const { return m_buffer.as_strided({m_rows, m_width}, {m_rowStride, m_lastStride}, m_begin); }

std::optional<std::string> GuardedBuffer::writtenIn(std::int64_t begin, std::int64_t end, const std::string& where) const {
    if (end <= begin) return std::nullopt;
    const at::Tensor zone = m_buffer.narrow(0, begin, end - begin);
    const at::Tensor written = zone != m_pattern;
    const auto first = firstTrue(written);
    if (!first) return std::nullopt;
    return fmt::format("{} elements {}, the first {} away", written.sum().item<std::int64_t>(), where,
                       begin < m_begin ? m_begin - begin - *first : *first + 1);
}

std::optional<std::string> GuardedBuffer::damage() const {
    const std::int64_t dense = m_width > 0 ? (m_width - 1) * m_lastStride + 1 : 0;
    if (auto before = writtenIn(m_begin - std::min(m_begin, kGuard), m_begin, "before the first row")) return before;
    if (auto behind = writtenIn(m_end, m_end + kGuard, "behind the last row")) return behind;
    const std::int64_t gap = m_rowStride - dense;
    if (m_rows < 2 || gap <= 0 || m_lastStride != 1) return std::nullopt;
    const std::int64_t watched = std::min(gap, kGuard);
    const at::Tensor between = m_buffer.as_strided({m_rows - 1, watched}, {m_rowStride, 1}, m_begin + dense);
    const auto first = firstTrue(between != m_pattern);
    if (!first) return std::nullopt;
    return fmt::format("between rows, the first {} elements behind the end of row {}", *first % watched + 1, *first / watched);
}

std::optional<std::string> GuardedBuffer::changedSince(const at::Tensor& content) const {
    const at::Tensor before = content.contiguous().view(m_buffer.scalar_type()).reshape({m_rows, m_width});
    const auto first = firstTrue(bits() != before);
    if (!first) return std::nullopt;
    return placeText(*first, m_width);
}

GuardedBuffer::Unwritten GuardedBuffer::unwritten() const {
    const at::Tensor untouched = bits() == m_pattern;
    const auto first = firstTrue(untouched);
    if (!first) return {};
    return {untouched.sum().item<std::int64_t>(), placeText(*first, m_width)};
}

}  // namespace kernelscope
