// Models of the hub: what its cache holds, and getting one.

#include <QLineEdit>

#include "ui/main_window.h"
#include "ui/model_line.h"
#include "ui/services/engine_adapter.h"
#include "ui/text.h"
#include "ui/widgets/hub_bar.h"

namespace kernelscope::ui {

void MainWindow::connectModels(EngineAdapter* engine) {
    connect(engine, &EngineAdapter::helloReceived, this, &MainWindow::listModels);
    connect(engine, &EngineAdapter::progressed, m_hubBar, &HubBar::setProgress);
    connect(m_hubBar, &HubBar::cancelRequested, engine, &EngineAdapter::cancel);
    connect(engine, &EngineAdapter::jobFinished, this, [this](const RunHeader& run, const Finished& finished) {
        if (run.kind != "model_get" || !m_hubBar->fetching()) return;
        if (finished.status == RunStatus::done) {
            const QString id = m_hubBar->edit()->text().trimmed();
            m_hubBar->end({});
            m_modelLine->setModel(id);
            listModels();
        } else {
            Error error = finished.error;
            if (error.message.empty()) error.message = "Cancelled; what has arrived is kept, and a later Get goes on from there.";
            m_hubBar->end(error);
        }
    });
}

namespace {

/// An engine may say anything: what is no text is none.
std::string textAt(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

void MainWindow::listModels() {
    m_services.engine->call("model.list", nlohmann::json::object(), this, [this](const Result<nlohmann::json>& answer) {
        QStringList ids;
        if (!answer || !answer->is_object()) return;  // an engine of an earlier version
        for (const nlohmann::json& model : answer->value("models", nlohmann::json::array())) {
            if (!model.is_object() || textAt(model, "source") != "hub cache" || !textAt(model, "problem").empty()) continue;
            ids << toQt(textAt(model, "model"));
        }
        m_modelLine->setCachedModels(ids);
    });
}

void MainWindow::getModel(const QString& id) {
    if (!m_services.engine) return;
    JobRequest request;
    request.kind = "model_get";
    request.model = fromQt(id);
    m_hubBar->begin();
    if (const auto started = m_services.engine->start(std::move(request), "kernelscope-cli model get " + fromQt(id)); !started) m_hubBar->end(started.error());
    updateActions();
}

}  // namespace kernelscope::ui
