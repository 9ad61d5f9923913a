#include "core/records/kernel_fault.h"

#include <string_view>

#include "core/records/protocol.h"

namespace kernelscope {

nlohmann::json progressWithKernel(const Progress& progress, const std::string& kernel) {
    nlohmann::json object = toJson(progress);
    if (!kernel.empty()) object["kernel"] = kernel;
    return object;
}

std::string kernelOf(const nlohmann::json& progress) {
    const auto found = progress.is_object() ? progress.find("kernel") : progress.end();
    return progress.is_object() && found != progress.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string validateCommand(const std::string& kernel, const nlohmann::json& settings) {
    std::string command = "kernelscope-cli validate";
    if (const auto file = settings.is_object() ? settings.find("kernel") : settings.end(); file != settings.end() && file->is_string() && !file->get_ref<const std::string&>().empty()) {
        const std::string path = file->get<std::string>();
        std::string name = path.substr(path.find_last_of('/') + 1);
        name = name.substr(0, name.find_last_of('.'));
        // Among the patch's own, or alone: "op=name" up to a comma or the end.
        if ((kernel + ",").find("=" + name + ",") != std::string::npos) return command + " --kernel " + (path.find(' ') == std::string::npos ? path : "'" + path + "'");
    }
    const std::string first = kernel.substr(0, kernel.find(','));
    const std::size_t equals = first.find('=');
    if (equals == std::string::npos) return command;
    return command + " --op " + first.substr(0, equals) + " --variant " + first.substr(equals + 1);
}

Error kernelFault(const std::string& kernel, const std::string& how, const std::string& words, const nlohmann::json& settings) {
    return makeError(ErrorCode::cantTell, kernel + " " + how + " at this model's shapes" + (words.empty() ? "" : " (" + words + ")"),
                     "what was measured until then is kept; `" + validateCommand(kernel, settings) + "` says at which shape and in which case");
}

}  // namespace kernelscope
