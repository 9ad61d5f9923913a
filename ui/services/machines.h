#pragma once
// Other machines are other commands that start an engine; this is what the window calls them.

#include <QString>

namespace kernelscope::ui {

/// Does this command start its engine on another machine, or in a container? Its folders are then not ours.
bool isElsewhere(const QString& command);

/// "gpubox" for `ssh -p 2222 gpubox kernelscope-engine`, else the command's first words; "This machine" for none.
QString machineName(const QString& command);

}  // namespace kernelscope::ui
