#include "app/cli/program.h"

#include <algorithm>
#include <new>
#include <sstream>
#include <system_error>

#include "app/cli/command.h"
#include "app/cli/number_option.h"
#include "app/cli/terminal.h"
#include "core/records/nearest.h"
#include "core/records/version.h"

namespace kernelscope::cli {

namespace {

constexpr const char* kName = "kernelscope-cli";
constexpr int kUsage = static_cast<int>(ErrorCode::usage);

void addCommonOptions(CLI::App& app, CommonOptions& common) {
    const std::string group = "Common options";
    app.add_option("--model", common.model, "A preset (qwen2.5-tiny, qwen2.5-0.5b ... 72b), a model folder, or a hub id in the local cache")->capture_default_str()->type_name("M")->group(group);
    app.add_option("--device", common.device, "auto, cpu, cuda or cuda:N")->capture_default_str()->type_name("D")->group(group);
    addChoice(app, "--dtype", common.dtype, {"auto", "float16", "bfloat16", "float32"}, "Type of weights and arithmetic")->group(group);
    app.add_option("--seed", common.seed, "Seed of random weights, prompts and sampling")
        ->transform(wholeNumber())
        ->capture_default_str()->type_name("N")->group(group);
    app.add_option("--store", common.store, "The file that keeps the runs")->type_name("FILE")->group(group);
    app.add_option("--csv", common.csv, "Write CSV; - is standard output")->type_name("FILE")->group(group);
    app.add_option("--json", common.json, "Write JSON; - is standard output")->type_name("FILE")->group(group);
    app.add_option("--engine", common.engine, "How to start the engine, such as \"ssh host kernelscope-engine\"; no shell is run")
        ->check([](const std::string& text) { return text.find_first_not_of(' ') == std::string::npos ? std::string("is empty: name a command, or leave it out") : std::string(); })
        ->type_name("COMMAND")
        ->group(group);
    app.add_flag("--quiet", common.quiet, "Only errors")->group(group);
    app.add_flag("--no-progress", common.noProgress, "No progress line")->group(group);
    app.add_flag("--progress", common.forceProgress, "Progress even where standard error is no terminal")->group(group);
}

/// Every option that may stand where `app` is, for suggestions.
std::vector<std::string> optionNames(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app; app = app->get_parent())
        for (const CLI::Option* option : app->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

const CLI::App* deepestParsed(const CLI::App* app) {
    for (const auto used = app->get_subcommands(); !used.empty();) return deepestParsed(used.front());
    return app;
}

int usageError(const std::string& message, const std::string& advice) { return report(makeError(ErrorCode::usage, message, advice)); }

std::string helpFor(const CLI::App* app) {
    std::string path;
    for (; app && app->get_parent(); app = app->get_parent()) path = " " + app->get_name() + path;
    return std::string(kName) + path + " --help shows what there is";
}

/// What CLI11 could not parse, in our words and with the word that was probably meant.
int explain(const CLI::App& app, const CLI::ParseError& problem, const std::vector<std::string>& arguments) {
    const CLI::App* at = deepestParsed(&app);
    // A word where a command should stand: CLI11 only says that a command is missing.
    if (at->get_require_subcommand_min() > 0) {
        std::vector<std::string> commands;
        for (const CLI::App* command : at->get_subcommands(static_cast<std::function<bool(const CLI::App*)>>([](const CLI::App*) { return true; }))) commands.push_back(command->get_name());
        const std::size_t depth = at == &app ? 0 : 1;
        if (arguments.size() > depth && !arguments[depth].empty() && arguments[depth].front() != '-') {
            const auto near = nearest(arguments[depth], commands);
            return usageError("there is no command '" + arguments[depth] + "'" + (depth ? " of " + at->get_name() : ""), near.empty() ? helpFor(at) : "did you mean " + near.front() + "?");
        }
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&problem)) {
        const auto extras = app.remaining(true);
        for (const std::string& extra : extras) {
            if (extra.size() < 2 || extra.front() != '-') continue;
            const std::string word = extra.substr(0, extra.find('='));
            const auto near = nearest(word, optionNames(at));
            return usageError("there is no option " + word, near.empty() ? helpFor(at) : "did you mean " + near.front() + "?");
        }
        if (!extras.empty()) return usageError("'" + extras.front() + "' is one word too many", helpFor(at));
    }
    // "--rows: 1 required LIST missing", for a shell's variable that is empty or a value that was forgotten.
    const std::string words = problem.what();
    const auto name = words.find(": ");
    if (words.ends_with(" missing") && name != std::string::npos) return usageError(words.substr(0, name) + " needs a value", helpFor(at));
    return usageError(words, helpFor(at));
}

}  // namespace

std::string quotedCommand(const std::vector<std::string>& words) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%";
    std::string command;
    for (const std::string& word : words) {
        if (!command.empty()) command += ' ';
        if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
            command += word;
            continue;
        }
        command += '\'';
        for (const char c : word) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
        command += '\'';
    }
    return command;
}

namespace {

int runCommand(const std::vector<std::string>& arguments) {
    CommonOptions common;
    std::vector<std::string> words{kName};
    words.insert(words.end(), arguments.begin(), arguments.end());
    common.commandLine = quotedCommand(words);

    CLI::App app("Kernelscope: where an LLM's inference time goes, and what a faster kernel buys", kName);
    app.set_version_flag("--version", std::string("kernelscope-cli ") + kVersion, "The version, in one line");
    app.require_subcommand(1);
    app.get_formatter()->column_width(32);
    app.footer("To begin: kernelscope-cli doctor, then kernelscope-cli profile. Options of a command: kernelscope-cli COMMAND --help");
    const auto commands = makeCommands();
    for (const auto& command : commands) {
        CLI::App* sub = app.add_subcommand(command->name(), command->summary());
        sub->get_formatter()->column_width(36);
        command->define(*sub);
        addCommonOptions(*sub, common);
        for (CLI::App* inner : sub->get_subcommands([](CLI::App*) { return true; }))
            inner->footer("Common options, such as --store, go here too: " + std::string(kName) + " " + command->name() + " --help lists them");
    }
    try {
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 takes them
        app.parse(std::move(reversed));
    } catch (const CLI::Success& wanted) {
        std::ostringstream text;  // help and version
        const int code = app.exit(wanted, text, text);
        print(text.str());
        return code;
    } catch (const CLI::ParseError& problem) {
        return explain(app, problem, arguments);
    }
    if (common.csv == "-" && common.json == "-")
        return usageError("--csv - and --json - cannot share standard output", "write one of them to a file");
    for (const auto& command : commands)
        if (app.got_subcommand(command->name())) return command->run(common);
    return kUsage;
}

}  // namespace

int runProgram(const std::vector<std::string>& arguments) {
    int code = 0;
    try {
        code = runCommand(arguments);
    } catch (const std::bad_alloc&) {
        code = report(makeError(ErrorCode::environment, "there is not enough memory for this", "close what else uses it, or raise the limit (ulimit -v)"));
    } catch (const std::system_error& problem) {  // a pipe or a thread that the system does not give
        code = report(makeError(ErrorCode::environment, std::string("the system refuses to go on: ") + problem.what(), "raise the limits of this shell (ulimit -a shows them)"));
    }
    const auto failure = outputFailure();
    return failure ? worse(code, report(*failure)) : code;
}

}  // namespace kernelscope::cli
