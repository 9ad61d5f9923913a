#include "kernels/tune/workload.h"

#include <stdexcept>

namespace kernelscope::tune {
namespace {

size_t elementBytes(int dtype) { return dtype == KS_FLOAT32 ? 4 : 2; }

/// `sets` buffers of one operand, each on its own 256 bytes boundary.
class Operand {
public:
    Operand(size_t bytes, int sets) : m_spacing((bytes + 255) / 256 * 256), m_buffer(m_spacing * static_cast<size_t>(sets)), m_sets(sets) {}
    [[nodiscard]] void* at(int index) const { return m_buffer.data() + m_spacing * static_cast<size_t>(index % m_sets); }
    void fill(int dtype, uint32_t seed, cudaStream_t stream) { fillRandom(m_buffer.data(), m_buffer.bytes(), dtype, seed, stream); }

private:
    size_t m_spacing;
    Buffer m_buffer;
    int m_sets;
};

class NormWorkload final : public Workload {
public:
    NormWorkload(const Shape& shape, int sets, cudaStream_t stream)
        : m_shape(shape), m_add(shape.op == KS_ADD_RMS_NORM), m_sets(sets), m_bytes(elementBytes(shape.dtype)),
          m_x(rowBytes(), sets < 2 ? 2 : sets), m_out(rowBytes(), sets < 2 ? 2 : sets), m_residual(m_add ? rowBytes() : 256, sets < 2 ? 2 : sets),
          m_total(m_add ? rowBytes() : 256, sets < 2 ? 2 : sets), m_weight(static_cast<size_t>(shape.hidden) * m_bytes, sets) {
        m_x.fill(shape.dtype, 1, stream);
        m_residual.fill(shape.dtype, 2, stream);
        m_weight.fill(shape.dtype, 3, stream);
    }

    int call(Pattern pattern, int index, const ks_launch_options& options, cudaStream_t stream) override {
        const int set = pattern == Pattern::warm ? 0 : index % m_sets;
        void* x = m_x.at(set);
        void* out = m_out.at(set);
        void* residual = m_residual.at(set);
        void* total = m_total.at(set);
        if (pattern == Pattern::chain) {  // to and fro between the two buffers of set 0
            const bool back = index % 2 == 1;
            x = back ? m_out.at(0) : m_x.at(0);
            out = back ? m_x.at(0) : m_out.at(0);
            residual = back ? m_total.at(0) : m_residual.at(0);
            total = back ? m_residual.at(0) : m_total.at(0);
        }
        const int64_t h = m_shape.hidden;
        if (!m_add) return ks_rms_norm_ex(out, x, m_weight.at(set), m_shape.rows, h, h, h, 1e-6f, m_shape.dtype, stream, &options);
        return ks_add_rms_norm_ex(out, total, x, residual, m_weight.at(set), m_shape.rows, h, h, h, h, h, 1e-6f, m_shape.dtype, stream,
                                  &options);
    }

private:
    [[nodiscard]] size_t rowBytes() const { return static_cast<size_t>(m_shape.rows * m_shape.hidden) * m_bytes; }

    Shape m_shape;
    bool m_add;
    int m_sets;
    size_t m_bytes;
    Operand m_x, m_out, m_residual, m_total, m_weight;
};

class SiluMulWorkload final : public Workload {
public:
    SiluMulWorkload(const Shape& shape, int sets, cudaStream_t stream)
        : m_shape(shape), m_sets(sets), m_gate(bytes(), sets), m_up(bytes(), sets), m_out(bytes(), sets) {
        m_gate.fill(shape.dtype, 1, stream);
        m_up.fill(shape.dtype, 2, stream);
    }

