#include "core/ops/patch.h"

#include <algorithm>

#include <fmt/format.h>

namespace kernelscope {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string variantNames(const Operator& op, at::Device device) {
    std::string names;
    for (const Variant& each : op.variants()) {
        if (each.supports(device)) names += (names.empty() ? "" : ", ") + each.name;
    }
    return names;
}

}  // namespace

LaunchCounts::LaunchCounts(const std::vector<PatchChoice>& choices) {
    for (const PatchChoice& choice : choices) m_counts.emplace(choice.text(), std::make_shared<std::atomic<std::int64_t>>(0));
}

std::int64_t LaunchCounts::of(std::string_view op, std::string_view variant) const {
    const auto found = m_counts.find(fmt::format("{}={}", op, variant));
    return found == m_counts.end() ? 0 : found->second->load();
}

std::map<std::string, std::int64_t> LaunchCounts::all() const {
    std::map<std::string, std::int64_t> counts;
    for (const auto& [name, count] : m_counts) counts.emplace(name, count->load());
    return counts;
}

void LaunchCounts::reset() {
    for (const auto& [name, count] : m_counts) count->store(0);
}

LaunchCounter LaunchCounts::counter(const PatchChoice& choice) const {
    return [count = m_counts.at(choice.text())] { count->fetch_add(1, std::memory_order_relaxed); };
}

Result<std::vector<PatchChoice>> parsePatch(std::string_view text) {
    std::vector<PatchChoice> choices;
    if (trimmed(text).empty()) return choices;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string_view part = trimmed(text.substr(at, comma - at));
        at = comma + 1;
        const std::size_t equals = part.find('=');
        PatchChoice choice;
        if (equals != std::string_view::npos) choice = {std::string(trimmed(part.substr(0, equals))), std::string(trimmed(part.substr(equals + 1)))};
        if (choice.op.empty() || choice.variant.empty()) {
            return makeError(ErrorCode::usage, fmt::format("'{}' in the patch is not op=variant", part), "Write it like rms_norm=fused,silu_mul=fused.");
        }
        const bool twice = std::any_of(choices.begin(), choices.end(), [&](const PatchChoice& each) { return each.op == choice.op; });
        if (twice) return makeError(ErrorCode::usage, fmt::format("The patch names {} twice", choice.op));
        choices.push_back(std::move(choice));
    }
    return choices;
}

std::string patchText(const std::vector<PatchChoice>& choices) {
    std::string text;
    for (const PatchChoice& choice : choices) text += (text.empty() ? "" : ",") + choice.text();
    return text;
}

Result<Patch> makePatchTable(const std::vector<PatchChoice>& choices, const OperatorTable& operators, at::Device device) {
    Patch patch;
    patch.table = nativePatchTable();
    patch.choices = choices;
    patch.counts = std::make_shared<LaunchCounts>(choices);
    for (const PatchChoice& choice : choices) {
        const Operator* op = operators.find(choice.op);
        if (!op) {
            return makeError(ErrorCode::usage, fmt::format("There is no operator called '{}'", choice.op), fmt::format("Known: {}.", operators.names()));
        }
        const Variant* variant = op->find(choice.variant);
        if (!variant) {
            return makeError(ErrorCode::usage, fmt::format("{} has no variant called '{}'", choice.op, choice.variant),
                             fmt::format("Known on this device: {}.", variantNames(*op, device)));
        }
        if (!variant->supports(device)) {
            return makeError(ErrorCode::environment, fmt::format("{} does not run on {}", choice.text(), device.is_cuda() ? "a CUDA device" : "a CPU"),
                             fmt::format("Variants that do: {}.", variantNames(*op, device)));
        }
        op->patch(patch.table, *variant, patch.counts->counter(choice));
    }
    return patch;
}

Result<Patch> makePatchTable(std::string_view text, const OperatorTable& operators, at::Device device) {
    const Result<std::vector<PatchChoice>> choices = parsePatch(text);
    if (!choices) return choices.error();
    return makePatchTable(*choices, operators, device);
}

}  // namespace kernelscope
