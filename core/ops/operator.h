#pragma once
// What an operator is: inputs for a shape and type, what the model itself runs, a float64 oracle, a model of the work, and
// its variants. One operator, one file; the list of them is in builtin_operators.cpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/ops/patch_table.h"
#include "core/records/result.h"
#include "kernelscope/builtin_kernels.h"

namespace kernelscope {

using Tensors = std::vector<at::Tensor>;

/// The sizes a call needs. `hidden` and `rows` are those of the command line; the rest follows from the model.
struct OperatorShape {
    std::int64_t hidden = 0;
    std::int64_t rows = 0;
    std::int64_t width = 0;  ///< of silu_mul
    std::int64_t heads = 0, kvHeads = 0, headDim = 0;  ///< of rope
};

/// Those of the Qwen2.5 model with that hidden size; where there is none, width 4 x hidden and heads of 64.
OperatorShape shapeFor(std::int64_t hidden, std::int64_t rows);

/// How an input follows the rows of a call.
enum class OperandKind {
    rows,    ///< [rows, ...]: any row stride
    perRow,  ///< [rows, ...], always as it was made
    shared,  ///< the same for every row
};
struct OperandInfo {
    std::string name;
    OperandKind kind;
};

/// What one call reads and writes. Variants that make their own results leave `outputs` alone.
struct Operands {
    Tensors inputs;
    Tensors outputs;
    double eps = 1e-6;
};

/// What the numbers of the inputs are like.
enum class Content {
    ordinary,   ///< bell-shaped around 0, weights of 0.5 to 1.5 with random mantissas
    overflow,   ///< squares overflow float16, and so do some products
    nonfinite,  ///< a NaN, an infinity of each sign, in rows of their own; the rest ordinary
};

/// The float64 answer. `magnitudes` is the size of the terms a result was added up from, where that can exceed the result;
/// undefined tensors mean |value|. An error is counted in units of the last place of the larger of both.
struct Exact {
    Tensors values;
    Tensors magnitudes;
};

struct Work {
    double bytes = 0;  ///< that have to move between memory and the device: every operand once
    double flops = 0;
};

struct Variant {
    std::string name;
    std::string description;
    bool onCpu = false;
    bool onCuda = false;
    bool roundsLikeNative = false;  ///< rounds where the native sequence does; what it says, validation measures it
    bool ownOutputs = false;        ///< makes its own results (native, aten); else it writes to Operands::outputs
    bool programmatic = false;      ///< may start before its predecessor has ended (CUDA, compute capability 9.0 and above)
    /// The call, on the current stream. Returns the results (Operands::outputs for variants that write there). Errors: usage, in
    /// words, when it refuses the operands; nothing has been enqueued then.
    std::function<Result<Tensors>(const Operands&)> run;

    [[nodiscard]] bool supports(at::Device device) const { return device.is_cuda() ? onCuda : onCpu; }
};

/// Called once for every launch of a patched operator.
using LaunchCounter = std::function<void()>;

/// A kernel that is no C function: it gets the arguments of the operator's C function in their order, without type (ks_dtype) and stream,
/// which follow. Errors: usage when it refuses the arguments, having enqueued nothing; environment when the driver does.
using KernelArgument = std::variant<const void*, std::int64_t, float>;
using KernelLaunch = std::function<Result<void>(std::span<const KernelArgument> arguments, int dtype, void* stream)>;

class Operator {
public:
    explicit Operator(std::string name) : m_name(std::move(name)) {}
    virtual ~Operator() = default;
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;

    [[nodiscard]] const std::string& name() const { return m_name; }

    [[nodiscard]] virtual std::vector<OperandInfo> inputs() const = 0;
    [[nodiscard]] virtual std::vector<std::string> outputs() const = 0;
    /// Contiguous inputs on the CPU, a function of the arguments alone; outputs stay empty.
    [[nodiscard]] virtual Operands example(const OperatorShape& shape, at::ScalarType dtype, std::uint64_t seed, Content content) const = 0;

    /// Exactly what the model runs.
    [[nodiscard]] virtual Tensors native(const Operands& operands) const = 0;
    /// The other plausible rounding order: as accurate, but another function. The same as native in float32.
    [[nodiscard]] virtual Tensors otherOrder(const Operands& operands) const = 0;
    [[nodiscard]] virtual Exact exact(const Operands& operands) const = 0;
    [[nodiscard]] virtual Work work(const OperatorShape& shape, at::ScalarType dtype) const = 0;

    /// Writes over its inputs: outputs are buffers that hold copies of the first inputs when a call begins.
    [[nodiscard]] virtual bool inPlace() const { return false; }
    /// Operands whose call reads what `results` hold, written to where the last call read: the chain of a sweep.
    [[nodiscard]] virtual Operands next(const Operands& last, const Tensors& results) const;

    [[nodiscard]] const std::vector<Variant>& variants() const { return m_variants; }
    [[nodiscard]] const Variant* find(std::string_view variant) const;
    void add(Variant variant) { m_variants.push_back(std::move(variant)); }
    /// Takes the place of the variant of the same name.
    void replace(Variant variant);

    /// A variant that calls a function of the C ABI, ours or a user's. Errors: usage when the function is another operator's.
    [[nodiscard]] virtual Result<Variant> fromKernel(const KernelEntry& entry) const = 0;
    /// `described` with a call of such a kernel.
    [[nodiscard]] virtual Variant fromLaunch(Variant described, KernelLaunch launch) const = 0;
    /// Makes the table call `variant`; null: the native sequence. `count` may be empty.
    virtual void patch(PatchTable& table, const Variant& variant, LaunchCounter count) const = 0;

private:
    std::string m_name;
    std::vector<Variant> m_variants;
};

/// The operators handed to a job.
class OperatorTable {
public:
    explicit OperatorTable(std::vector<std::unique_ptr<Operator>> operators) : m_operators(std::move(operators)) {}
    [[nodiscard]] const std::vector<std::unique_ptr<Operator>>& all() const { return m_operators; }
    [[nodiscard]] const Operator* find(std::string_view name) const;
    [[nodiscard]] Operator* find(std::string_view name);
    /// "rms_norm, add_rms_norm, ...": for messages.
    [[nodiscard]] std::string names() const;

private:
    std::vector<std::unique_ptr<Operator>> m_operators;
};

/// Every operator there is, with its variants. Adding one: its file, and its line in builtin_operators.cpp.
OperatorTable builtinOperators();

std::unique_ptr<Operator> makeRmsNorm(const KernelTable& kernels);
std::unique_ptr<Operator> makeAddRmsNorm(const KernelTable& kernels);
std::unique_ptr<Operator> makeSiluMul(const KernelTable& kernels);
std::unique_ptr<Operator> makeRope(const KernelTable& kernels);

}  // namespace kernelscope
