#include "core/engine/kernel_selection.h"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/engine/protocol_stream.h"
#include "core/records/kernel_fault.h"

namespace kernelscope {
namespace {

// Beyond these a cell would take longer than anybody waits; a slip of the keyboard rather than a wish.
constexpr std::int64_t kMostHidden = 1 << 20, kMostRows = 1 << 24;

std::string variantNames(const std::vector<SelectedOperator>& selected) {
    std::vector<std::string> names;
    for (const SelectedOperator& each : selected) {
        for (const Variant& variant : each.op->variants()) {
            if (std::find(names.begin(), names.end(), variant.name) == names.end()) names.push_back(variant.name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<std::string> splitNames(const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        std::string name = text.substr(at, comma - at);
        name.erase(0, std::min(name.find_first_not_of(" \t"), name.size()));
        name.erase(name.find_last_not_of(" \t") + 1);
        if (!name.empty()) names.push_back(std::move(name));
        at = comma + 1;
    }
    return names;
}

bool wasGiven(const JobRequest& request, const char* key) { return request.settings.is_object() && request.settings.contains(key) && !request.settings[key].is_null(); }

SelectionSettings readSelection(SettingsReader& reader, const std::string& defaultDtypes) {
    SelectionSettings settings;
    settings.ops = reader.text("op", "all");
    settings.variants = reader.text("variant", "all");
    settings.hidden = reader.integers("hidden");
    settings.rows = reader.integers("rows");
    settings.dtypes = reader.text("dtypes", defaultDtypes);
    return settings;
}

Result<ModelSetup> prepareModelFor(const JobRequest& request, const SelectionSettings& settings) {
    JobRequest one = request;
    if (!settings.dtypes.empty()) one.dtype = "auto";
    return prepareModel(one);
}

Result<std::vector<at::ScalarType>> parseDtypes(const std::string& text) {
    std::vector<at::ScalarType> types;
    for (const std::string& name : splitNames(text)) {
        at::ScalarType type{};
        if (name == "float32") type = at::kFloat;
        else if (name == "float16") type = at::kHalf;
        else if (name == "bfloat16") type = at::kBFloat16;
        else return makeError(ErrorCode::usage, fmt::format("There is no type called '{}'", name), "Use float32, float16 or bfloat16.");
        if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
    }
    if (types.empty()) return makeError(ErrorCode::usage, "The list of types is empty", "Use float32, float16 or bfloat16.");
    return types;
}

Result<std::vector<SelectedOperator>> selectVariants(const SelectionSettings& settings, const OperatorTable& operators, at::Device device) {
    std::vector<SelectedOperator> selected;
    const std::vector<std::string> ops = splitNames(settings.ops);
    for (const std::string& name : ops) {
        if (name == "all" || operators.find(name)) continue;
        return makeError(ErrorCode::usage, fmt::format("There is no operator called '{}'", name), fmt::format("Known: {}, or all.", operators.names()));
    }
    const bool allOps = ops.empty() || std::find(ops.begin(), ops.end(), "all") != ops.end();
    for (const auto& op : operators.all()) {
        if (allOps || std::find(ops.begin(), ops.end(), op->name()) != ops.end()) selected.push_back({op.get(), {}});
    }

    const std::vector<std::string> names = splitNames(settings.variants);
    const bool allVariants = names.empty() || std::find(names.begin(), names.end(), "all") != names.end();
    std::set<std::string> found;
    for (SelectedOperator& each : selected) {
        for (const Variant& variant : each.op->variants()) {
            const bool named = std::find(names.begin(), names.end(), variant.name) != names.end();
            if (named || (allVariants && variant.supports(device))) each.variants.push_back(&variant);
            if (named) found.insert(variant.name);
        }
    }
    for (const std::string& name : names) {
        if (name == "all" || found.contains(name)) continue;
        return makeError(ErrorCode::usage, fmt::format("No operator asked for has a variant called '{}'", name), fmt::format("Known: {}, or all.", variantNames(selected)));
    }
    std::erase_if(selected, [](const SelectedOperator& each) { return each.variants.empty(); });
    return selected;
}

Result<void> checkSizes(const std::vector<std::int64_t>& hidden, const std::vector<std::int64_t>& rows) {
    for (const std::int64_t size : hidden) {
        if (size < 1 || size > kMostHidden) return makeError(ErrorCode::usage, fmt::format("A hidden size of {} is not from 1 to {}", size, kMostHidden));
    }
    for (const std::int64_t count : rows) {
        if (count < 1 || count > kMostRows) return makeError(ErrorCode::usage, fmt::format("{} rows are not from 1 to {}", count, kMostRows));
    }
    return {};
}

void leaveIfFaulted(const Device& device, const std::string& cell, const std::string& words) {
    if (synchronize(device)) return;
    std::cerr << cell << ": " << words << std::endl;
    leaveNow(kExitDeviceFault);
}

}  // namespace kernelscope
