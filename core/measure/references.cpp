#include "core/measure/references.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace kernelscope {
namespace {

// On a CPU a chunk's float64 temporaries should stay in its caches; on a GPU they only have to fit beside the operands.
constexpr std::int64_t kElementsOfChunkCpu = 1 << 18, kElementsOfChunkCuda = 1 << 23;
// 16 bytes an element and more: half a gigabyte, which spares the next variants the same work.
constexpr std::int64_t kMostElementsKept = 24LL << 20;
// CPU and GPU add a row up in different orders and have their own exp: float64 leaves ten digits to agree in.
constexpr double kOracleTolerance = 1e-10;

std::int64_t elementsOfRow(const Operands& operands, std::int64_t rows) {
    std::int64_t most = 1;
    for (const at::Tensor& input : operands.inputs) {
        if (input.dim() > 1 && input.size(0) == rows) most = std::max(most, input.numel() / std::max<std::int64_t>(1, rows));
    }
    return most;
}

void makeContiguous(Tensors& tensors) {
    for (at::Tensor& tensor : tensors) {
        if (tensor.defined()) tensor = tensor.contiguous();
    }
}

}  // namespace

References::References(const Operator& op, Operands operands, std::int64_t rows) : m_op(op), m_operands(std::move(operands)), m_rows(rows) {
    const std::int64_t width = elementsOfRow(m_operands, rows);
    const std::int64_t chunk = m_operands.inputs.front().is_cuda() ? kElementsOfChunkCuda : kElementsOfChunkCpu;
    m_rowsOfChunk = std::clamp<std::int64_t>(chunk / width, 1, std::max<std::int64_t>(1, rows));
    m_keep = rows * width <= kMostElementsKept;
    m_kept.resize(chunks());
}

std::size_t References::chunks() const { return static_cast<std::size_t>((m_rows + m_rowsOfChunk - 1) / m_rowsOfChunk); }

Operands References::slice(const Operator& op, const Operands& operands, std::int64_t first, std::int64_t rows) {
    Operands part;
    part.eps = operands.eps;
    const std::vector<OperandInfo> infos = op.inputs();
    for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
        const at::Tensor& input = operands.inputs[i];
        part.inputs.push_back(infos[i].kind == OperandKind::shared ? input : input.narrow(0, first, rows));
    }
    return part;
}

std::shared_ptr<const References::Chunk> References::make(std::int64_t first, std::int64_t rows) const {
    const Operands part = slice(m_op, m_operands, first, rows);
    auto chunk = std::make_shared<Chunk>();
    chunk->firstRow = first;
    chunk->rows = rows;
    chunk->native = m_op.native(part);
    chunk->other = m_op.otherOrder(part);
    chunk->exact = m_op.exact(part);
    makeContiguous(chunk->native);
    makeContiguous(chunk->other);
    makeContiguous(chunk->exact.values);
    makeContiguous(chunk->exact.magnitudes);
    return chunk;
}

std::shared_ptr<const References::Chunk> References::chunk(std::size_t index) {
    if (m_kept[index]) return m_kept[index];
    const std::int64_t first = static_cast<std::int64_t>(index) * m_rowsOfChunk;
    auto chunk = make(first, std::min(m_rowsOfChunk, m_rows - first));
    if (m_keep) m_kept[index] = chunk;
    return chunk;
}

Result<void> References::checkOracle() {
    if (m_rows == 0) return {};
    for (const std::int64_t row : {std::int64_t{0}, m_rows / 2, m_rows - 1}) {
        const Operands part = slice(m_op, m_operands, row, 1);
        Operands onCpu;
        onCpu.eps = part.eps;
        for (const at::Tensor& input : part.inputs) onCpu.inputs.push_back(input.cpu());
        const Exact here = m_op.exact(part), there = m_op.exact(onCpu);
        for (std::size_t i = 0; i < here.values.size(); ++i) {
            const at::Tensor a = here.values[i].cpu(), b = there.values[i];
            const at::Tensor size = there.magnitudes[i].defined() ? at::maximum(there.magnitudes[i], b.abs()) : b.abs();
            const at::Tensor apart = ((a - b).abs() > kOracleTolerance * size).logical_and(at::isfinite(b));
            if (apart.any().item<bool>()) {
                return makeError(ErrorCode::environment, fmt::format("{}: the float64 oracle of the GPU differs from that of the CPU in row {}", m_op.name(), row));
            }
        }
    }
    return {};
}

}  // namespace kernelscope
