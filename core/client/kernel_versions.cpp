#include "core/client/kernel_versions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/records/format.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {
namespace {

// Worst first.
constexpr std::array<std::string_view, 7> kStates{"wrong", "crashed", "hung", "refused", "other_order", "noisy", "skipped"};
// Below this a difference is not worth a line, whatever the intervals say.
constexpr double kWorthSaying = 1.01;

struct Parts {
    std::string variant, cell, status, reason;
    KernelVersion::Cell figures;
};

std::optional<Parts> partsOf(const RowRecord& record) {
    if (record.type == RowSchema<ValidateRow>::kName) {
        const auto row = rowFrom<ValidateRow>(record.values);
        if (!row) return std::nullopt;
        return Parts{row->variant, fmt::format("{} {} {} x {} {}", row->op, row->dtype, row->rows, row->hidden, row->caseName), row->status, row->reason, {row->status, {}, {}, {}, {}, {}, {}}};
    }
    if (record.type == RowSchema<SweepRow>::kName) {
        const auto row = rowFrom<SweepRow>(record.values);
        if (!row) return std::nullopt;
        return Parts{row->variant, fmt::format("{} {} {} x {} {}", row->op, row->dtype, row->rows, row->hidden, row->cache), row->status, row->reason,
                     {row->status, row->deviceUs, row->deviceCiLowUs, row->deviceCiHighUs, row->speedup, row->speedupCiLow, row->speedupCiHigh}};
    }
    return std::nullopt;
}

std::size_t rank(const std::string& status) { return static_cast<std::size_t>(std::find(kStates.begin(), kStates.end(), status) - kStates.begin()); }
bool apart(const std::optional<double>& lowA, const std::optional<double>& highA, const std::optional<double>& lowB, const std::optional<double>& highB) {
    return !lowA || !highA || !lowB || !highB || *highA < *lowB || *highB < *lowA;
}

std::string cells(std::size_t count) { return fmt::format("{} cell{}", count, count == 1 ? "" : "s"); }

bool isBad(const std::string& status) { return status == "wrong" || status == "crashed" || status == "hung"; }

std::string someOf(const std::vector<std::string>& names) {
    std::string text = names.front();
    if (names.size() > 1) text += fmt::format(" and {} more", names.size() - 1);
    return text;
}

}  // namespace

KernelVersion versionOf(const RunHeader& header, const Finished& finished, std::span<const RowRecord> rows, const std::string& variant) {
    KernelVersion made;
    made.runId = header.id;
    if (const auto found = header.settings.find("kernel_version"); found != header.settings.end() && found->is_string()) made.version = found->get<std::string>();
    made.compiled = !header.id.empty();
    if (finished.status == RunStatus::cancelled) made.state = "cancelled";
    if (finished.status == RunStatus::failed) {
        const ErrorCode code = finished.error.code;
        made.state = made.compiled || (code != ErrorCode::badInput && code != ErrorCode::cantTell) ? "failed" : code == ErrorCode::badInput ? "not compiled" : "crashed";
        made.message = finished.error.message + (finished.error.advice.empty() ? "" : "\n" + finished.error.advice);
    }
    std::string worst;
    double logs = 0;
    int timed = 0;
    for (const RowRecord& record : rows) {
        const auto parts = partsOf(record);
        if (!parts || parts->variant != variant) continue;
        made.cells[parts->cell] = parts->figures;
        if (isBad(parts->status) && made.firstWrong.empty()) made.firstWrong = fmt::format("{}: {}{}{}", parts->cell, parts->status, parts->reason.empty() ? "" : ", ", parts->reason);
        if (worst.empty() || rank(parts->status) < rank(worst)) worst = parts->status;
        if (parts->figures.speedup && *parts->figures.speedup > 0) {
            logs += std::log(*parts->figures.speedup);
            ++timed;
        }
    }
    if (timed > 0) made.speedup = std::exp(logs / timed);
    if (made.state.empty()) made.state = worst == "ok" || worst == "noisy" || worst == "throttled" || worst == "skipped" ? "right" : worst;
    return made;
}

