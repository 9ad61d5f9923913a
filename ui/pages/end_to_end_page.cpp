#include "ui/pages/end_to_end_page.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/charts/value_bars.h"
#include "ui/model_line.h"
#include "ui/services/settings.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/patch_list.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/table_view.h"
#include "ui/widgets/token_view.h"

namespace kernelscope::ui {
namespace {

QSpinBox* addNumber(QHBoxLayout* row, const QString& label, int most, int value, const QString& toolTip, QWidget* parent) {
    auto* caption = new QLabel(label, parent);
    caption->setProperty("role", "muted");
    auto* box = new QSpinBox(parent);
    box->setRange(1, most);
    box->setValue(value);
    box->setAccessibleName(label);
    box->setToolTip(toolTip);
    box->setFixedWidth(box->fontMetrics().horizontalAdvance("10000") + box->fontMetrics().height() * 5 / 4);
    row->addWidget(caption);
    row->addWidget(box);
    row->addSpacing(space(parent, 1));
    return box;
}

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
      m_settings(settings) {
    setControls(makeControls());
    m_patches = new PatchList(this);
    setBody(makeBody());
}

QWidget* EndToEndPage::makeControls() {
    auto* controls = new QWidget(this);
    auto* row = new QHBoxLayout(controls);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space(this, 1.5));
    m_newTokens = addNumber(row, "New tokens", 100000, m_settings.text("e2e/new_tokens", "50").toInt(), "Forced: an end-of-text token does not stop a run", controls);
    m_prompt = addNumber(row, "Prompt", 131072, m_settings.text("e2e/prompt_tokens", "32").toInt(), "Tokens of the prompt", controls);
    m_runs = addNumber(row, "Runs", 1000, m_settings.text("e2e/runs", "10").toInt(), "Timed runs of each, native and patched in turns (ABBA), after two to warm up", controls);
    m_mode = new Segmented("Mode", controls);
    m_mode->add("Eager", "eager", "Each operation launched on its own");
    m_mode->add("Graph", "graph", "A decode step as one CUDA graph");
    m_mode->add("Both", "both", "Eager and graph, interleaved");
    row->addWidget(m_mode);
    row->addStretch(1);
    const auto followDevice = [this] {
        const auto device = modelLine().device();
        const bool gpu = !device || device->id != "cpu";
        for (const char* mode : {"graph", "both"}) m_mode->setOptionEnabled(mode, gpu, gpu ? "" : "Needs a GPU");
        if (!gpu) m_mode->setValue("eager");
    };
    connect(&modelLine(), &ModelLine::changed, this, followDevice);
    followDevice();
    return controls;
}

QWidget* EndToEndPage::makeBody() {
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
    m_table->setMinimumHeight(space(this, 4 * 7));
    for (Chart* chart : charts()) connect(chart, &Chart::saveRequested, this, [this, chart] { emit savePictureRequested(chart); });
    connect(m_table, &TableView::exportRequested, this, &Page::exportRequested);
    return body;
}

QList<Chart*> EndToEndPage::charts() const { return {m_waterfall, m_decode, m_first, m_rate}; }

void EndToEndPage::run() {
    if (!m_patches->any()) {
        showError(makeError(ErrorCode::usage, "No operator is ticked, so there is nothing to compare.", "Tick at least one."));
        return;
    }
    JobPage::run();
}

JobRequest EndToEndPage::request() const {
    const ModelChoice choice = modelLine().choice();
    m_settings.setText("e2e/new_tokens", QString::number(m_newTokens->value()));
    m_settings.setText("e2e/prompt_tokens", QString::number(m_prompt->value()));
    m_settings.setText("e2e/runs", QString::number(m_runs->value()));
    JobRequest request{.kind = "e2e", .model = choice.model, .device = choice.device, .dtype = choice.dtype,
                       .settings = {{"new_tokens", m_newTokens->value()}, {"prompt_tokens", m_prompt->value()}, {"runs", m_runs->value()}, {"mode", fromQt(m_mode->value())}}};
    if (!m_patches->patch().isEmpty()) request.settings["patch"] = fromQt(m_patches->patch());
    return request;
}

void EndToEndPage::renderCharts(const RunRows& run, bool) {
    const auto rows = run.as<EndToEndRow>();
    m_first->setBars(e2eBars(rows, &EndToEndRow::ttftMs));
    m_decode->setBars(e2eBars(rows, &EndToEndRow::decodeMsPerToken));
    m_rate->setBars(e2eBars(rows, &EndToEndRow::decodeTokensPerS));
    m_waterfall->setSteps(e2eWaterfall(rows, run.header().result));
    const QString words = rows.empty() ? QString() : ledgerWords(run.header().result, rows.back().mode);
    m_gainCard->setHint(words.isEmpty() ? QString("share of the native total time") : words);
}

void EndToEndPage::renderTables(const RunRows& run, bool) {
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

QString EndToEndPage::headlineOf(const RunRows& run) const { return e2eHeadline(run.as<EndToEndRow>()); }

QString EndToEndPage::sublineOf(const RunRows& run, bool) const {
    QStringList parts{run.header().weights == "random" ? "Random weights" : "Weights from file"};
    const QString line = e2eSubline(run.as<EndToEndRow>());
    if (!line.isEmpty()) parts << line;
    return parts.join(" · ");
}

void EndToEndPage::settingsShown(const RunRows& run) {
    const auto& settings = run.header().settings;
    const auto whole = [&](const char* key, QSpinBox* box) {
        if (settings.contains(key) && settings[key].is_number_integer()) box->setValue(settings[key].get<int>());
    };
    whole("new_tokens", m_newTokens);
    whole("prompt_tokens", m_prompt);
    whole("runs", m_runs);
    if (settings.contains("mode") && settings["mode"].is_string()) m_mode->setValue(toQt(settings["mode"].get<std::string>()));
    if (settings.contains("patch") && settings["patch"].is_string()) m_patches->setPatch(toQt(settings["patch"].get<std::string>()));
}

}  // namespace kernelscope::ui
