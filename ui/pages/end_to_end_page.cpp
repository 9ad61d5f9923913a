#include "ui/pages/end_to_end_page.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/records/row_key.h"
#include "ui/charts/value_bars.h"
#include "ui/model_line.h"
#include "ui/models/context_summary.h"
#include "ui/pages/context_panel.h"
#include "ui/pages/end_to_end_controls.h"
#include "ui/services/run_library.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/patch_list.h"
#include "ui/widgets/table_view.h"
#include "ui/widgets/token_view.h"

namespace kernelscope::ui {
namespace {

// Token ids under the keys that generate uses, of one configuration.
std::vector<qint64> idsOf(const nlohmann::json& side) {
    std::vector<qint64> ids;
    if (side.is_object() && side.contains("token_ids") && side["token_ids"].is_array()) {
        for (const auto& id : side["token_ids"]) {
            if (id.is_number_integer()) ids.push_back(id.get<qint64>());
        }
    }
    return ids;
}

}  // namespace

EndToEndPage::EndToEndPage(const ModelLine& model, Settings& settings, QWidget* parent)
    : JobPage(model, {.run = "Run", .empty = "Nothing measured end to end yet. A run generates the same tokens with the model as it is and with faster kernels, in turns."}, parent),
      m_settings(settings), m_controls(new EndToEndControls(model, settings, this)) {
    setControls(m_controls);
    m_patches = new PatchList(this);
    m_bodies = new QStackedWidget(this);
    m_gain = makeGain();
    m_context = new ContextPanel(m_bodies);
    m_bodies->addWidget(m_gain);
    m_bodies->addWidget(m_context);
    setBody(m_bodies);
    connect(m_controls, &EndToEndControls::kindChanged, this, [this] {
        m_bodies->setCurrentWidget(m_controls->kind() == "context" ? static_cast<QWidget*>(m_context) : m_gain);
        render();
    });
    connect(m_context, &ContextPanel::savePictureRequested, this, &Page::savePictureRequested);
    connect(m_context, &ContextPanel::exportRequested, this, &Page::exportRequested);
}

QWidget* EndToEndPage::makeGain() {
    auto* body = new QWidget(this);
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(space(this, 2));
    const auto addCard = [&](const QString& title, const QString& hint, QWidget* content, int row, int column, int columns = 1) {
        auto* card = new Card(title, body);
        card->setHint(hint);
        content->setParent(card);
        card->setBody(content);
        grid->addWidget(card, row, column, 1, columns);
        return card;
    };
    addCard("Replace", "operators and variants", m_patches, 0, 0);
    m_first = new ValueBars("Time to first token, milliseconds", 2);
    addCard("Time to first token", "ms, less is better", m_first, 0, 1);
    m_decode = new ValueBars("Decode, milliseconds a token", 3);
    addCard("Decode", "ms a token, less is better", m_decode, 0, 2);
    m_rate = new ValueBars("Decode, tokens a second", 1);
    addCard("Decode", "tokens a second, more is better", m_rate, 0, 3);
    m_waterfall = new Waterfall;
    m_gainCard = addCard("Where the gain comes from", "share of the native total time", m_waterfall, 1, 0, 2);
    m_tokens = new TokenView;
    m_tokenCard = addCard("Tokens", {}, m_tokens, 1, 2, 2);
    m_model = new EndToEndTable(endToEndColumns(), this);
    m_table = new TableView("Configurations");
    m_table->setSource(m_model);
    m_table->setStretchColumn(13);
    addCard("Configurations", {}, m_table, 2, 0, 4);
    grid->setRowStretch(1, 3);
    grid->setRowStretch(2, 1);
    for (int column = 0; column < 4; ++column) grid->setColumnStretch(column, 1);
    m_table->setRowsInSight(4);  // native and patched, eager and as a graph
    for (Chart* chart : {static_cast<Chart*>(m_waterfall), static_cast<Chart*>(m_decode), static_cast<Chart*>(m_first), static_cast<Chart*>(m_rate)}) {
        connect(chart, &Chart::saveRequested, this, [this, chart] { emit savePictureRequested(chart); });
    }
    connect(m_table, &TableView::exportRequested, this, &Page::exportRequested);
    return body;
}

QList<Chart*> EndToEndPage::charts() const {
    if (m_controls->kind() == "context") return m_context->charts();
    return {m_waterfall, m_decode, m_first, m_rate};
}

void EndToEndPage::run() {
    if (const auto problem = m_controls->problem()) {
        showError(*problem);
        return;
    }
    if (m_controls->kind() == "e2e" && !m_patches->any()) {
        showError(makeError(ErrorCode::usage, "No operator is ticked, so there is nothing to compare.", "Tick at least one."));
        return;
    }
    JobPage::run();
}

JobRequest EndToEndPage::request() const {
    const ModelChoice choice = modelLine().choice();
    m_controls->remember();
    nlohmann::json settings = m_controls->settings(fromQt(m_patches->patch()));
    const std::string patch = settings.value("patch", std::string());
    const bool own = !m_kernelVariant.isEmpty() && (patch + ",").find("=" + fromQt(m_kernelVariant) + ",") != std::string::npos;
    if (own) settings["kernel"] = fromQt(m_kernelFile);
    return {.kind = m_controls->kind(), .model = choice.model, .device = choice.device, .dtype = choice.dtype, .settings = std::move(settings)};
}

void EndToEndPage::offerKernel(const QString& file, const QString& variant, const QStringList& operators) {
    if (file == m_kernelFile) return;
    m_kernelFile = file;
    m_kernelVariant = variant;
    QStringList parts;
    for (const QString& op : operators) parts << op + "=" + variant;
    m_patches->setPatch(parts.join(','));
}

void EndToEndPage::renderCharts(const RunRows& run, bool live) {
    if (run.header().kind == "context") {
        m_context->showCharts(run);
        return;
    }
    renderGain(run);
    if (!live) askForIntervals(run);
}

void EndToEndPage::renderGain(const RunRows& run) {
    const auto rows = run.as<EndToEndRow>();
    static const EndToEndIntervals none;
    const EndToEndIntervals& intervals = run.header().id == m_intervalsOf ? m_intervals : none;
    m_first->setBars(e2eBars(rows, &EndToEndRow::ttftMs, intervals));
    m_decode->setBars(e2eBars(rows, &EndToEndRow::decodeMsPerToken, intervals));
    m_rate->setBars(e2eBars(rows, &EndToEndRow::decodeTokensPerS, intervals));
    m_waterfall->setSteps(e2eWaterfall(rows, run.header().result));
    const QString words = rows.empty() ? QString() : ledgerWords(run.header().result, rows.back().mode);
    m_gainCard->setHint(words.isEmpty() ? QString("share of the native total time") : words);
}

/// The samples behind the bars lie in the store: intervals come when they have been read.
void EndToEndPage::askForIntervals(const RunRows& run) {
    const std::string id = run.header().id;
    if (id.empty() || !services().library || id == m_intervalsOf) return;
    m_intervalsOf = id;
    m_intervals.clear();
    for (const EndToEndRow& row : run.as<EndToEndRow>()) {
        const std::string key = rowKey(row);
        services().library->samples(toQt(id), key, this, [this, id, row, key](const std::vector<SampleRow>& samples) {
            if (id != m_intervalsOf) return;
            m_intervals[key] = e2eIntervals(row, samples);
            const RunRows* run = shown();
            if (run && run->header().id == id) renderGain(*run);
        });
    }
}

void EndToEndPage::renderTables(const RunRows& run, bool) {
    if (run.header().kind == "context") {
        m_context->showTable(run);
        return;
    }
    const bool first = m_model->rowCount() == 0;
    m_model->reset(run.as<EndToEndRow>());
    m_table->hideUnknownColumns();
    if (first) m_table->fitColumns();
    std::vector<TokenView::Side> sides;
    // Of the last mode measured: the figures in the headline are its too.
    const auto rows = run.as<EndToEndRow>();
    const auto& result = run.header().result;
    const std::string mode = rows.empty() ? std::string() : rows.back().mode;
    for (const auto& [key, name] : {std::pair{"native", "Native"}, std::pair{"patched", "Patched"}}) {
        const nlohmann::json::json_pointer where("/generated/" + mode + "/" + key);
        if (!result.is_object() || !result.contains(where)) continue;
        const auto& generated = result.at(where);
        TokenView::Side side{.name = name, .ids = idsOf(generated), .text = {}};
        if (generated.is_object() && generated.contains("text") && generated["text"].is_string()) side.text = toQt(generated["text"].get<std::string>());
        if (!side.ids.empty()) sides.push_back(std::move(side));
    }
    m_tokens->show(sides, run.header().weights == "random");
    QString hint;
    for (const EndToEndRow& row : rows) {
        if (!row.tokensMatch) continue;
        hint = *row.tokensMatch ? QString("no difference") : QString("first difference at position %1").arg(qlonglong(row.firstDivergence.value_or(0)));
    }
    m_tokenCard->setHint(hint);
}

QString EndToEndPage::headlineOf(const RunRows& run) const {
    if (run.header().kind != m_controls->kind()) return {};  // the other tab is looked at
    return run.header().kind == "context" ? contextHeadline(run.as<ContextRow>(), run.othersAs<ContextShareRow>()) : e2eHeadline(run.as<EndToEndRow>());
}

QString EndToEndPage::sublineOf(const RunRows& run, bool) const {
    if (run.header().kind != m_controls->kind()) return {};
    QStringList parts{run.header().weights == "random" ? "Random weights" : "Weights from file"};
    if (run.header().kind == "context") {
        parts << toQt(run.header().device) << toQt(run.header().dtype);
        const auto& settings = run.header().settings;
        if (settings.contains("patch") && settings["patch"].is_string() && !settings["patch"].get_ref<const std::string&>().empty()) parts << "with " + toQt(settings["patch"].get<std::string>());
        return parts.join(" · ");
    }
    const QString line = e2eSubline(run.as<EndToEndRow>());
    if (!line.isEmpty()) parts << line;
    return parts.join(" · ");
}

void EndToEndPage::settingsShown(const RunRows& run) {
    m_controls->setKind(run.header().kind);
    const auto& settings = run.header().settings;
    m_controls->show(settings);
    if (settings.contains("kernel") && settings["kernel"].is_string()) {
        m_kernelFile = toQt(settings["kernel"].get<std::string>());
        m_kernelVariant = QFileInfo(m_kernelFile).completeBaseName();
    }
    if (run.header().kind == "e2e" && settings.contains("patch") && settings["patch"].is_string()) m_patches->setPatch(toQt(settings["patch"].get<std::string>()));
}

void EndToEndPage::setControlsEnabled(bool enabled) {
    if (m_controls) m_controls->setSettingsEnabled(enabled);
}

}  // namespace kernelscope::ui