std::string versionWords(const KernelVersion& version) {
    if (!version.compiled) {
        if (version.state == "crashed") return "crashes when it is loaded";
        if (version.state == "cancelled") return "cancelled";
        if (version.state == "failed") return "cannot be tried: " + version.message.substr(0, version.message.find('\n'));
        return "does not compile";
    }
    if (version.state == "cancelled") return "compiles, cancelled";
    if (version.state == "failed") return "compiles, failed: " + version.message;
    std::size_t right = 0, judged = 0;
    for (const auto& [name, cell] : version.cells) {
        if (cell.status == "skipped") continue;
        ++judged;
        if (!isBad(cell.status)) ++right;
    }
    std::string text = fmt::format("compiles, right in {} of {} cells", right, judged);
    if (version.state == "other_order") text += " (as accurate, but rounds elsewhere)";
    if (version.speedup) text += fmt::format(", {} the baseline (geometric mean)", formatRatio(*version.speedup));
    return text;
}

std::vector<std::string> changesBetween(const KernelVersion& before, const KernelVersion& now) {
    std::vector<std::string> lines;
    if (before.compiled != now.compiled) lines.emplace_back(now.compiled ? "compiles again" : now.state == "not compiled" ? "does not compile any more" : versionWords(now));
    if (!now.compiled) return lines;
    std::vector<std::string> broken, mended, faster, slower;
    std::string most, least;
    double best = 0, worst = 0;
    std::size_t same = 0;
    for (const auto& [name, cell] : now.cells) {
        const auto found = before.cells.find(name);
        if (found == before.cells.end()) continue;
        const KernelVersion::Cell& old = found->second;
        if (isBad(cell.status) && !isBad(old.status)) broken.push_back(name);
        if (!isBad(cell.status) && isBad(old.status)) mended.push_back(name);
        if (!cell.deviceUs || !old.deviceUs || *cell.deviceUs <= 0 || *old.deviceUs <= 0) continue;
        const double ratio = *old.deviceUs / *cell.deviceUs;
        // Times of two runs differ by what the machine did meanwhile as well; what they were measured against says whether it was that.
        const bool differs = apart(cell.lowUs, cell.highUs, old.lowUs, old.highUs) && apart(cell.speedupLow, cell.speedupHigh, old.speedupLow, old.speedupHigh);
        if (differs && ratio > kWorthSaying) {
            faster.push_back(name);
            if (ratio > best) best = ratio, most = name;
        } else if (differs && 1 / ratio > kWorthSaying) {
            slower.push_back(name);
            if (1 / ratio > worst) worst = 1 / ratio, least = name;
        } else {
            ++same;
        }
    }
    if (!broken.empty()) lines.push_back("wrong now, right before: " + someOf(broken));
    if (!mended.empty()) lines.push_back("right now, wrong before: " + someOf(mended));
    const bool timed = before.speedup && now.speedup;
    const std::string both = timed ? fmt::format("{} the baseline, was {}", formatRatio(*now.speedup), formatRatio(*before.speedup)) : std::string();
    if (before.compiled && !now.version.empty() && now.version == before.version) {
        lines.push_back("unchanged: the same source" + (timed ? " (" + both + ": noise)" : ""));
        return lines;
    }
    if (faster.empty() && slower.empty()) {
        if (same > 0) lines.push_back(fmt::format("no faster and no slower: within noise in {}{}", cells(same), timed ? " (" + both + ")" : ""));
        return lines;
    }
    if (timed) lines.push_back(both);
    if (!faster.empty()) lines.push_back(fmt::format("faster in {}, most in {}: {}", cells(faster.size()), most, formatRatio(best)));
    if (!slower.empty()) lines.push_back(fmt::format("slower in {}, most in {}: takes {} as long", cells(slower.size()), least, formatRatio(worst)));
    if (same > 0) lines.push_back(fmt::format("within noise in {}", cells(same)));
    return lines;
}

bool VersionWatch::look(const std::string& version) {
    const bool twice = !version.empty() && version == m_seen;
    m_seen = version;
    if (!twice || version == m_current) return false;
    m_current = version;
    return true;
}

}  // namespace kernelscope
