#pragma once
// Inputs and comparisons that the CPU and the GPU tests share: element types by their bits, random values, rows in guarded buffers.

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernelscope/kernels.h"

namespace kernelscope::test {

inline size_t bytesOf(int dtype) { return dtype == KS_FLOAT32 ? 4 : 2; }
std::string nameOf(int dtype);

/// The nearest value of the type, ties to even, as its bits; and back. Written plainly, on doubles, independent of the kernels.
uint32_t encode(double value, int dtype);
double decode(uint32_t bits, int dtype);
/// value as it reads back after a store in the type.
double rounded(double value, int dtype);

/// Distance in steps of the type between two encoded values; large if either is NaN and the other is not.
int64_t steps(uint32_t a, uint32_t b, int dtype);

/// rows x width elements with a row stride, in a buffer with a guard zone at both ends and marks between the rows.
class Tensor {
public:
    static constexpr int64_t kGuard = 64;

    /// `shift` moves the first element by so many elements, which takes the 16-byte alignment away.
    Tensor(int dtype, int64_t rows, int64_t width, int64_t stride = -1, int64_t shift = 0);

    void fillRandom(uint32_t seed, double scale = 1.0);
    [[nodiscard]] void* data() { return m_bytes.data() + offset() * m_element; }
    [[nodiscard]] const void* data() const { return m_bytes.data() + offset() * m_element; }
    [[nodiscard]] std::vector<unsigned char>& bytes() { return m_bytes; }
    [[nodiscard]] const std::vector<unsigned char>& bytes() const { return m_bytes; }
    [[nodiscard]] int64_t offset() const { return kGuard + m_shift; }  // elements before the first
    [[nodiscard]] int64_t rows() const { return m_rows; }
    [[nodiscard]] int64_t width() const { return m_width; }
    [[nodiscard]] int64_t stride() const { return m_stride; }
    [[nodiscard]] int dtype() const { return m_dtype; }
    [[nodiscard]] uint32_t bits(int64_t row, int64_t column) const;
    void setBits(int64_t row, int64_t column, uint32_t bits);
    [[nodiscard]] double value(int64_t row, int64_t column) const { return decode(bits(row, column), m_dtype); }
    /// True while nothing outside the rows has changed.
    [[nodiscard]] bool guardsIntact() const;

private:
    int m_dtype;
    int64_t m_rows, m_width, m_stride, m_shift;
    size_t m_element;
    std::vector<unsigned char> m_bytes;
};

struct Difference {
    int64_t differing = 0;  // elements that are not bit-equal
    int64_t elements = 0;
    int64_t worstSteps = 0;
    [[nodiscard]] double share() const { return elements == 0 ? 0 : static_cast<double>(differing) / static_cast<double>(elements); }
};
Difference compare(const Tensor& a, const Tensor& b);

/// cos and sin tables [positions, head_dim], halves equal.
struct RopeTables {
    RopeTables(int64_t positions, int64_t headDim);
    std::vector<float> cos, sin;
};

}  // namespace kernelscope::test
