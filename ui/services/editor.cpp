#include "ui/services/editor.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QUrl>

namespace kernelscope::ui {

QStringList editorCommand(const QString& visual, const QString& file, int line, const QString& terminal) {
    QStringList words = QProcess::splitCommand(visual);
    if (words.isEmpty()) return {};
    const QString name = QFileInfo(words.front()).fileName();
    const QString place = line > 0 ? QString("%1:%2").arg(file).arg(line) : file;
    static const QStringList kGoto{"code", "codium", "code-insiders", "cursor"};
    static const QStringList kColon{"subl", "zed", "zeditor", "hx", "helix", "micro"};
    static const QStringList kInTerminal{"vi", "vim", "nvim", "nano", "micro", "hx", "helix", "emacs-nox", "ne", "joe"};
    if (kGoto.contains(name)) words << "--goto" << place;
    else if (kColon.contains(name)) words << place;
    else if (name == "kate" || name == "kwrite") words << (line > 0 ? QStringList{"--line", QString::number(line)} : QStringList()) << file;
    else words << (line > 0 ? QStringList{QString("+%1").arg(line)} : QStringList()) << file;  // vi, emacs, nano, gedit and most others
    if (!kInTerminal.contains(name)) return words;
    return terminal.isEmpty() ? QStringList() : QStringList{terminal, "-e"} + words;
}

bool openInEditor(const QString& file, int line) {
    QStringList words = editorCommand(qEnvironmentVariable("VISUAL"), file, line, QStandardPaths::findExecutable("x-terminal-emulator"));
    if (!words.isEmpty()) {
        const QString program = words.takeFirst();
        if (QProcess::startDetached(program, words)) return true;
    }
    return QDesktopServices::openUrl(QUrl::fromLocalFile(file));
}

}  // namespace kernelscope::ui
