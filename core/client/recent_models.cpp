#include "core/client/recent_models.h"

#include <algorithm>

#include "core/client/session.h"

namespace kernelscope {

namespace fs = std::filesystem;

std::string optionIn(const std::string& command, const std::string& option) {
    const auto words = parseEngineCommand(command);  // the same splitting
    if (!words) return {};
    for (std::size_t i = 0; i < words->argv.size(); ++i) {
        if (words->argv[i] == option && i + 1 < words->argv.size()) return words->argv[i + 1];
        if (words->argv[i].starts_with(option + "=")) return words->argv[i].substr(option.size() + 1);
    }
    return {};
}

std::vector<std::string> recentModelFolders(const Store& store, std::size_t most) {
    std::vector<std::string> folders;
    const auto runs = store.runs();
    if (!runs) return folders;
    for (const RunSummary& run : *runs) {
        if (folders.size() == most) break;
        if (run.header.weights != "file") continue;
        const std::string model = optionIn(run.header.command, "--model");
        std::error_code none;
        if (model.empty() || !fs::is_regular_file(fs::path(model) / "config.json", none)) continue;
        std::string folder = fs::absolute(model, none).lexically_normal().string();
        while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
        if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
    }
    return folders;
}

}  // namespace kernelscope
