#include "ui/pages/own_kernel_section.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/services/editor.h"
#include "ui/services/engine_adapter.h"
#include "ui/services/own_kernel.h"
#include "ui/services/run_library.h"
#include "ui/services/settings.h"
#include "ui/text.h"
#include "ui/widgets/own_kernel_card.h"

namespace kernelscope::ui {

OwnKernelSection::OwnKernelSection(Settings& settings, QWidget* parent)
    : QWidget(parent), m_settings(settings), m_kernel(new OwnKernel(this)), m_card(new OwnKernelCard(this)), m_open(new QPushButton("Open kernel…", this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_card);
    m_open->setAutoDefault(false);
    m_open->setToolTip("A kernel of your own (.cu, .cpp, .so): proved and measured at every save");
    hide();
    connect(m_open, &QPushButton::clicked, this, &OwnKernelSection::askFile);
    connect(m_kernel, &OwnKernel::saved, this, &OwnKernelSection::onSaved);
    connect(m_kernel, &OwnKernel::versionsChanged, this, [this] { m_card->setVersions(m_kernel->versions()); });
    connect(m_kernel, &OwnKernel::missing, this, [this](const QString& why) { m_card->setBusy(why); });
    connect(m_card, &OwnKernelCard::runRequested, this, &OwnKernelSection::openRunRequested);
    connect(m_card, &OwnKernelCard::gainRequested, this, &OwnKernelSection::gainRequested);
    connect(m_card, &OwnKernelCard::editRequested, this, [this](const QString& file, int line) {
        if (!openInEditor(file, line)) m_card->setBusy("No editor could be started: set VISUAL to yours");
    });
    connect(m_card, &OwnKernelCard::closeRequested, this, [this] {
        m_kernel->close();
        hide();
    });
}

void OwnKernelSection::attach(const Services& services) {
    m_services = services;
    m_kernel->attach(services.engine);
    m_measuring = m_waiting = false;
    if (!services.engine) return;
    connect(services.engine, &EngineAdapter::jobStarted, this, [this](const RunHeader& run) {
        m_measuring = isOurs(run);
        if (!m_measuring || !run.environment.contains("own_kernel")) return;
        const nlohmann::json& facts = run.environment["own_kernel"];
        m_card->setFacts(facts);
        QStringList operators;
        if (facts.is_object() && facts.contains("operators") && facts["operators"].is_array())
            for (const auto& op : facts["operators"])
                if (op.is_string()) operators << toQt(op.get<std::string>());
        if (!operators.isEmpty()) emit kernelReady(m_kernel->file(), m_kernel->variant(), operators);
    });
    connect(services.engine, &EngineAdapter::jobFinished, this, &OwnKernelSection::onFinished);
}

bool OwnKernelSection::opens(const QString& file) {
    static const QStringList kEndings{"cu", "cpp", "cc", "cxx", "so"};
    const QFileInfo info(file);
    return info.isFile() && kEndings.contains(info.suffix());
}

void OwnKernelSection::open(const QString& file) {
    m_settings.setText("kernels/folder", QFileInfo(file).absolutePath());
    m_card->setFile(QFileInfo(file).absoluteFilePath());
    show();
    m_kernel->open(file);
}

void OwnKernelSection::askFile() {
    const QString file = QFileDialog::getOpenFileName(this, "Open a kernel", m_settings.text("kernels/folder", QString()), "Kernels (*.cu *.cpp *.cc *.cxx *.so)");
    if (!file.isEmpty()) open(file);
}

bool OwnKernelSection::isOpen() const { return m_kernel->isOpen(); }

void OwnKernelSection::addTo(nlohmann::json& settings) const {
    if (isOpen()) settings["kernel"] = fromQt(m_kernel->file());
}

bool OwnKernelSection::isOurs(const RunHeader& run) const { return isOpen() && run.settings.value("kernel", std::string()) == fromQt(m_kernel->file()); }

void OwnKernelSection::onSaved() {
    const bool busy = m_services.engine && m_services.engine->running();
    m_waiting = busy;
    if (!busy) {
        m_card->setBusy("Compiling, proving, measuring…");
        emit runRequested();
    } else if (m_measuring) {
        emit cancelRequested();
    } else {
        m_card->setBusy("Waits for the job that runs");
    }
}

void OwnKernelSection::onFinished(const RunHeader& run, const Finished& finished) {
    if (isOurs(run)) {
        m_measuring = false;
        m_card->setBusy({});
        if (run.id.empty()) {
            KernelVersion version = versionOf(run, finished, {}, fromQt(m_kernel->variant()));
            version.version = m_kernel->current();
            if (!m_waiting) m_kernel->add(std::move(version));
        } else if (m_services.library && !m_waiting) {
            m_services.library->read({toQt(run.id)}, this, [this, run, finished](const std::vector<SavedRunPtr>& saved) {
                if (saved.empty() || !saved.front() || !isOurs(run)) return;
                m_kernel->add(versionOf(run, finished, saved.front()->rows.records(), fromQt(m_kernel->variant())));
            });
        }
    }
    if (std::exchange(m_waiting, false) && isOpen()) {
        m_card->setBusy("Compiling, proving, measuring…");
        QMetaObject::invokeMethod(this, &OwnKernelSection::runRequested, Qt::QueuedConnection);  // when everybody knows that the job has ended
    }
}

bool OwnKernelSection::showError(const Error& error) {
    if (!isOpen() || error.code != ErrorCode::badInput) return false;
    m_card->setLog(toQt(error.message + (error.advice.empty() ? "" : "\n" + error.advice)));
    return true;
}

}  // namespace kernelscope::ui
