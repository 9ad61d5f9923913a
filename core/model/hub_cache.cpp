#include "core/model/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/model/config.h"
#include "core/model/files.h"
#include "core/records/user_folders.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

fs::path home() {
    const std::string home = environment("HOME");
    return home.empty() ? homeFolder() : fromUtf8(home);
}

/// A path from the environment; "~/" in front is the home folder, as the hub's own tools read it.
fs::path expanded(const std::string& text) {
    if (text == "~") return home();
    if (text.rfind("~/", 0) == 0) return home() / fromUtf8(text.substr(2));
    return fromUtf8(text);
}

bool isPlainName(const std::string& text) {
    return !text.empty() && text != "." && text != ".." && text.size() <= 96 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    });
}

Error broken(const fs::path& entry, const std::string& words) {
    return makeError(ErrorCode::badInput, fmt::format("the hub cache entry {} is broken: {}", toUtf8(entry), words),
                     "Fetch the model again, or give the folder that holds its config.json.");
}

}  // namespace

fs::path hubCacheFolder() {
    if (const std::string folder = environment("HF_HUB_CACHE"); !folder.empty()) return expanded(folder);
    if (const std::string folder = environment("HF_HOME"); !folder.empty()) return expanded(folder) / "hub";
    const std::string cache = environment("XDG_CACHE_HOME");
    return (cache.empty() ? home() / ".cache" : expanded(cache)) / "huggingface" / "hub";
}

bool isHubId(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return isPlainName(text);
    return isPlainName(text.substr(0, slash)) && isPlainName(text.substr(slash + 1));
}

std::string hubFolderName(const std::string& id) {
    std::string name = "models--" + id;
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
    return name;
}

Result<std::optional<fs::path>> findInHubCache(const std::string& id) {
    const fs::path entry = hubCacheFolder() / hubFolderName(id);
    std::error_code problem;
    if (!fs::is_directory(entry, problem)) return std::optional<fs::path>();

    if (fs::exists(entry / "refs" / "main", problem)) {
        Result<std::string> reference = readTextFile(entry / "refs" / "main", 4096);
        if (!reference) return reference.error();
        std::string commit = *reference;
        while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r' || commit.back() == ' ')) commit.pop_back();
        if (!isPlainName(commit)) return broken(entry, "refs/main does not name a snapshot");
        const fs::path snapshot = entry / "snapshots" / commit;
        if (!fs::is_directory(snapshot, problem)) return broken(entry, fmt::format("refs/main names the snapshot {}, which is not there", commit));
        return std::optional<fs::path>(snapshot);
    }

    std::vector<fs::path> snapshots;
    fs::directory_iterator entries(entry / "snapshots", problem);
    for (; !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
        std::error_code ignored;
        if (entries->is_directory(ignored)) snapshots.push_back(entries->path());
    }
    if (snapshots.size() == 1) return std::optional<fs::path>(snapshots.front());
    if (snapshots.empty()) return broken(entry, "it holds no snapshot");
    return broken(entry, fmt::format("it holds {} snapshots, and refs/main, which would choose one, is missing", snapshots.size()));
}

namespace {

CachedModel lookAt(const std::string& id) {
    CachedModel model{id, {}, 0, {}};
    const Result<std::optional<fs::path>> snapshot = findInHubCache(id);
    if (!snapshot || !*snapshot) {
        model.problem = snapshot ? "it holds no snapshot" : snapshot.error().message;
        return model;
    }
    model.folder = **snapshot;
    bool weights = false;
    std::error_code problem;
    for (fs::directory_iterator entries(model.folder, problem); !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
        std::error_code unknown;
        const std::uintmax_t size = fs::file_size(entries->path(), unknown);  // of what a link leads to
        if (unknown) continue;
        model.bytes += static_cast<std::int64_t>(size);
        weights = weights || entries->path().extension() == ".safetensors";
    }
    const Result<std::string> text = readTextFile(model.folder / "config.json");
    const Result<ModelConfig> config = text ? parseConfig(*text, id) : Result<ModelConfig>(text.error());
    if (!config) model.problem = config.error().message;
    else if (!weights) model.problem = "its safetensors weights are not in the cache";
    return model;
}

}  // namespace

std::vector<CachedModel> listHubCache() {
    constexpr std::string_view kBeginning = "models--";
    std::vector<CachedModel> models;
    std::error_code problem;
    for (fs::directory_iterator entries(hubCacheFolder(), problem); !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
        std::string id = toUtf8(entries->path().filename());
        if (!id.starts_with(kBeginning)) continue;
        id.erase(0, kBeginning.size());
        if (const std::size_t dashes = id.find("--"); dashes != std::string::npos) id.replace(dashes, 2, "/");
        if (isHubId(id)) models.push_back(lookAt(id));
    }
    std::sort(models.begin(), models.end(), [](const CachedModel& a, const CachedModel& b) { return a.id < b.id; });
    return models;
}

}  // namespace kernelscope
