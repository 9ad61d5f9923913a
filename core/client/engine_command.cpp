#include <algorithm>
#include <cstdlib>

#include "core/client/process.h"
#include "core/client/session.h"

namespace kernelscope {

namespace fs = std::filesystem;

Result<EngineCommand> parseEngineCommand(const std::string& text) {
    EngineCommand command;
    std::string word;
    bool inWord = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == '\'') {
            if (c == '\'') quote = 0;
            else word += c;
        } else if (c == '\\') {
            if (i + 1 == text.size())
                return makeError(ErrorCode::usage, "the engine command ends with a backslash", "quote it, or leave it out");
            const char next = text[++i];
            inWord = true;
            // Inside double quotes a backslash protects these alone; a protected newline disappears.
            if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`' && next != '\n') word += '\\';
            if (next != '\n') word += next;
        } else if (quote == '"') {
            if (c == '"') quote = 0;
            else word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            inWord = true;
        } else if (c == ' ' || c == '\t' || c == '\n') {
            if (inWord) command.argv.push_back(std::move(word));
            word.clear();
            inWord = false;
        } else {
            word += c;
            inWord = true;
        }
    }
    if (quote)
        return makeError(ErrorCode::usage, std::string("the engine command has a ") + quote + " that never closes", "add the closing quote");
    if (inWord) command.argv.push_back(std::move(word));
    if (command.argv.empty()) return makeError(ErrorCode::usage, "the engine command is empty", "for example: --engine \"ssh host kernelscope-engine\"");
    return command;
}

Result<EngineCommand> defaultEngineCommand() {
    if (const char* chosen = std::getenv("KERNELSCOPE_ENGINE"); chosen && *chosen) return parseEngineCommand(chosen);
    const fs::path here = executablePath().parent_path();
    for (const fs::path& candidate : {here / "kernelscope-engine", here / ".." / "libexec" / "kernelscope-engine",
                                      here / ".." / "libexec" / "kernelscope" / "kernelscope-engine"})
        if (isExecutable(candidate)) return EngineCommand{{candidate.lexically_normal().string()}};
    return makeError(ErrorCode::environment, "there is no kernelscope-engine in " + here.string() + " or ../libexec beside it",
                     "install the engine there, or say how to start one: --engine \"COMMAND\" or KERNELSCOPE_ENGINE");
}

std::chrono::milliseconds helloDeadlineFor(const EngineCommand& command) {
    const auto isEngine = [](const std::string& word) { return fs::path(word).filename().string().starts_with("kernelscope-engine"); };
    // "ssh" and "docker" are looked up in PATH; a program named by its path is one of this machine.
    const bool local = !command.argv.empty() && command.argv.front().find('/') != std::string::npos;
    const bool named = std::any_of(command.argv.begin(), command.argv.end(), isEngine);
    if (local && !named) return std::chrono::seconds(10);
    // 3 GB of libraries from a cold disk at 20 MB/s; one that fails says so at once.
    return local ? std::chrono::seconds(180) : std::chrono::seconds(60);
}

}  // namespace kernelscope
