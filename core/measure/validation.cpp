#include "core/measure/validation.h"

#include <algorithm>
#include <array>
#include <limits>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/execution.h"
#include "core/measure/guarded_buffer.h"
#include "core/measure/judge.h"
#include "core/measure/memory_need.h"
#include "core/measure/references.h"
#include "core/measure/trials.h"
#include "core/model/counter_hash.h"

namespace kernelscope {
namespace {

constexpr std::array kCases{
    CaseInfo{"basic", false, true},          CaseInfo{"rounding_order", false, true}, CaseInfo{"zero_rows", false, false},
    CaseInfo{"row_stride", false, false},    CaseInfo{"in_place", false, false},      CaseInfo{"nonfinite", false, false},
    CaseInfo{"overflow", false, false},      CaseInfo{"base_offset", true, false},    CaseInfo{"last_stride", true, false},
    CaseInfo{"side_stream", true, false},    CaseInfo{"guard_zones", true, false},    CaseInfo{"huge_stride", true, false},
    CaseInfo{"graph", true, false},          CaseInfo{"input_unchanged", true, false},
};
// One fewer than a warp's worth of vectors, and one more than a block's.
constexpr std::array<std::int64_t, 2> kFewRows{7, 257};
// Beyond what 32 bits count, in elements.
constexpr std::int64_t kHugeStride = std::int64_t{1} << 31;

std::uint64_t textHash(std::string_view text) {
    std::uint64_t hash = 0;
    for (const char c : text) hash = mixBits(hash + static_cast<unsigned char>(c) + kGoldenStep);
    return hash;
}

}  // namespace

std::span<const CaseInfo> validationCases() { return kCases; }

const CaseInfo* findCase(std::string_view name) {
    const auto found = std::find_if(kCases.begin(), kCases.end(), [&](const CaseInfo& each) { return each.name == name; });
    return found == kCases.end() ? nullptr : &*found;
}

std::span<const std::int64_t> rowsOfFewShapes() { return kFewRows; }

const std::string& worseStatus(const std::string& a, const std::string& b) {
    for (const std::string_view status : {"wrong", "refused", "other_order", "skipped"}) {
        if (a == status) return a;
        if (b == status) return b;
    }
    return a;
}

class Validator::Impl {
public:
    Impl(const Operator& op, const OperatorShape& shape, at::ScalarType dtype, const Device& device, std::uint64_t seed, std::function<void()> beat)
        : m_op(op), m_shape(shape), m_dtype(dtype), m_device(device), m_seed(seed), m_beat(std::move(beat)), m_misfit(misfit(bytesToValidate(op, shape, dtype), device)) {}

    Result<CaseOutcome> run(const Variant& variant, std::string_view name) {
        if (!variant.supports(m_device.torch)) return skipped(fmt::format("{} does not run on this device", variant.name));
        if (m_misfit) return skipped(*m_misfit);
        const bool needsCuda = name == "side_stream" || name == "graph";
        if (needsCuda && !m_device.isCuda()) return skipped("needs CUDA: a CPU has neither streams nor graphs");
        if (variant.ownOutputs && name == "in_place") return skipped("makes results of its own, so they cannot be its inputs");
        try {
            if (name == "zero_rows") return zeroRows(variant);
            if (name == "huge_stride") return hugeStride(variant);
            References& references = referencesFor(name);
            if (m_device.isCuda() && name == "basic") {
                if (const Result<void> good = references.checkOracle(); !good) return good.error();
            }
            CaseOutcome worst;
            bool first = true;
            for (const Trial& trial : trialsOf(name)) {
                Result<CaseOutcome> outcome = check(variant, references, trial, name == "basic");
                if (!outcome) return outcome.error();
                if (first || worseStatus(outcome->status, worst.status) != worst.status) worst = std::move(*outcome);
                first = false;
            }
            return worst;
        } catch (const c10::OutOfMemoryError&) {
            return skipped("does not fit this device's memory");
        } catch (const std::bad_alloc&) {
            return skipped("does not fit this machine's memory");
        }
    }

private:
    void beat() const {
        if (m_beat) m_beat();
    }
    static CaseOutcome skipped(std::string why) { return {"skipped", std::move(why), std::nullopt, {}}; }
    static CaseOutcome wrong(std::string why) { return {"wrong", std::move(why), std::nullopt, {}}; }

