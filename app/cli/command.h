#pragma once
// What a command of the program is. Each lives in a file of its own and is named once, in commands.cpp.

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/client/export.h"
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
std::unique_ptr<Command> makeModelCommand();
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
/// Writes to standard output. What does not arrive there is said once, at the program's end (outputFailure).
void print(const std::string& text);
/// Why something printed did not arrive; nothing when all did, or when the reader went away (`| head`).
std::optional<Error> outputFailure();
/// One exit code of several: the order in which the contract ranks them.
int worse(int a, int b);

/// `--store`, else the default.
std::filesystem::path storePath(const CommonOptions& common);
/// For commands that only look: a store that does not exist is an empty one and stays that way, one that cannot be
/// written is read. Errors: as Store::open, and a place where no store can ever be.
Result<std::unique_ptr<Store>> openStoreToRead(const CommonOptions& common);
Result<EngineCommand> engineCommand(const CommonOptions& common);

/// Writes a document to a file or, for "-", to standard output. 0 or an exit code.
int writeDocument(const std::string& destination, const std::string& text);
/// The document of a run to a file, or to standard output for "-", piece by piece.
int writeRun(const std::string& destination, const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options = {});
/// Makes the folders of --csv and --json and sees that they can be written, before any work is done.
Result<void> prepareDocuments(const CommonOptions& common);
/// The format that `output` is to have: `named` (--format) where given, else what the name says; csv for standard output, a
/// folder or a name without an ending. Errors: usage, naming the formats, for an ending that is none of `allowed`.
Result<ExportFormat> outputFormat(const std::string& named, const std::string& output, std::initializer_list<ExportFormat> allowed);
/// Text that came on the command line and is sent on. Errors: usage for what is not UTF-8, which a message cannot hold.
Result<void> mustBeUtf8(const std::string& what, const std::string& text);
/// The same for every text in what is sent to an engine: a path of other bytes would arrive as another path.
Result<void> mustBeUtf8(const nlohmann::json& request);

/// The header of a command that leaves no run, for its JSON document.
RunHeader headerWithoutRun(const CommonOptions& common, const std::string& kind);

/// The names of enum-like options, refused by name otherwise.
CLI::Option* addChoice(CLI::App& app, const std::string& name, std::string& target, const std::vector<std::string>& choices, const std::string& help);

}  // namespace kernelscope::cli
