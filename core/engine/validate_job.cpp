// The validate job: every variant at every shape, type and case, a row each, the moment it is known.

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/engine/job.h"
#include "core/engine/job_kernel.h"
#include "core/engine/kernel_selection.h"
#include "core/engine/model_setup.h"
#include "core/engine/settings.h"
#include "core/measure/validation.h"
#include "core/measure/validate_row.h"
#include "core/ops/test_variants.h"
#include "core/records/format.h"
#include "core/records/progress_clock.h"
#include "core/records/row_key.h"

namespace kernelscope {
namespace {

// Odd and not a multiple of a vector; the smallest and two larger models of the family, one of them with groups of 7.
constexpr std::array<std::int64_t, 4> kAwkwardHidden{769, 896, 3584, 5120};
const std::vector<std::int64_t> kDefaultRows{1, 2, 7, 33, 257, 4096};
// One kernel that is being worked on: an answer within seconds, from the model's size and an odd one.
constexpr std::int64_t kOddHidden = 769;
const std::vector<std::int64_t> kRowsOfOne{1, 7, 33, 257};

struct Cell {
    const Operator* op;
    const Variant* variant;
    at::ScalarType dtype;
    std::int64_t hidden, rows;
    const CaseInfo* info;

    [[nodiscard]] ValidateRow row() const {
        ValidateRow row;
        row.op = op->name();
        row.variant = variant->name;
        row.dtype = dtypeName(dtype);
        row.hidden = hidden;
        row.rows = rows;
        row.caseName = info->name;
        return row;
    }
    [[nodiscard]] bool sharesValidatorWith(const Cell& other) const {
        return op == other.op && dtype == other.dtype && hidden == other.hidden && rows == other.rows;
    }
};

class ValidateJob final : public Job {
public:
    explicit ValidateJob(const JobRequest& request)
        : m_request(request), m_skip(request.skip.begin(), request.skip.end()), m_giveUp(request.giveUp.begin(), request.giveUp.end()),
          m_operators(builtinOperators()) {
        addTestVariants(m_operators);
    }

    Result<JobStarted> prepare(ModelHolder&) override {
        SettingsReader reader(m_request.settings);
        SelectionSettings selection = readSelection(reader, "float32,float16,bfloat16");
        const std::string cases = reader.choice("cases", "standard", {"standard", "adversarial", "all"});
        reader.number("deadline", 10, 0.001, 1e6);  // the client's
        const KernelSettings kernelSettings = readKernelSettings(reader);
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();
        Result<ModelSetup> setup = prepareModelFor(m_request, selection);
        if (!setup) return setup.error();
        m_setup = std::move(*setup);
        const Result<JobKernel> kernel = JobKernel::load(kernelSettings, m_setup->device);
        if (!kernel) return kernel.error();
        kernel->addTo(m_operators);
        // Asked about one kernel, the answer is about that one, unless more is asked for by name.
        if (kernel->given() && !wasGiven(m_request, "op")) (*complete)["op"] = selection.ops = kernel->operators();
        if (kernel->given() && !wasGiven(m_request, "variant")) (*complete)["variant"] = selection.variants = kernel->variant();

        if (selection.hidden.empty()) {
            selection.hidden.push_back(m_setup->config.hiddenSize);
            for (const std::int64_t size : kAwkwardHidden) {
                if (size != m_setup->config.hiddenSize && (!kernel->given() || size == kOddHidden)) selection.hidden.push_back(size);
            }
        }
        if (selection.rows.empty()) selection.rows = kernel->given() ? kRowsOfOne : kDefaultRows;
        if (const Result<void> sane = checkSizes(selection.hidden, selection.rows); !sane) return sane.error();
        const Result<std::vector<at::ScalarType>> dtypes = parseDtypes(selection.dtypes);
        if (!dtypes) return dtypes.error();
        const Result<std::vector<SelectedOperator>> selected = selectVariants(selection, m_operators, m_setup->device.torch);
        if (!selected) return selected.error();
        m_cells = cellsOf(*selected, *dtypes, selection, cases);

        JobStarted started = describe(*m_setup);
        started.settings = std::move(*complete);
        started.settings["hidden"] = selection.hidden;
        started.settings["rows"] = selection.rows;
        started.dtype = selection.dtypes;
        kernel->describe(started);
        return started;
    }