    Operands inputsFor(std::string_view name) const {
        const std::uint64_t seed = mixBits(m_seed ^ textHash(m_op.name()) ^ textHash(name) ^ static_cast<std::uint64_t>(m_shape.hidden * 100'003 + m_shape.rows));
        Operands operands = m_op.example(m_shape, m_dtype, seed, contentOf(name));
        for (at::Tensor& input : operands.inputs) input = input.to(m_device.torch);
        return operands;
    }

    /// Shared by the variants of a case; each case has inputs of its own.
    References& referencesFor(std::string_view name) {
        if (!m_references || m_case != name) {
            m_references.reset();
            beat();
            m_references = std::make_unique<References>(m_op, inputsFor(name), m_shape.rows);
            m_case = name;
        }
        return *m_references;
    }

    struct Placed {
        std::vector<std::unique_ptr<GuardedBuffer>> inputs, outputs;
        Operands operands;
    };

    Placed place(const Variant& variant, const Operands& logical, const Trial& trial) const {
        Placed placed;
        placed.operands.eps = logical.eps;
        const std::vector<OperandInfo> infos = m_op.inputs();
        bool first = true;
        for (std::size_t i = 0; i < infos.size(); ++i) {
            Layout layout;
            if (infos[i].kind == OperandKind::rows && (first || !trial.firstInputOnly)) {
                layout = trial.rows;
                first = false;
            } else if (infos[i].kind == OperandKind::shared) {
                layout.offset = trial.sharedOffset;
            }
            beat();
            placed.inputs.push_back(std::make_unique<GuardedBuffer>(logical.inputs[i], layout));
            placed.operands.inputs.push_back(placed.inputs.back()->view());
        }
        if (variant.ownOutputs) return placed;
        for (std::size_t i = 0; i < m_op.outputs().size(); ++i) {
            const at::Tensor& like = logical.inputs[i];  // every operator's results have the shapes of its first inputs
            if (trial.aliased && !m_op.inPlace()) {
                placed.operands.outputs.push_back(placed.operands.inputs[i]);
                continue;
            }
            beat();
            const Layout layout = m_op.inPlace() ? (trial.firstInputOnly && i > 0 ? Layout{} : trial.rows) : trial.outputs;
            placed.outputs.push_back(std::make_unique<GuardedBuffer>(like.sizes(), like.options(), layout));
            placed.operands.outputs.push_back(placed.outputs.back()->view());
        }
        return placed;
    }

    /// Contents into the inputs and, where the operator works in place, into the buffers it works on.
    void fill(const Placed& placed, const Operands& logical) const {
        for (std::size_t i = 0; i < placed.inputs.size(); ++i) placed.inputs[i]->view().copy_(logical.inputs[i]);
        if (!m_op.inPlace()) return;
        for (std::size_t i = 0; i < placed.outputs.size(); ++i) placed.outputs[i]->view().copy_(logical.inputs[i]);
    }

    /// So that a call that does not wait for its inputs cannot be right by luck.
    static void spoil(const Placed& placed) {
        for (const auto& input : placed.inputs) {
            if (input->view().is_floating_point()) input->view().fill_(std::numeric_limits<double>::quiet_NaN());
        }
        for (const auto& output : placed.outputs) output->view().zero_();
    }

    Result<CaseOutcome> check(const Variant& variant, References& references, const Trial& trial, bool mapped = false) {
        const Operands& logical = references.operands();
        const Placed placed = place(variant, logical, trial);
        if (trial.execution != Execution::plain) spoil(placed);
        beat();
        Result<Executed> executed = Executed{};
        for (int call = 0; call < trial.calls; ++call) {
            executed = execute(variant, placed.operands, trial.execution, m_device, [&] { fill(placed, logical); });
            if (!executed) break;
        }
        if (!executed) {
            if (executed.error().code == ErrorCode::environment) return executed.error();
            if (executed.error().code == ErrorCode::wrong) return wrong(executed.error().message);
            return CaseOutcome{"refused", executed.error().message, std::nullopt, {}};
        }
        beat();
        if (const auto spill = spillOf(variant, placed, logical, trial)) return wrong(*spill);
        if (const auto misfit = misfitOf(executed->results, logical)) return wrong(*misfit);
        CaseOutcome outcome = judged(executed->results, references, mapped);
        if (outcome.status == "wrong" && !outcome.map) outcome = judged(executed->results, references, true);
        return outcome;
    }

    /// What it wrote where it must not, or left unwritten.
    std::optional<std::string> spillOf(const Variant& variant, const Placed& placed, const Operands& logical, const Trial& trial) const {
        const std::vector<OperandInfo> infos = m_op.inputs();
        const std::vector<std::string> names = m_op.outputs();
        for (std::size_t i = 0; i < placed.inputs.size(); ++i) {
            beat();
            if (const auto damage = placed.inputs[i]->damage()) return fmt::format("out of bounds: it wrote outside its input {}: {}", infos[i].name, *damage);
            const bool mayChange = trial.aliased && i < names.size();
            if (mayChange) continue;
            if (const auto where = placed.inputs[i]->changedSince(logical.inputs[i])) {
                return fmt::format("it wrote to its input {}, first at {}", infos[i].name, *where);
            }
        }
        for (std::size_t i = 0; i < placed.outputs.size(); ++i) {
            beat();
            if (const auto damage = placed.outputs[i]->damage()) return fmt::format("out of bounds: it wrote outside its result {}: {}", names[i], *damage);
            if (m_op.inPlace() || variant.ownOutputs || trial.execution != Execution::plain) continue;
            if (const auto left = placed.outputs[i]->unwritten(); left.count > 0) {
                return fmt::format("it left {} elements of {} unwritten, the first at {}", left.count, names[i], left.first);
            }
        }
        return std::nullopt;
    }

    std::optional<std::string> misfitOf(const Tensors& results, const Operands& logical) const {
        const std::vector<std::string> names = m_op.outputs();
        if (results.size() != names.size()) return fmt::format("it returned {} results, not {}", results.size(), names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const at::Tensor& like = logical.inputs[i];
            if (results[i].sizes() != like.sizes() || results[i].scalar_type() != like.scalar_type()) {
                return fmt::format("its result {} is {} of [{}], not {} of [{}]", names[i], at::toString(results[i].scalar_type()), fmt::join(results[i].sizes(), ", "),
                                   at::toString(like.scalar_type()), fmt::join(like.sizes(), ", "));
            }
        }
        return std::nullopt;
    }

    CaseOutcome judged(const Tensors& results, References& references, bool mapped) {
        std::vector<ErrorStats> stats(results.size());
        std::vector<ErrorMap> maps;
        for (std::size_t i = 0; mapped && i < results.size(); ++i) maps.emplace_back(results[i].size(0), results[i].numel() / std::max<std::int64_t>(1, results[i].size(0)));
        for (std::size_t index = 0; index < references.chunks(); ++index) {
            const auto chunk = references.chunk(index);
            beat();
            for (std::size_t i = 0; i < results.size(); ++i) {
                const at::Tensor part = results[i].narrow(0, chunk->firstRow, chunk->rows).contiguous();
                const std::int64_t width = part.numel() / std::max<std::int64_t>(1, chunk->rows);
                const Compared compared{part, chunk->native[i], chunk->other[i], chunk->exact.values[i], chunk->exact.magnitudes[i], chunk->firstRow * width};
                stats[i].add(compare(compared));
                if (mapped) maps[i].add(compared, chunk->firstRow, chunk->rows);
            }
        }
        CaseOutcome outcome;
        double worst = -1;
        for (std::size_t i = 0; i < results.size(); ++i) {
            const std::int64_t rows = results[i].size(0);
            const std::int64_t width = rows > 0 ? results[i].numel() / rows : 0;
            const Judgement judgement = judge(stats[i], m_dtype, rows);
            if (stats[i].maxAbs > worst) {
                worst = stats[i].maxAbs;
                outcome.worstIndex = stats[i].worst >= 0 ? placeText(stats[i].worst, width) : std::string();
            }
            if (worseStatus(judgement.status, outcome.status) != outcome.status) {
                outcome.status = judgement.status;
                outcome.reason = results.size() > 1 ? fmt::format("{}: {}", m_op.outputs()[i], judgement.reason) : judgement.reason;
                if (stats[i].firstDisagreement >= 0) outcome.reason += ", the first at " + placeText(stats[i].firstDisagreement, width);
            }
        }
        ErrorStats total = stats.front();
        for (std::size_t i = 1; i < stats.size(); ++i) total.add(stats[i]);
        outcome.stats = total;
        const auto worstMap = std::max_element(maps.begin(), maps.end(), [](const ErrorMap& a, const ErrorMap& b) { return a.worstUlp() < b.worstUlp(); });
        if (worstMap != maps.end()) {
            outcome.map = worstMap->row();
            outcome.map->output = m_op.outputs()[static_cast<std::size_t>(worstMap - maps.begin())];
        }
        if (outcome.status == "wrong") explain(outcome, results.front(), references.operands());
        return outcome;
    }

    /// Two mistakes that deserve to be called by name.
    void explain(CaseOutcome& outcome, const at::Tensor& result, const Operands& logical) const {
        if (!(result != 0).any().item<bool>()) {
            outcome.reason = "every element is 0; " + outcome.reason;
            return;
        }
        const std::vector<OperandInfo> infos = m_op.inputs();
        for (std::size_t i = 0; i < infos.size(); ++i) {
            if (infos[i].kind == OperandKind::rows && logical.inputs[i].sizes() == result.sizes() && at::equal(result, logical.inputs[i])) {
                outcome.reason = fmt::format("the result is a copy of the input {}; {}", infos[i].name, outcome.reason);
                return;
            }
        }
    }

    /// None of the rows of buffers that hold some, then one row: a launch that failed silently surfaces there.
    Result<CaseOutcome> zeroRows(const Variant& variant) {
        const Operands logical = inputsFor("zero_rows");
        const Placed placed = place(variant, logical, {});
        const auto rowsOf = [&](std::int64_t rows) {
            Operands some = References::slice(m_op, placed.operands, 0, rows);
            for (const at::Tensor& output : placed.operands.outputs) some.outputs.push_back(output.narrow(0, 0, rows));
            return some;
        };
        if (m_op.inPlace()) fill(placed, logical);
        const Operands none = rowsOf(0);
        Result<Executed> executed = execute(variant, none, Execution::plain, m_device, [] {});
        if (!executed) return failedOrRefused(executed.error());
        for (const at::Tensor& result : executed->results) {
            if (result.numel() != 0) return wrong(fmt::format("no rows in, {} elements out", result.numel()));
        }
        for (std::size_t i = 0; i < placed.inputs.size(); ++i) {
            if (const auto where = placed.inputs[i]->changedSince(logical.inputs[i])) return wrong("with no rows to work on, it wrote to its input at " + *where);
        }
        for (std::size_t i = 0; i < placed.outputs.size(); ++i) {
            if (const auto damage = placed.outputs[i]->damage()) return wrong("with no rows to work on, it wrote " + *damage);
            const bool touched = m_op.inPlace() ? placed.outputs[i]->changedSince(logical.inputs[i]).has_value()
                                                : placed.outputs[i]->unwritten().count != placed.outputs[i]->view().numel();
            if (touched) return wrong("with no rows to work on, it wrote to its result");
        }
        executed = execute(variant, rowsOf(std::min<std::int64_t>(1, m_shape.rows)), Execution::plain, m_device, [] {});
        if (!executed && executed.error().code == ErrorCode::usage) return failedOrRefused(executed.error());  // a shape that it does not serve
        if (!executed) return wrong("after a call without rows the next call failed: " + executed.error().message);
        return CaseOutcome{};
    }

    static Result<CaseOutcome> failedOrRefused(const Error& error) {
        if (error.code == ErrorCode::environment) return error;
        return CaseOutcome{"refused", error.message, std::nullopt, {}};
    }

    Result<CaseOutcome> hugeStride(const Variant& variant) {
        const Operands all = inputsFor("huge_stride");
        CaseOutcome worst;
        const auto tried = [&](std::int64_t rows, const Trial& trial) -> Result<void> {
            References references(m_op, References::slice(m_op, all, 0, rows), rows);
            Result<CaseOutcome> outcome = check(variant, references, trial);
            if (!outcome) return outcome.error();
            if (!worst.stats || worseStatus(outcome->status, worst.status) != worst.status) worst = std::move(*outcome);
            return {};
        };
        // One row whose stride no 32-bit number holds takes no memory.
        Trial one{{0, 0, 1, kHugeStride}, {0, 0, 1, kHugeStride}};
        if (const Result<void> done = tried(std::min<std::int64_t>(1, m_shape.rows), one); !done) return done.error();
        if (worst.status == "wrong" || m_shape.rows < 2) return worst;
        // Two rows that far apart take all that lies between, of which a CPU needs only the pages that are touched.
        const double bytes = static_cast<double>(kHugeStride) * static_cast<double>(c10::elementSize(m_dtype)) * (m_op.inPlace() ? 2 : 1);
        const Result<std::int64_t> free = m_device.isCuda() ? freeBytes(m_device) : Result<std::int64_t>(std::int64_t{1} << 50);
        std::string left;
        if (!free || static_cast<double>(*free) < 1.25 * bytes) {
            left = "only one row was tried: two of them that far apart do not fit this device's memory";
        } else {
            try {
                Trial input{{0, 0, 1, kHugeStride + 48}, {}};
                input.firstInputOnly = true;
                if (const Result<void> done = tried(2, input); !done) return done.error();
                if (!m_op.inPlace() && !variant.ownOutputs && m_op.outputs().size() == 1) {
                    if (const Result<void> done = tried(2, Trial{{}, {0, 0, 1, kHugeStride + 48}}); !done) return done.error();
                }
            } catch (const c10::Error&) {
                left = "only one row was tried: memory for two of them that far apart was refused";
            }
        }
        if (worst.reason.empty()) worst.reason = left;
        return worst;
    }

    const Operator& m_op;
    OperatorShape m_shape;
    at::ScalarType m_dtype;
    const Device& m_device;
    std::uint64_t m_seed;
    std::function<void()> m_beat;
    std::optional<std::string> m_misfit;
    std::string m_case;
    std::unique_ptr<References> m_references;
};

Validator::Validator(const Operator& op, const OperatorShape& shape, at::ScalarType dtype, const Device& device, std::uint64_t seed, std::function<void()> beat)
    : m_impl(std::make_unique<Impl>(op, shape, dtype, device, seed, std::move(beat))) {}
Validator::~Validator() = default;

Result<CaseOutcome> Validator::run(const Variant& variant, std::string_view caseName) { return m_impl->run(variant, caseName); }

}  // namespace kernelscope