    int call(Pattern pattern, int index, const ks_launch_options& options, cudaStream_t stream) override {
        const int set = pattern == Pattern::warm ? 0 : index % m_sets;
        void* gate = m_gate.at(set);
        void* out = m_out.at(set);
        if (pattern == Pattern::chain) {
            gate = index % 2 == 1 ? m_out.at(0) : m_gate.at(0);
            out = index % 2 == 1 ? m_gate.at(0) : m_out.at(0);
        }
        const int64_t w = m_shape.width;
        return ks_silu_mul_ex(out, gate, m_up.at(set), m_shape.rows, w, w, w, w, m_shape.dtype, stream, &options);
    }

private:
    [[nodiscard]] size_t bytes() const { return static_cast<size_t>(m_shape.rows * m_shape.width) * elementBytes(m_shape.dtype); }

    Shape m_shape;
    int m_sets;
    Operand m_gate, m_up, m_out;
};

class RopeWorkload final : public Workload {
public:
    RopeWorkload(const Shape& shape, int sets, cudaStream_t stream)
        : m_shape(shape), m_sets(sets), m_q(bytes(shape.qHeads), sets), m_k(bytes(shape.kvHeads), sets), m_cos(tableBytes(), sets),
          m_sin(tableBytes(), sets), m_positions(static_cast<size_t>(shape.rows) * 8, sets) {
        m_q.fill(shape.dtype, 1, stream);
        m_k.fill(shape.dtype, 2, stream);
        for (int set = 0; set < sets; ++set) {
            fillTables(static_cast<float*>(m_cos.at(set)), static_cast<float*>(m_sin.at(set)), static_cast<int>(shape.rows) + kSlack,
                       static_cast<int>(shape.headDim), stream);
            fillPositions(static_cast<int64_t*>(m_positions.at(set)), shape.rows, (7 * set + 5) % kSlack, stream);
        }
    }

    int call(Pattern pattern, int index, const ks_launch_options& options, cudaStream_t stream) override {
        const int set = pattern == Pattern::cold ? index % m_sets : 0;
        return ks_rope_ex(m_q.at(set), m_k.at(set), m_cos.at(set), m_sin.at(set), static_cast<const int64_t*>(m_positions.at(set)),
                          m_shape.rows, m_shape.qHeads, m_shape.kvHeads, m_shape.headDim, m_shape.qHeads * m_shape.headDim,
                          m_shape.kvHeads * m_shape.headDim, m_shape.dtype, stream, &options);
    }

private:
    static constexpr int kSlack = 64;
    [[nodiscard]] size_t bytes(int64_t heads) const {
        return static_cast<size_t>(m_shape.rows * heads * m_shape.headDim) * elementBytes(m_shape.dtype);
    }
    [[nodiscard]] size_t tableBytes() const { return static_cast<size_t>((m_shape.rows + kSlack) * m_shape.headDim) * 4; }

    Shape m_shape;
    int m_sets;
    Operand m_q, m_k, m_cos, m_sin, m_positions;
};

}  // namespace

double Shape::movedBytes() const {
    const double bytes = static_cast<double>(elementBytes(dtype)) * static_cast<double>(rows);
    switch (op) {
        case KS_RMS_NORM: return 2 * bytes * static_cast<double>(hidden);
        case KS_ADD_RMS_NORM: return 4 * bytes * static_cast<double>(hidden);
        case KS_SILU_MUL: return 3 * bytes * static_cast<double>(width);
        default: return 2 * bytes * static_cast<double>((qHeads + kvHeads) * headDim);
    }
}

std::unique_ptr<Workload> makeWorkload(const Shape& shape, int sets, cudaStream_t stream) {
    switch (shape.op) {
        case KS_RMS_NORM:
        case KS_ADD_RMS_NORM: return std::make_unique<NormWorkload>(shape, sets, stream);
        case KS_SILU_MUL: return std::make_unique<SiluMulWorkload>(shape, sets, stream);
        case KS_ROPE: return std::make_unique<RopeWorkload>(shape, sets, stream);
        default: throw std::runtime_error("no such operator");
    }
}

}  // namespace kernelscope::tune
