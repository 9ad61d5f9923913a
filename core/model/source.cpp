// Where a model's name leads: a preset, a folder, or what the local hub cache holds.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/model/config.h"
#include "core/model/files.h"
#include "core/model/hub_cache.h"
#include "core/records/nearest.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> presetIds() {
    std::vector<std::string> ids;
    for (const Preset& preset : presets()) ids.emplace_back(preset.id);
    return ids;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

/// A folder without config.json: says what it holds instead, where that is something people mistake for a model.
Error notAModel(const fs::path& folder) {
    bool gguf = false, pickle = false, empty = true;
    std::vector<std::string> below;
    std::error_code problem;
    fs::directory_iterator entries(folder, problem);
    if (problem) {
        return makeError(ErrorCode::badInput, fmt::format("the folder {} cannot be opened: {}", toUtf8(folder), problem.message()),
                         "Check the permissions of the folder.");
    }
    for (; entries != fs::directory_iterator(); entries.increment(problem)) {
        if (problem) break;
        empty = false;
        const fs::path& path = entries->path();
        gguf |= path.extension() == ".gguf";
        pickle |= path.extension() == ".bin" || path.extension() == ".pt" || path.extension() == ".pth";
        if (fs::is_regular_file(path / "config.json", problem) && below.size() < 3) below.push_back(toUtf8(path));
    }
    std::string advice = "A model folder holds config.json and model.safetensors (or its shards with model.safetensors.index.json).";
    if (empty) advice = "The folder is empty. " + advice;
    if (gguf) advice += " GGUF files are not read; fetch the safetensors form of the model.";
    if (pickle) advice += " PyTorch .bin files are not read; convert the model to safetensors.";
    if (!below.empty()) advice += " Did you mean " + joined(below) + "?";
    return makeError(ErrorCode::badInput, fmt::format("{} is not a model folder: config.json is missing", toUtf8(folder)), advice);
}

Result<ModelSource> fromFolder(const std::string& argument, const fs::path& folder) {
    std::error_code problem;
    const fs::file_status config = fs::status(folder / "config.json", problem);
    if (config.type() == fs::file_type::not_found) return notAModel(folder);
    if (problem) {
        return makeError(ErrorCode::badInput, fmt::format("{} cannot be looked at: {}", toUtf8(folder / "config.json"), problem.message()),
                         "Check the permissions of the file and of the folders above it.");
    }
    return ModelSource{argument, nullptr, folder};
}

Error notFound(const std::string& argument) {
    std::string advice;
    const std::vector<std::string> ids = presetIds();
    if (const auto meant = nearest(argument, ids); !meant.empty()) advice = fmt::format("Did you mean the preset {}? ", meant.front());
    if (isHubId(argument) && argument.find('/') != std::string::npos) advice += fmt::format("`kernelscope-cli model get {}` fetches a model of that name from the hub. ", argument);
    advice += "Presets: " + joined(ids) + ".";
    return makeError(ErrorCode::badInput,
                     fmt::format("no model called '{}': it is neither a preset, nor a folder, nor in the hub cache {}", argument,
                                 toUtf8(hubCacheFolder())),
                     advice);
}

}  // namespace

Result<ModelSource> resolveModel(const std::string& argument) {
    if (argument.empty()) {
        return makeError(ErrorCode::badInput, "the model's name is empty", "Presets: " + joined(presetIds()) + ".");
    }
    if (argument.find('\0') != std::string::npos) {
        return makeError(ErrorCode::badInput, "the model's name holds a zero byte", "Presets: " + joined(presetIds()) + ".");
    }
    if (const Preset* preset = findPreset(argument)) return ModelSource{argument, preset, {}};

    std::error_code problem;
    const fs::path path = fromUtf8(argument);
    const fs::file_status status = fs::status(path, problem);
    if (fs::is_directory(status)) return fromFolder(argument, path);
    if (fs::exists(status)) {
        const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
        return makeError(ErrorCode::badInput, fmt::format("{} is a file; a model is a folder", argument),
                         fmt::format("Give the folder that holds config.json, perhaps {}.", toUtf8(parent)));
    }
    if (problem && status.type() != fs::file_type::not_found) {
        return makeError(ErrorCode::badInput, fmt::format("{} cannot be looked at: {}", argument, problem.message()),
                         "Check the path and the permissions of the folders above it.");
    }
    if (isHubId(argument)) {
        Result<std::optional<fs::path>> snapshot = findInHubCache(argument);
        if (!snapshot) return snapshot.error();
        if (*snapshot) return fromFolder(argument, **snapshot);
    }
    return notFound(argument);
}

}  // namespace kernelscope
