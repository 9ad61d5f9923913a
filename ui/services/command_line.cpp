#include "ui/services/command_line.h"

#include <algorithm>

namespace kernelscope::ui {
namespace {

std::string shellWord(const std::string& word) {
    const auto harmless = [](unsigned char c) {
        return std::isalnum(c) || std::string_view("-_./=,:+@%").find(char(c)) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), harmless)) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

}  // namespace

std::string commandLine(const JobRequest& request) {
    std::string text = "kernelscope-cli " + request.kind + " --model " + shellWord(request.model);
    if (request.device != "auto") text += (request.device.find(',') == std::string::npos ? " --device " : " --devices ") + shellWord(request.device);
    if (request.dtype != "auto") text += " --dtype " + shellWord(request.dtype);
    if (request.seed != 0) text += " --seed " + std::to_string(request.seed);
    for (const auto& [key, value] : request.settings.items()) {
        std::string option = key;
        std::replace(option.begin(), option.end(), '_', '-');
        if (value.is_boolean()) {
            if (value.get<bool>()) text += " --" + option;
        } else if (value.is_string()) {
            if (!value.get_ref<const std::string&>().empty()) text += " --" + option + " " + shellWord(value.get<std::string>());
        } else if (value.is_array()) {
            std::string list;
            for (const auto& entry : value) list += (list.empty() ? "" : ",") + (entry.is_string() ? entry.get<std::string>() : entry.dump());
            if (!list.empty()) text += " --" + option + " " + shellWord(list);
        } else if (!value.is_null()) {
            text += " --" + option + " " + shellWord(value.dump());
        }
    }
    return text;
}

}  // namespace kernelscope::ui
