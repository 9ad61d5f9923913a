#include "ui/pages/doctor_page.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QLibraryInfo>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/client/store.h"
#include "ui/models/sort_filter.h"
#include "ui/services/engine_adapter.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/card.h"
#include "ui/widgets/table_view.h"

namespace kernelscope::ui {
namespace {

struct Look { const char* text; Tone tone; const char* icon; };

Look lookOf(const std::string& status) {
    if (status == "ok") return {"passed", Tone::good, "ok"};
    if (status == "warning") return {"warning", Tone::warn, "warning"};
    if (status == "failed") return {"failed", Tone::bad, "error"};
    return {"not there", Tone::muted, "info"};
}

DoctorRow displayCheck() {
    DoctorRow row{.check = "display", .status = "ok", .finding = {}, .why = "the window", .fix = {}};
    row.finding = fromQt(QString("Qt %1 on %2, scale %3, font %4").arg(qVersion(), QApplication::platformName())
                             .arg(qApp->devicePixelRatio()).arg(QApplication::font().family()));
    // What Qt could show the window on here: without xcb or wayland there is none in a desktop session.
    QStringList plugIns;
    for (const QString& file : QDir(QLibraryInfo::path(QLibraryInfo::PluginsPath) + "/platforms").entryList({"libq*.so"}, QDir::Files)) {
        plugIns << file.mid(4).chopped(3);
    }
    row.finding += fromQt(plugIns.isEmpty() ? QString("; no display plug-in is installed") : "; display plug-ins: " + plugIns.join(", "));
    if (!plugIns.contains("xcb") && plugIns.filter("wayland").isEmpty()) {
        row.status = "warning";
        row.fix = "install Qt's display plug-ins (qt6-qpa-plugins, qt6-wayland)";
    } else if (qEnvironmentVariableIsSet("WAYLAND_DISPLAY") && plugIns.filter("wayland").isEmpty()) {
        row.finding += "; this Wayland session shows the window through X11";
    }
    if (!QFontDatabase::hasFamily("Inter")) {
        row.status = "warning";
        row.finding += "; Inter is not installed";
        row.why = "the look of figures: another font is used";
        row.fix += std::string(row.fix.empty() ? "" : "; ") + "install fonts-inter";
    }
    return row;
}

}  // namespace

std::vector<ColumnSpec<DoctorRow>> doctorColumns() {
    using Row = const DoctorRow&;
    const auto text = [](const char* title, std::string DoctorRow::* member) {
        return ColumnSpec<DoctorRow>{.title = title, .raw = [member](Row row) { return QVariant(toQt(row.*member)); },
                                     .text = {}, .tone = {}, .icon = {}, .swatch = {}, .hint = [member](Row row) { return toQt(row.*member); }};
    };
    return {text("Check", &DoctorRow::check),
            {.title = "State", .raw = [](Row row) { return QVariant(toQt(row.status)); }, .text = [](Row row) { return QString(lookOf(row.status).text); },
             .tone = [](Row row) { return lookOf(row.status).tone; }, .icon = [](Row row) { return QString(lookOf(row.status).icon); }},
            text("Finding", &DoctorRow::finding), text("Matters for", &DoctorRow::why), text("Cure", &DoctorRow::fix)};
}

QString doctorText(const std::vector<DoctorRow>& rows) {
    QString text;
    for (const DoctorRow& row : rows) {
        text += QString("%1: %2\n  %3\n").arg(toQt(row.check), toQt(row.status), toQt(row.finding));
        if (row.status == "ok") continue;
        text += "  It matters for: " + toQt(row.why) + "\n";
        if (!row.fix.empty()) text += "  " + toQt(row.fix) + "\n";
    }
    return text;
}

DoctorPage::DoctorPage(QWidget* parent)
    : Page(parent), m_headline(new QLabel(this)), m_banner(new Banner(this)), m_card(new Card("Checks", this)), m_model(new DoctorTable(doctorColumns(), this)),
      m_table(new TableView("Checks", m_card)), m_detail(new QLabel(m_card)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(this, 2));
    auto* head = new QHBoxLayout;
    m_headline->setProperty("role", "headline");
    auto* copy = new QPushButton("Copy as text", this);
    auto* again = new QPushButton("Check again", this);
    again->setProperty("role", "primary");
    head->addWidget(m_headline, 1);
    for (QPushButton* button : {copy, again}) {
        button->setAutoDefault(false);
        head->addWidget(button);
    }
    m_table->setSource(m_model);
    m_table->setWrapped({2, 3, 4});
    m_card->setBody(m_table);
    m_detail->setWordWrap(true);
    m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_card->bodyLayout()->addWidget(m_detail);
    column->addLayout(head);
    column->addWidget(m_banner);
    column->addWidget(m_card, 1);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(doctorText(m_model->rows())); });
    connect(again, &QPushButton::clicked, this, &DoctorPage::run);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        if (!index.isValid()) return;
        const DoctorRow& row = m_model->rows()[std::size_t(m_table->filter()->mapToSource(index).row())];
        QString text = "<b>" + toQt(row.check).toHtmlEscaped() + "</b>: " + toQt(row.finding).toHtmlEscaped();
        if (row.status != "ok") text += "<br>It matters for " + toQt(row.why).toHtmlEscaped() + (row.fix.empty() ? QString() : "<br>" + toQt(row.fix).toHtmlEscaped());
        m_detail->setText(text);
    });
}

