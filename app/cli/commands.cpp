#include "app/cli/command.h"

namespace kernelscope::cli {

/// In the order in which help shows them.
std::vector<std::unique_ptr<Command>> makeCommands() {
    std::vector<std::unique_ptr<Command>> commands;
    commands.push_back(makeProfileCommand());
    commands.push_back(makeGenerateCommand());
    commands.push_back(makeCompareCommand());
    commands.push_back(makeRunsCommand());
    commands.push_back(makeInspectCommand());
    return commands;
}

}  // namespace kernelscope::cli
