#include "app/cli/command.h"

#include <cstdio>

#include <fmt/core.h>

#include "app/cli/progress_line.h"
#include "app/cli/terminal.h"
#include "core/client/file.h"

namespace kernelscope::cli {

namespace fs = std::filesystem;

int report(const Error& error) {
    ProgressLine::clear();
    std::string text = "kernelscope-cli: " + error.message + "\n";
    if (!error.advice.empty()) text += "  " + error.advice + "\n";
    std::fputs(text.c_str(), stderr);
    return static_cast<int>(error.code);
}

void say(const CommonOptions& common, const std::string& line) {
    if (common.quiet) return;
    ProgressLine::clear();
    std::fputs((line + "\n").c_str(), stderr);
}

void print(const std::string& text) {
    if (outputIsTerminal()) ProgressLine::clear();
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

fs::path storePath(const CommonOptions& common) { return common.store.empty() ? Store::defaultPath() : fs::path(common.store); }

Result<std::unique_ptr<Store>> openStoreToRead(const CommonOptions& common) {
    std::error_code error;
    const fs::path file = storePath(common);
    return fs::exists(file, error) ? Store::open(file) : Store::open(":memory:");
}

Result<EngineCommand> engineCommand(const CommonOptions& common) {
    return common.engine.empty() ? defaultEngineCommand() : parseEngineCommand(common.engine);
}

int writeDocument(const std::string& destination, const std::string& text) {
    if (destination.empty()) return 0;
    if (destination == "-") {
        std::clearerr(stdout);
        print(text);
        if (std::ferror(stdout)) return report(makeError(ErrorCode::environment, "cannot write to standard output"));
        return 0;
    }
    const auto written = writeFileAtomically(destination, text);
    return written ? 0 : report(written.error());
}

Result<void> prepareDocuments(const CommonOptions& common) {
    for (const std::string& destination : {common.csv, common.json})
        if (!destination.empty() && destination != "-")
            if (auto ready = prepareToWrite(destination); !ready) return ready;
    return {};
}

RunHeader headerWithoutRun(const CommonOptions& common, const std::string& kind) {
    RunHeader header;
    header.kind = kind;
    header.when = timeStamp();
    header.command = common.commandLine;
    header.seed = common.seed;
    header.status = RunStatus::done;
    return header;
}

CLI::Option* addChoice(CLI::App& app, const std::string& name, std::string& target, const std::vector<std::string>& choices, const std::string& help) {
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "" : "|") + choice;
    const auto check = [choices, list](std::string& value) {
        for (const std::string& choice : choices)
            if (value == choice) return std::string();
        return "takes one of " + list + ", not '" + value + "'";  // CLI11 puts the option's name before it
    };
    return app.add_option(name, target, help)->check(CLI::Validator(check, ""))->capture_default_str()->type_name(list);
}

}  // namespace kernelscope::cli