void DoctorPage::attach(const Services& services) { engineReplaced(services); }

void DoctorPage::engineReplaced(const Services& services) {
    m_services = services;
    m_asked = false;
    m_fromEngine.clear();
    EngineAdapter* engine = m_services.engine;
    if (!engine) return;
    connect(engine, &EngineAdapter::telemetryReceived, this, [this](const Telemetry& telemetry) {
        const bool first = !m_telemetry;
        m_telemetry = telemetry;
        if (first && isVisible()) assemble();
    });
    connect(engine, &EngineAdapter::stateChanged, this, [this](EngineState state, const QString& why) {
        if (state != EngineState::lost) return;
        m_why = why;
        if (isVisible()) assemble();
    });
    connect(engine, &EngineAdapter::helloReceived, this, [this] {
        m_why.clear();
        if (isVisible()) assemble();
    });
}

void DoctorPage::entered() {
    if (!m_asked) run();
    else assemble();
}

void DoctorPage::run() {
    assemble();
    if (!m_services.engine || m_services.engine->running()) return;
    m_asked = true;
    m_services.engine->call("engine.doctor", nlohmann::json::object(), this, [this](const Result<nlohmann::json>& answer) {
        m_fromEngine = checksFromEngine(answer);
        assemble();
        emit examined(m_fromEngine);
    });
}

void DoctorPage::assemble() {
    const EngineAdapter* engine = m_services.engine;
    const Result<Hello> hello = engine && engine->hello() ? Result<Hello>(*engine->hello())
                                                          : Result<Hello>(makeError(ErrorCode::environment, fromQt(m_why.isEmpty() ? QString("The engine has not answered yet.") : m_why),
                                                                                        "Say how to start one under Run, Engine settings."));
    std::vector<DoctorRow> rows = engineChecks(hello);
    if (hello) rows.push_back(telemetryCheck(m_telemetry));
    rows.insert(rows.end(), m_fromEngine.begin(), m_fromEngine.end());
    rows.push_back(storeCheck(m_services.store ? m_services.store->path() : Store::defaultPath()));
    rows.push_back(displayCheck());
    const auto count = [&](const char* status) { return std::count_if(rows.begin(), rows.end(), [&](const DoctorRow& row) { return row.status == status; }); };
    const auto failed = count("failed"), warned = count("warning"), absent = count("unavailable");
    QStringList parts;
    if (failed > 0) parts << QString("%1 failed").arg(failed);
    if (warned > 0) parts << (warned == 1 ? QString("1 warning") : QString("%1 warnings").arg(warned));
    if (absent > 0) parts << QString("%1 not there").arg(absent);
    m_headline->setText(parts.isEmpty() ? QString("Everything works") : QString("%1 of %2 checks passed, %3").arg(count("ok")).arg(rows.size()).arg(parts.join(", ")));
    const bool more = m_model->rowCount() != int(rows.size());
    if (m_model->rows() != rows) m_model->reset(std::move(rows));
    if (more) m_table->fitColumns();
}

void DoctorPage::showError(const Error& error) {
    m_banner->show(Banner::Kind::error, toQt(error.message), toQt(error.advice), "Engine settings…", [this] { emit engineSettingsRequested(); });
}

}  // namespace kernelscope::ui
