// The tune job: which configuration of our kernels is the quickest at each shape of the dispatch tables on this GPU. What it finds is kept in a
// file and in force in every later job on this GPU model.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "core/engine/job.h"
#include "core/engine/kernel_selection.h"
#include "core/engine/settings.h"
#include "core/measure/tune.h"
#include "core/ops/kernel_table.h"
#include "core/records/format.h"
#include "core/records/progress_clock.h"
#include "core/records/row_key.h"

namespace kernelscope {
namespace {

const std::vector<std::string> kOperators{"rms_norm", "add_rms_norm", "silu_mul", "rope"};

class TuneJob final : public Job {
public:
    explicit TuneJob(const JobRequest& request) : m_request(request) {}

    Result<JobStarted> prepare(ModelHolder&) override {
        SettingsReader reader(m_request.settings);
        const std::string ops = reader.text("op", "all");
        const std::vector<std::int64_t> hidden = reader.integers("hidden"), rows = reader.integers("rows");
        m_check = reader.flag("check", false);
        m_reset = reader.flag("reset", false);
        reader.number("deadline", 60, 0.001, 1e6);  // the client's
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();
        // What makes no sense anywhere is said before the GPU is looked for.
        if (m_request.dtype == "float32") {
            return makeError(ErrorCode::usage, "the tables serve 16-bit types: there is nothing to tune in float32", "Use --dtype bfloat16 or float16.");
        }
        m_dtype = m_request.dtype == "float16" ? "float16" : "bfloat16";  // one table serves both
        for (const std::string& op : ops == "all" ? kOperators : splitNames(ops)) {
            if (std::find(kOperators.begin(), kOperators.end(), op) == kOperators.end()) {
                return makeError(ErrorCode::usage, fmt::format("no operator '{}'", op), "There are rms_norm, add_rms_norm, silu_mul and rope.");
            }
            addCells(op, hidden, rows);
        }
        if (m_cells.empty()) {
            return makeError(ErrorCode::usage, "none of these shapes is in the dispatch tables",
                             "They have rows 1, 8, 64, 512, 2048, 8192, 32768 and hidden sizes 896, 1536, 2048, 3584, 5120, 8192 (for silu_mul the MLP "
                             "widths of those models: 4864, 8960, 11008, 18944, 13824, 29568).");
        }
        Result<Device> device = openDevice(m_request.device);
        if (!device) return device.error();
        if (!device->isCuda()) {
            return makeError(ErrorCode::environment, fmt::format("{} has nothing to tune: only the CUDA kernels have configurations to choose from", device->info.name),
                             "Choose a GPU: --device cuda.");
        }
        m_device = std::move(*device);
        if (const Result<void> active = activate(m_device); !active) return active.error();
        JobStarted started;
        started.environment = describeEnvironment(m_device);
        started.environment["kernel_table"] = useKernelTable(m_device);
        started.device = m_device.info.name;
        started.dtype = m_dtype;
        started.settings = std::move(*complete);
        return started;
    }

    Finished run(JobContext& context) override {
        if (const Result<void> active = activate(m_device); !active) return failed(active.error());
        if (m_reset) return reset();
        ProgressClock clock;
        const auto total = static_cast<std::int64_t>(m_cells.size());
        std::int64_t done = 0;
        for (const TuneCell& cell : m_cells) {
            context.progress({fmt::format("Tuning {}", cell.op), done, total, clock.secondsLeft(done, total), {}});
            const Result<std::vector<TuneRow>> rows = tuneCell(cell, m_check, m_device, context.stop);
            if (!rows) {
                (void)save();  // cancelled or broken off: what has been found is kept all the same
                return failed(rows.error());
            }
            for (const TuneRow& row : *rows) context.row(rowKey(row), row);
            keep(*rows);
            ++done;
        }
        const Result<void> saved = save();
        if (!saved) return failed(saved.error());
        Finished finished;
        finished.result["cells"] = done;
        finished.result["chosen"] = static_cast<std::int64_t>(m_chosen.size());
        if (!m_check) finished.result["table"] = kernelTablePath(m_device.info.name).string();
        finished.headline = m_check ? fmt::format("{} cells as the table chooses", formatCount(done))
                                    : fmt::format("{} cells: {} with a quicker configuration{}", formatCount(done), formatCount(static_cast<std::int64_t>(m_chosen.size())), gain());
        return finished;
    }

private:
    void addCells(const std::string& op, const std::vector<std::int64_t>& hidden, const std::vector<std::int64_t>& rows) {
        const auto asked = [](const std::vector<std::int64_t>& list, std::int64_t value) {
            return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
        };
        for (const TuneCell& cell : tuneCells(op, m_dtype)) {
            if (asked(hidden, cell.hidden) && asked(rows, cell.rows)) m_cells.push_back(cell);
        }
    }

    void keep(const std::vector<TuneRow>& rows) {
        const auto with = [&](const char* status) { return std::find_if(rows.begin(), rows.end(), [&](const TuneRow& row) { return row.status == status; }); };
        const auto chosen = with("chosen"), replaced = with("replaced");
        if (chosen == rows.end() || chosen->config == "general") return;
        m_chosen.push_back({chosen->op, chosen->launch, chosen->hidden, chosen->rows, chosen->config, chosen->trigger, chosen->prefetch, chosen->blocksPerSm});
        if (replaced != rows.end() && replaced->coldUs && chosen->coldUs) m_gains.push_back(std::log(*replaced->coldUs / *chosen->coldUs));
    }

    /// ", 1.03x in the geometric mean, cold"
    [[nodiscard]] std::string gain() const {
        if (m_gains.empty()) return {};
        const double mean = std::accumulate(m_gains.begin(), m_gains.end(), 0.0) / static_cast<double>(m_gains.size());
        return fmt::format(", {} in the geometric mean, cold", formatRatio(std::exp(mean)));
    }

    Finished reset() {
        const std::filesystem::path file = kernelTablePath(m_device.info.name);
        std::error_code problem;
        std::filesystem::remove(file, problem);
        if (problem) return failed(makeError(ErrorCode::environment, fmt::format("{} cannot be removed: {}", file.string(), problem.message())));
        (void)useKernelTable(m_device);
        Finished finished;
        finished.headline = "The built-in table is in force";
        return finished;
    }

    Result<void> save() {
        if (m_chosen.empty()) return {};
        const Result<void> written = writeKernelTable(kernelTablePath(m_device.info.name), m_device.info.name, m_chosen);
        if (written) (void)useKernelTable(m_device);
        return written;
    }

    JobRequest m_request;
    Device m_device;
    std::string m_dtype;
    bool m_check = false, m_reset = false;
    std::vector<TuneCell> m_cells;
    std::vector<KernelTableCell> m_chosen;
    std::vector<double> m_gains;  ///< logarithms of old over new cold time, of the cells that changed
};

}  // namespace

std::unique_ptr<Job> makeTuneJob(const JobRequest& request) { return std::make_unique<TuneJob>(request); }

}  // namespace kernelscope
