#include "app/cli/command.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/core.h>

#include "app/cli/progress_line.h"
#include "app/cli/terminal.h"
#include "core/client/file.h"
#include "core/records/utf8.h"

namespace kernelscope::cli {

namespace fs = std::filesystem;

namespace {
/// errno of the first write to standard output that failed; tokens are printed from the session's thread too.
std::atomic<int> outputError{0};
}  // namespace

int worse(int a, int b) {
    for (const int code : {130, 64, 65, 4, 2, 3, 1})
        if (a == code || b == code) return code;
    return 0;
}

int report(const Error& error) {
    ProgressLine::clear();
    std::string text = "kernelscope-cli: " + terminalMessage(error.message) + "\n";
    if (!error.advice.empty()) text += "  " + terminalMessage(error.advice) + "\n";
    std::fputs(text.c_str(), stderr);
    return static_cast<int>(error.code);
}

void say(const CommonOptions& common, const std::string& line) {
    if (common.quiet) return;
    ProgressLine::clear();
    std::fputs((terminalMessage(line) + "\n").c_str(), stderr);
}

void print(const std::string& text) {
    const bool terminal = outputIsTerminal();
    if (terminal) ProgressLine::clear();
    const std::string shown = terminal ? terminalText(text) : text;  // a file gets every byte
    errno = 0;
    const bool whole = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
    if (std::fflush(stdout) == 0 && whole) return;
    int none = 0;
    outputError.compare_exchange_strong(none, errno ? errno : EIO);
    std::clearerr(stdout);
}

std::optional<Error> outputFailure() {
    const int error = outputError;
    if (error == 0 || error == EPIPE) return std::nullopt;
    return makeError(ErrorCode::environment, "cannot write to standard output: " + std::system_category().message(error),
                     error == ENOSPC ? "free some space, or send it elsewhere" : error == EBADF ? "it is closed; send it to a file, or use --quiet" : "send it elsewhere");
}

fs::path storePath(const CommonOptions& common) { return common.store.empty() ? Store::defaultPath() : fs::path(common.store); }

Result<std::unique_ptr<Store>> openStoreToRead(const CommonOptions& common) {
    std::error_code error;
    const fs::path file = storePath(common);
    if (fs::status(file, error).type() != fs::file_type::not_found) return Store::openToRead(file);
    // Nothing is there; could something be? The nearest folder that exists must take a file.
    const fs::path whole = fs::absolute(file, error);
    fs::path folder = whole.parent_path();
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    const auto possible = fs::is_directory(folder, error) ? tryFolder(folder) : makeError(ErrorCode::environment, folder.string() + " is no folder");
    if (!possible)
        return makeError(ErrorCode::environment, "there is no store " + file.string() + ", and none can be made: " + possible.error().message, "name another with --store FILE");
    return Store::open(":memory:");
}

Result<EngineCommand> engineCommand(const CommonOptions& common) {
    return common.engine.empty() ? defaultEngineCommand() : parseEngineCommand(common.engine);
}

int writeDocument(const std::string& destination, const std::string& text) {
    if (destination.empty()) return 0;
    if (destination == "-") {
        print(text);  // what goes wrong there is the whole program's failure, said at its end
        return 0;
    }
    const auto written = writeFileAtomically(destination, text);
    return written ? 0 : report(written.error());
}

int writeRun(const std::string& destination, const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options) {
    if (destination.empty()) return 0;
    const auto written = destination == "-" ? streamRun(store, runId, format, options, [](std::string_view piece) -> Result<void> {
        print(std::string(piece));
        return {};
    }) : exportRunTo(destination, store, runId, format, options);
    return written ? 0 : report(written.error());
}

Result<void> prepareDocuments(const CommonOptions& common) {
    for (const std::string& destination : {common.csv, common.json})
        if (!destination.empty() && destination != "-")
            if (auto ready = prepareToWrite(destination); !ready) return ready;
    return {};
}

Result<ExportFormat> outputFormat(const std::string& named, const std::string& output, std::initializer_list<ExportFormat> allowed) {
    if (!named.empty()) return *exportFormatFromString(named);
    std::error_code error;
    const fs::path file(output);
    if (output == "-" || fs::is_directory(file, error) || !file.has_filename()) return ExportFormat::csv;
    const auto found = exportFormatOf(file);
    if (found)
        for (const ExportFormat format : allowed)
            if (format == *found) return format;
    if (!found && !file.has_extension()) return ExportFormat::csv;
    std::string endings;
    for (const ExportFormat format : allowed) endings += (endings.empty() ? "" : format == *(allowed.end() - 1) ? " or " : ", ") + std::string(fileExtension(format));
    return makeError(ErrorCode::usage, "the ending of " + output + " names no format" + (found ? " that this can be" : ""), "end it in " + endings + ", or give --format");
}

Result<void> mustBeUtf8(const std::string& what, const std::string& text) {
    const std::size_t valid = validPrefix(text);
    if (valid == text.size()) return {};
    return makeError(ErrorCode::usage, fmt::format("{} is not UTF-8 (byte {} of {})", what, valid + 1, text.size()), "convert it first, for example with iconv");
}

Result<void> mustBeUtf8(const nlohmann::json& request) {
    if (request.is_string()) {
        const auto& text = request.get_ref<const std::string&>();
        if (const auto valid = mustBeUtf8("'" + validUtf8(text.substr(0, 200)) + "'", text); valid) return {};
        else return makeError(ErrorCode::usage, valid.error().message + ", and the engine takes no other text", "rename the file or the folder, or make a link to it whose name is plain");
    }
    if (request.is_structured())
        for (const auto& part : request)
            if (const auto valid = mustBeUtf8(part); !valid) return valid.error();
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
