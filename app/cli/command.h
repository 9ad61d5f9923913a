#pragma once
// What a command of the program is. Each lives in a file of its own and is named once, in commands.cpp.

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/client/session.h"
#include "core/client/store.h"
#include "core/records/protocol.h"
#include "core/records/result.h"

namespace kernelscope::cli {

/// Options that every command takes.
struct CommonOptions {
    std::string model = "qwen2.5-0.5b";
    std::string device = "auto";
    std::string dtype = "auto";
    std::int64_t seed = 0;
    std::string store, csv, json, engine;
    bool quiet = false;
    bool noProgress = false;
    bool forceProgress = false;
    std::string commandLine;  ///< repeats this call: quoted as a shell needs it

    /// True when standard output belongs to a document.
    [[nodiscard]] bool documentOnOutput() const { return csv == "-" || json == "-"; }
};

class Command {
public:
    virtual ~Command() = default;
    [[nodiscard]] virtual std::string name() const = 0;
    [[nodiscard]] virtual std::string summary() const = 0;
    /// Adds the command's own options; the common ones are there already.
    virtual void define(CLI::App& app) = 0;
    /// Does it; returns the exit code.
    virtual int run(const CommonOptions& common) = 0;
};

std::vector<std::unique_ptr<Command>> makeCommands();

std::unique_ptr<Command> makeCompareCommand();
std::unique_ptr<Command> makeDoctorCommand();
std::unique_ptr<Command> makeEndToEndCommand();
std::unique_ptr<Command> makeContextCommand();
std::unique_ptr<Command> makeProfileCommand();
std::unique_ptr<Command> makeGenerateCommand();
std::unique_ptr<Command> makeInspectCommand();
std::unique_ptr<Command> makeKernelCommand();
std::unique_ptr<Command> makeRunsCommand();
std::unique_ptr<Command> makeSweepCommand();
std::unique_ptr<Command> makeTokenizeCommand();
std::unique_ptr<Command> makeTuneCommand();
std::unique_ptr<Command> makeValidateCommand();

// ---- what commands share

/// Says it on standard error, with the way out, and returns the exit code that the error stands for.
int report(const Error& error);
/// A message for people, on standard error.
void say(const CommonOptions& common, const std::string& line);
/// Writes to standard output.
void print(const std::string& text);

/// `--store`, else the default.
std::filesystem::path storePath(const CommonOptions& common);
/// For commands that only look: a store that does not exist is an empty one and stays that way.
Result<std::unique_ptr<Store>> openStoreToRead(const CommonOptions& common);
Result<EngineCommand> engineCommand(const CommonOptions& common);

/// Writes a document to a file or, for "-", to standard output. 0 or an exit code.
int writeDocument(const std::string& destination, const std::string& text);
/// Makes the folders of --csv and --json and sees that they can be written, before any work is done.
Result<void> prepareDocuments(const CommonOptions& common);

/// The header of a command that leaves no run, for its JSON document.
RunHeader headerWithoutRun(const CommonOptions& common, const std::string& kind);

/// The names of enum-like options, refused by name otherwise.
CLI::Option* addChoice(CLI::App& app, const std::string& name, std::string& target, const std::vector<std::string>& choices, const std::string& help);

}  // namespace kernelscope::cli
