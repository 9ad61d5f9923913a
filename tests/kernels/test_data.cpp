#include "tests/kernels/test_data.h"

#include <bit>
#include <cmath>
#include <limits>

namespace kernelscope::test {
namespace {

constexpr unsigned char kMark = 0xC7;

struct Format {
    int significand;  // bits, the hidden one included
    int lowest;       // exponent of the smallest normal
    int highest;      // exponent of the largest finite value
};

Format formatOf(int dtype) {
    if (dtype == KS_FLOAT16) return {11, -14, 15};
    if (dtype == KS_BFLOAT16) return {8, -126, 127};
    return {24, -126, 127};
}

int bitsOf(int dtype) { return dtype == KS_FLOAT32 ? 32 : 16; }

}  // namespace

std::string nameOf(int dtype) { return dtype == KS_FLOAT32 ? "float32" : dtype == KS_FLOAT16 ? "float16" : "bfloat16"; }

double rounded(double value, int dtype) {
    if (std::isnan(value) || std::isinf(value) || value == 0) return value;
    const Format f = formatOf(dtype);
    int exponent = std::ilogb(value);
    if (exponent < f.lowest) exponent = f.lowest;
    const double unit = std::ldexp(1.0, exponent - (f.significand - 1));
    const double result = std::nearbyint(value / unit) * unit;  // the default mode rounds ties to even
    const double limit = std::ldexp(2.0 - std::ldexp(1.0, 1 - f.significand), f.highest);
    return std::fabs(result) > limit ? std::copysign(std::numeric_limits<double>::infinity(), value) : result;
}

uint32_t encode(double value, int dtype) {
    const double r = rounded(value, dtype);
    if (dtype != KS_FLOAT16) {
        const auto bits = std::bit_cast<uint32_t>(static_cast<float>(r));
        return dtype == KS_FLOAT32 ? bits : bits >> 16;
    }
    const uint32_t sign = std::signbit(r) ? 0x8000u : 0u;
    if (std::isnan(r)) return sign | 0x7e00u;
    if (std::isinf(r)) return sign | 0x7c00u;
    const double magnitude = std::fabs(r);
    if (magnitude < 0x1p-14) return sign | static_cast<uint32_t>(magnitude / 0x1p-24);
    const int exponent = std::ilogb(magnitude);
    const auto mantissa = static_cast<uint32_t>((magnitude / std::ldexp(1.0, exponent) - 1.0) * 1024.0);
    return sign | static_cast<uint32_t>(exponent + 15) << 10 | mantissa;
}

double decode(uint32_t bits, int dtype) {
    if (dtype == KS_FLOAT32) return std::bit_cast<float>(bits);
    if (dtype == KS_BFLOAT16) return std::bit_cast<float>(bits << 16);
    const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
    const uint32_t exponent = bits >> 10 & 0x1fu;
    const uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0x1f)
        return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * mantissa * 0x1p-24;
    return sign * std::ldexp(1.0 + mantissa / 1024.0, static_cast<int>(exponent) - 15);
}

int64_t steps(uint32_t a, uint32_t b, int dtype) {
    const bool aNan = std::isnan(decode(a, dtype));
    const bool bNan = std::isnan(decode(b, dtype));
    if (aNan || bNan) return aNan && bNan ? 0 : int64_t{1} << 40;
    const uint32_t signBit = 1u << (bitsOf(dtype) - 1);
    const auto ordered = [signBit](uint32_t v) {
        return (v & signBit) != 0 ? -static_cast<int64_t>(v & (signBit - 1)) : static_cast<int64_t>(v);
    };
    return std::llabs(ordered(a) - ordered(b));
}

Tensor::Tensor(int dtype, int64_t rows, int64_t width, int64_t stride, int64_t shift)
    : m_dtype(dtype), m_rows(rows), m_width(width), m_stride(stride < 0 ? width : stride), m_shift(shift), m_element(bytesOf(dtype)),
      m_bytes(static_cast<size_t>(2 * kGuard + shift + (rows > 0 ? (rows - 1) * m_stride + width : 0)) * m_element, kMark) {}

uint32_t Tensor::bits(int64_t row, int64_t column) const {
    const unsigned char* at = m_bytes.data() + static_cast<size_t>(offset() + row * m_stride + column) * m_element;
    uint32_t bits = 0;
    std::memcpy(&bits, at, m_element);
    return bits;
}

void Tensor::setBits(int64_t row, int64_t column, uint32_t bits) {
    std::memcpy(m_bytes.data() + static_cast<size_t>(offset() + row * m_stride + column) * m_element, &bits, m_element);
}

void Tensor::fillRandom(uint32_t seed, double scale) {
    // Tests fill millions of elements: normal values come from a table, and rows repeat after kDistinctRows.
    constexpr size_t kNormals = 8192;
    constexpr int64_t kDistinctRows = 61;
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0.0, scale);
    std::vector<uint32_t> normals(kNormals);
    for (uint32_t& bits : normals) bits = encode(normal(random), m_dtype);
    uint32_t state = seed * 2654435761u + 1;
    for (int64_t row = 0; row < m_rows; ++row) {
        unsigned char* to = m_bytes.data() + static_cast<size_t>(offset() + row * m_stride) * m_element;
        if (row >= kDistinctRows) {
            std::memcpy(to, to - static_cast<size_t>(kDistinctRows * m_stride) * m_element, static_cast<size_t>(m_width) * m_element);
            continue;
        }
        for (int64_t column = 0; column < m_width; ++column) {
            state = state * 1664525u + 1013904223u;
            setBits(row, column, normals[(state >> 12) % kNormals]);
        }
    }
}

bool Tensor::guardsIntact() const {
    std::vector<unsigned char> inside(m_bytes.size(), 0);
    for (int64_t row = 0; row < m_rows; ++row)
        std::memset(inside.data() + static_cast<size_t>(offset() + row * m_stride) * m_element, 1,
                    static_cast<size_t>(m_width) * m_element);
    for (size_t i = 0; i < m_bytes.size(); ++i)
        if (inside[i] == 0 && m_bytes[i] != kMark) return false;
    return true;
}

Difference compare(const Tensor& a, const Tensor& b) {
    Difference d;
    for (int64_t row = 0; row < a.rows(); ++row)
        for (int64_t column = 0; column < a.width(); ++column) {
            const uint32_t left = a.bits(row, column);
            const uint32_t right = b.bits(row, column);
            ++d.elements;
            if (left == right) continue;
            ++d.differing;
            d.worstSteps = std::max(d.worstSteps, steps(left, right, a.dtype()));
        }
    return d;
}

RopeTables::RopeTables(int64_t positions, int64_t headDim)
    : cos(static_cast<size_t>(positions * headDim)), sin(static_cast<size_t>(positions * headDim)) {
    const int64_t half = headDim / 2;
    for (int64_t position = 0; position < positions; ++position)
        for (int64_t i = 0; i < half; ++i) {
            const double angle = static_cast<double>(position) * std::pow(1e6, -2.0 * static_cast<double>(i) / static_cast<double>(headDim));
            const auto at = static_cast<size_t>(position * headDim + i);
            cos[at] = cos[at + static_cast<size_t>(half)] = static_cast<float>(std::cos(angle));
            sin[at] = sin[at + static_cast<size_t>(half)] = static_cast<float>(std::sin(angle));
        }
}

}  // namespace kernelscope::test
