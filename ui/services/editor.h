#pragma once

#include <QString>
#include <QStringList>

namespace kernelscope::ui {

/// The command that opens `file` at `line` (0: anywhere) with the editor that `visual` names ($VISUAL, words as a shell has them): each editor has
/// its own way to say the line. Empty: `visual` names none, or one that needs a terminal and there is none to start.
QStringList editorCommand(const QString& visual, const QString& file, int line, const QString& terminal = {});

/// Opens it with $VISUAL, else with what the desktop opens such files with. False where neither works.
bool openInEditor(const QString& file, int line = 0);

}  // namespace kernelscope::ui
