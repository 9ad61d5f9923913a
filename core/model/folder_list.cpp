#include "core/model/folder_list.h"

#include <algorithm>
#include <system_error>

#include "core/model/files.h"
#include "core/records/user_folders.h"
#include "core/records/utf8.h"

namespace kernelscope {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMostFolders = 2000;  // more is no list to choose from

bool holdsModel(const fs::path& folder) {
    std::error_code error;
    return fs::is_regular_file(folder / "config.json", error) &&
           (fs::is_regular_file(folder / "model.safetensors", error) || fs::is_regular_file(folder / "model.safetensors.index.json", error));
}

fs::path home() {
    const fs::path folder = homeFolder();
    return folder.empty() ? fs::path("/") : folder;
}

}  // namespace

Result<json> listFolders(const std::string& path) {
    std::error_code error;
    const fs::path folder = fs::absolute(path.empty() ? home() : fromUtf8(path), error).lexically_normal();
    const auto refused = [&](const std::string& why) {
        return makeError(ErrorCode::badInput, "The folder " + toUtf8(folder) + " cannot be listed: " + why, "Choose another; paths are those of the engine's machine.");
    };
    if (!fs::is_directory(folder, error)) return refused(error == std::errc::no_such_file_or_directory ? "it does not exist" : error ? error.message() : "it is no folder");
    fs::directory_iterator at(folder, fs::directory_options::none, error);
    if (error) return refused(error.message());
    std::vector<std::string> names;
    for (const fs::directory_iterator end; at != end; at.increment(error)) {
        std::error_code ignored;
        std::string name = at->path().filename().string();
        // A name that is no text cannot travel, nor be typed.
        if (at->is_directory(ignored) && validPrefix(name) == name.size()) names.push_back(std::move(name));
    }
    if (error) return refused(error.message());
    const auto order = [](const std::string& name) { return std::pair(name.starts_with('.'), std::string_view(name)); };
    std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) { return order(a) < order(b); });
    const std::size_t listed = std::min(names.size(), kMostFolders);
    json folders = json::array();
    for (std::size_t i = 0; i < listed; ++i) folders.push_back({{"name", names[i]}, {"model", holdsModel(folder / names[i])}});
    const fs::path parent = folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
    return json{{"path", toUtf8(folder)}, {"parent", folder == folder.root_path() ? std::string() : toUtf8(parent)}, {"model", holdsModel(folder)},
                {"folders", std::move(folders)}, {"left_out", names.size() - listed}};
}

}  // namespace kernelscope
