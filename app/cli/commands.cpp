#include "app/cli/command.h"

namespace kernelscope::cli {

/// In the order in which help shows them.
std::vector<std::unique_ptr<Command>> makeCommands() {
    std::vector<std::unique_ptr<Command>> commands;
    for (const auto make : {makeProfileCommand, makeValidateCommand, makeSweepCommand, makeGenerateCommand, makeEndToEndCommand, makeContextCommand,
                            makeKernelCommand, makeTuneCommand, makeCompareCommand, makeRunsCommand, makeInspectCommand, makeModelCommand,
                            makeTokenizeCommand, makeDoctorCommand})
        commands.push_back(make());
    return commands;
}

}  // namespace kernelscope::cli
