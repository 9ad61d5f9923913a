#include "core/model/weight_files.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/model/files.h"
#include "core/model/json_text.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kFetchAgain = "Fetch the index again; it belongs to the shards beside it.";

/// A link counts even when it leads nowhere: opening it then says so, which beats "there are no weights".
bool present(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

Error noWeights(const fs::path& folder) {
    std::error_code problem;
    std::string advice = fmt::format("Fetch {}, or {} and the shards it names.", kSingle, kIndex);
    for (fs::directory_iterator entry(folder, problem); !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
        const fs::path extension = entry->path().extension();
        if (extension == ".bin" || extension == ".pt" || extension == ".pth") {
            advice += fmt::format(" {} is in PyTorch's own form, which is not read; convert it to safetensors.", toUtf8(entry->path().filename()));
            break;
        }
        if (extension == ".gguf" || extension == ".safetensors") {
            advice += extension == ".gguf" ? " GGUF files are not read." : fmt::format(" {} is there, but without an index.", toUtf8(entry->path().filename()));
            break;
        }
    }
    return makeError(ErrorCode::badInput, fmt::format("{} holds no weights: neither {} nor {} is there", toUtf8(folder), kSingle, kIndex), advice);
}

/// A name with a path in it could reach any file of this machine.
bool isPlainFileName(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos;
}

}  // namespace

Result<WeightFiles> findWeightFiles(const fs::path& folder) {
    WeightFiles found;
    if (present(folder / kSingle)) {
        found.files.emplace_back(kSingle);
        return found;
    }
    if (!present(folder / kIndex)) return noWeights(folder);

    const Result<std::string> text = readTextFile(folder / kIndex);
    if (!text) return text.error();
    return parseWeightIndex(*text);
}

Result<WeightFiles> parseWeightIndex(std::string_view text) {
    WeightFiles found;
    const Result<nlohmann::json> index = parseJsonObject(text, kIndex);
    if (!index) return index.error();
    const auto map = index->find("weight_map");
    if (map == index->end() || !map->is_object()) {
        return makeError(ErrorCode::badInput, fmt::format("{}: weight_map is {}", kIndex, map == index->end() ? "missing" : kindOf(*map)), kFetchAgain);
    }
    for (const auto& [tensor, shard] : map->items()) {
        if (!shard.is_string() || !isPlainFileName(shard.get_ref<const std::string&>())) {
            return makeError(ErrorCode::badInput,
                             fmt::format("{}: the shard of {} is {}; only the plain name of a file in the same folder is taken", kIndex, shown(tensor), shown(shard)),
                             kFetchAgain);
        }
        found.shardOf.emplace(tensor, shard.get<std::string>());
    }
    for (const auto& [tensor, shard] : found.shardOf) found.files.push_back(shard);
    std::sort(found.files.begin(), found.files.end());
    found.files.erase(std::unique(found.files.begin(), found.files.end()), found.files.end());
    if (found.files.empty()) return makeError(ErrorCode::badInput, fmt::format("{}: weight_map is empty", kIndex), kFetchAgain);
    return found;
}

}  // namespace kernelscope
