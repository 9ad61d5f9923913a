#pragma once
// What results are compared with: the native sequence, the other rounding order and the oracle, of the same inputs.

#include <memory>
#include <vector>

#include "core/ops/operator.h"
#include "core/records/result.h"

namespace kernelscope {

class References {
public:
    /// `operands` are contiguous, on the device.
    References(const Operator& op, Operands operands, std::int64_t rows);

    struct Chunk {
        std::int64_t firstRow = 0, rows = 0;
        Tensors native, other;  ///< contiguous, one for each output
        Exact exact;
    };
    [[nodiscard]] std::size_t chunks() const;
    /// Kept for the next variant where all of them together are small, else made anew.
    [[nodiscard]] std::shared_ptr<const Chunk> chunk(std::size_t index);

    [[nodiscard]] const Operands& operands() const { return m_operands; }

    /// The oracle of a few rows, made again on the CPU, against that of the device. Errors: environment.
    Result<void> checkOracle();

    /// The rows `first`.. of operands.
    static Operands slice(const Operator& op, const Operands& operands, std::int64_t first, std::int64_t rows);

private:
    [[nodiscard]] std::shared_ptr<const Chunk> make(std::int64_t first, std::int64_t rows) const;

    const Operator& m_op;
    Operands m_operands;
    std::int64_t m_rows, m_rowsOfChunk;
    bool m_keep = false;
    std::vector<std::shared_ptr<const Chunk>> m_kept;
};

}  // namespace kernelscope