    Finished run(JobContext& context) override {
        const c10::InferenceMode inference;
        if (const Result<void> active = activate(m_setup->device); !active) return failed(active.error());
        std::unique_ptr<Validator> validator;
        const Cell* last = nullptr;
        ProgressClock clock;
        const auto total = static_cast<std::int64_t>(m_cells.size());
        std::int64_t done = 0;
        for (const Cell& cell : m_cells) {
            if (context.stop.stop_requested()) return cancelled();
            ValidateRow row = cell.row();
            std::optional<ErrorMapRow> map;
            const std::string key = rowKey(row);
            if (m_skip.contains(key)) {
                ++done;
                continue;
            }
            // Before each cell, not now and then: the client has to know whom to blame.
            const auto announce = [&] { context.progress({fmt::format("Validating {}", row.op), done, total, clock.secondsLeft(done, total), key}); };
            announce();
            m_announce = announce;
            if (m_giveUp.contains(keyPrefix(key, 2))) {
                row.status = "skipped";
                row.reason = "this variant crashed or hung three times in a row";
            } else {
                if (!last || !cell.sharesValidatorWith(*last)) {
                    validator.reset();
                    validator = std::make_unique<Validator>(*cell.op, shapeFor(cell.hidden, cell.rows), cell.dtype, m_setup->device, seed(),
                                                            [this] { if (m_beat.due()) m_announce(); });
                }
                last = &cell;
                Result<CaseOutcome> outcome = tried(*validator, cell, key);
                if (!outcome) return failed(outcome.error());
                describeOutcome(*outcome, row);
                map = errorMapOf(*outcome, row);
            }
            ++m_counts[row.status];
            context.row(key, row);
            if (map) context.row(rowKey(*map), *map);
            ++done;
        }
        return finished(done);
    }

private:
    static std::vector<Cell> cellsOf(const std::vector<SelectedOperator>& selected, const std::vector<at::ScalarType>& dtypes, const SelectionSettings& selection,
                                     const std::string& cases) {
        const std::set<std::int64_t> everyShape(selection.rows.begin(), selection.rows.end());
        const std::set<std::int64_t> few(rowsOfFewShapes().begin(), rowsOfFewShapes().end());
        std::set<std::int64_t> rowCounts = everyShape;
        rowCounts.insert(few.begin(), few.end());
        std::vector<Cell> cells;
        for (const SelectedOperator& op : selected) {
            for (const at::ScalarType dtype : dtypes) {
                for (const std::int64_t hidden : std::set<std::int64_t>(selection.hidden.begin(), selection.hidden.end())) {
                    for (const std::int64_t rows : rowCounts) {
                        for (const CaseInfo& info : validationCases()) {
                            const bool asked = cases == "all" || info.adversarial == (cases == "adversarial");
                            const bool here = info.everyShape ? everyShape.contains(rows) : few.contains(rows);
                            if (!asked || !here) continue;
                            for (const Variant* variant : op.variants) cells.push_back({op.op, variant, dtype, hidden, rows, &info});
                        }
                    }
                }
            }
        }
        return cells;
    }

    Result<CaseOutcome> tried(Validator& validator, const Cell& cell, const std::string& key) const {
        try {
            Result<CaseOutcome> outcome = validator.run(*cell.variant, cell.info->name);
            if (!outcome) leaveIfFaulted(m_setup->device, key, outcome.error().message);
            return outcome;
        } catch (const c10::Error& error) {
            leaveIfFaulted(m_setup->device, key, error.what_without_backtrace());
            throw;
        }
    }

    [[nodiscard]] std::uint64_t seed() const { return static_cast<std::uint64_t>(m_request.seed); }

    Finished finished(std::int64_t done) const {
        Finished finished;
        std::vector<std::string> parts;
        for (const auto& [status, count] : m_counts) {
            finished.result["counts"][status] = count;
            parts.push_back(fmt::format("{} {}", formatCount(count), status == "other_order" ? "in another order" : status));
        }
        finished.headline = fmt::format("{} checks: {}", formatCount(done), fmt::join(parts, ", "));
        return finished;
    }

    JobRequest m_request;
    std::set<std::string> m_skip, m_giveUp;
    OperatorTable m_operators;
    std::optional<ModelSetup> m_setup;
    std::vector<Cell> m_cells;
    std::map<std::string, std::int64_t> m_counts;
    std::function<void()> m_announce;  ///< says again which cell is being worked on
    ProgressClock m_beat;
};

}  // namespace

std::unique_ptr<Job> makeValidateJob(const JobRequest& request) { return std::make_unique<ValidateJob>(request); }

}  // namespace kernelscope
