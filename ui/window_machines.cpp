// Engines on other machines: which there are, and their folders.

#include "ui/main_window.h"
#include "ui/model_line.h"
#include "ui/services/engine_adapter.h"
#include "ui/services/machines.h"
#include "ui/text.h"
#include "ui/widgets/engine_bar.h"
#include "ui/widgets/remote_folders.h"

namespace kernelscope::ui {

QString MainWindow::engineText() const { return m_options.engine.isEmpty() ? m_settings.engineCommand() : m_options.engine; }

void MainWindow::showMachines() { m_modelLine->setMachines(m_settings.machines(), engineText()); }

void MainWindow::askMachine() {
    const QString current = engineText();
    m_engineBar->open(isElsewhere(current) ? current : QString(), "ssh gpubox kernelscope-engine", "Engine of another machine");
}

void MainWindow::askRemoteFolder() {
    if (!m_services.engine) return;
    const QString key = "folders/models@" + engineText().toUtf8().toBase64(QByteArray::Base64UrlEncoding);  // of that machine
    auto* dialog = new RemoteFolders(*m_services.engine, machineName(engineText()), m_settings.text(key, {}), this);
    connect(dialog, &RemoteFolders::chosen, this, [this, key](const QString& folder) {
        m_settings.setText(key, folder.left(std::max<qsizetype>(1, folder.lastIndexOf('/'))));
        m_modelLine->setModel(folder);
    });
    dialog->open();
}

}  // namespace kernelscope::ui
