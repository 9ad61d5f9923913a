#include "ui/pages/summary_page.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/records/headline.h"
#include "ui/charts/share_bars.h"
#include "ui/charts/value_bars.h"
#include "ui/model_line.h"
#include "ui/models/e2e_summary.h"
#include "ui/models/kernel_summary.h"
#include "ui/models/profile_summary.h"
#include "ui/services/engine_adapter.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/card.h"
#include "ui/widgets/empty_state.h"

namespace kernelscope::ui {
namespace {

QString toneName(const Theme& theme, Tone tone) {
    return (tone == Tone::good ? theme.good : tone == Tone::bad ? theme.bad : tone == Tone::warn ? theme.warn : theme.muted).name();
}

constexpr int kMostSweeps = 4;  // as many as there are operators

// Rows of the operators that newer sweeps left out.
void addOlder(std::vector<SweepRow>& swept, const std::vector<SweepRow>& older) {
    std::set<std::string> known;
    for (const SweepRow& row : swept) known.insert(row.op);
    std::copy_if(older.begin(), older.end(), std::back_inserter(swept), [&](const SweepRow& row) { return !known.contains(row.op); });
}

// One line an operator; the state in words, so that the colour only repeats it.
QString operatorTable(const std::vector<OperatorSummary>& operators, const Theme& theme) {
    QString html = "<table cellspacing='0' cellpadding='4'>";
    for (const OperatorSummary& op : operators) {
        html += QString("<tr><td><b>%1</b></td><td style='color:%2'>%3</td><td align='right'>%4</td></tr>")
                    .arg(toQt(op.op), toneName(theme, op.tone), op.status, op.speedup);
    }
    return html + "</table>";
}

QStringList warningsOf(const std::vector<SavedRunPtr>& runs) {
    QStringList warnings;
    for (const SavedRunPtr& run : runs) {
        const RunHeader& header = run->summary.header;
        const QString what = QString(header.kind == "e2e" ? "end-to-end run" : toQt(header.kind)) + " of " + localTime(header.when);
        if (header.status == RunStatus::interrupted || header.status == RunStatus::cancelled) {
            warnings << QString("The %1 was %2: its figures come from a part of it.").arg(what, toQt(toString(header.status)));
        }
        if (header.kind == "profile" || header.kind == "e2e") {
            if (header.weights == "random") warnings << QString("The %1 used random weights: its times are real, its text is not.").arg(what);
        }
        const auto& rows = run->rows.as<SweepRow>();
        const auto throttled = std::count_if(rows.begin(), rows.end(), [](const SweepRow& row) { return row.status == "throttled"; });
        if (throttled > 0) warnings << QString("%1 cells of the %2 were measured while the GPU throttled.").arg(throttled).arg(what);
    }
    warnings.removeDuplicates();
    return warnings;
}

}  // namespace

SummaryPage::SummaryPage(const ModelLine& model, QWidget* parent)
    : Page(parent), m_model(model), m_banner(new Banner(this)), m_title(new QLabel(this)), m_stack(new QStackedWidget(this)),
      m_empty(new EmptyState({}, "Profile model", this)), m_bars(new ShareBars(this)), m_operators(new QLabel(this)),
      m_decode(new ValueBars("Decode, milliseconds a token", 3, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(this, 2));
    m_title->setProperty("role", "headline");
    column->addWidget(m_banner);
    column->addWidget(m_title);
    column->addWidget(m_stack, 1);
    auto* body = new QWidget(m_stack);
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(space(this, 2));
    m_operators->setTextFormat(Qt::RichText);
    m_operators->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_operators->setAccessibleName("Operators");
    m_profile = makePart("Where the time goes", m_bars, "Profile");
    m_kernels = makePart("Kernels", m_operators, "Kernels");
    m_endToEnd = makePart("End to end", m_decode, "End to end");
    m_warningCard = new Card("To keep in mind", body);
    m_warnings = new QLabel(m_warningCard);
    m_warnings->setWordWrap(true);
    m_warnings->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_warningCard->setBody(m_warnings);
    grid->addWidget(m_profile.card, 0, 0, 2, 1);
    grid->addWidget(m_kernels.card, 0, 1);
    grid->addWidget(m_endToEnd.card, 1, 1);
    grid->addWidget(m_warningCard, 2, 0, 1, 2);
    grid->setColumnStretch(0, 3);
    grid->setColumnStretch(1, 2);
    grid->setRowStretch(0, 1);
    grid->setRowStretch(1, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(body);
    connect(m_empty, &EmptyState::activated, this, [this] { emit pageRequested("Profile"); });
    connect(&model, &ModelLine::changed, this, [this] { if (isVisible()) entered(); });
    m_empty->setSentence("Nothing has been measured yet. A profile says where a pass of this model spends its time.");
}

SummaryPage::Part SummaryPage::makePart(const QString& title, QWidget* content, const QString& page) {
    Part part;
    part.card = new Card(title, this);
    part.headline = new QLabel(part.card);
    part.headline->setWordWrap(true);
    part.headline->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    part.headline->setProperty("role", "title");
    part.facts = new QLabel(part.card);
    part.facts->setProperty("role", "muted");
    part.facts->setWordWrap(true);
    part.open = new QPushButton(part.card);
    part.open->setAutoDefault(false);
    part.open->setProperty("role", "link");
    part.card->addTool(part.open);
    part.card->setBody(part.headline, 0);
    part.content = content;
    content->setParent(part.card);
    part.card->setBody(content, 1);
    part.card->setBody(part.facts, 0);
    connect(part.open, &QPushButton::clicked, this, [this, page, open = part.open] {
        const QString run = open->property("run").toString();
        if (run.isEmpty()) emit pageRequested(page);
        else emit openRunRequested(run);
    });
    return part;
}

void SummaryPage::clear(Part& part, const QString& sentence) {
    part.run.clear();
    part.headline->setText(sentence);
    part.facts->clear();
    for (QWidget* empty : {part.content, static_cast<QWidget*>(part.facts)}) empty->hide();  // no axis of nothing
    part.open->setText("Measure it");
    part.open->setAccessibleName("Measure: " + sentence);
    part.open->setProperty("run", QString());
}

void SummaryPage::present(Part& part, const RunHeader& run, const QString& headline) {
    part.run = toQt(run.id);
    part.headline->setText(headline);
    part.facts->setText(QStringList{localTime(run.when), toQt(run.device), toQt(run.dtype)}.join(" · "));
    part.open->setText("Open");
    for (QWidget* filled : {part.content, static_cast<QWidget*>(part.facts)}) filled->show();
    part.open->setAccessibleName("Open the run behind: " + headline);
    part.open->setProperty("run", part.run);
}

void SummaryPage::attach(const Services& services) {
    m_services = services;
    if (m_services.library) connect(m_services.library, &RunLibrary::runsLoaded, this, &SummaryPage::choose);
    engineReplaced(services);
    entered();
}

void SummaryPage::engineReplaced(const Services& services) {
    m_services = services;
    if (m_services.engine) connect(m_services.engine, &EngineAdapter::jobFinished, this, [this] { if (isVisible()) entered(); });
}

void SummaryPage::entered() {
    if (!m_services.library || !isVisible()) return;
    m_waiting = true;
    m_services.library->refresh();
}

bool SummaryPage::isOfModel(const RunHeader& run) const {
    const QString wanted = toQt(m_model.choice().model), model = toQt(run.model);
    return model.compare(wanted, Qt::CaseInsensitive) == 0 || QFileInfo(model).fileName() == QFileInfo(wanted).fileName();
}

void SummaryPage::choose(const RunList& runs) {
    if (!std::exchange(m_waiting, false)) return;
    QStringList ids;
    // The newest of each kind; of profiles one of decode where there is one, since that is what a user waits for.
    const auto take = [&](const std::string& kind, const char* beginning) {
        for (const RunSummary& run : *runs) {  // newest first
            if (run.header.kind != kind || run.rows == 0 || !isOfModel(run.header) || !toQt(run.header.headline).startsWith(beginning)) continue;
            if (run.header.status == RunStatus::running || run.header.status == RunStatus::failed) continue;
            ids << toQt(run.header.id);
            return true;
        }
        return false;
    };
    if (!take("profile", "Decode")) take("profile", "");
    take("validate", "");
    // Of sweeps those before the newest too, as far as they are of the same device: one of one operator does not hide what is known of the others.
    const RunHeader* newest = nullptr;
    int sweeps = 0;
    for (const RunSummary& run : *runs) {
        const RunHeader& header = run.header;
        if (header.kind != "sweep" || run.rows == 0 || !isOfModel(header) || header.status == RunStatus::running || header.status == RunStatus::failed) continue;
        if (newest && header.device != newest->device) continue;
        if (!newest) newest = &header;
        ids << toQt(header.id);
        if (++sweeps == kMostSweeps) break;
    }
    take("e2e", "");
    m_services.library->read(ids, this, [this](const std::vector<SavedRunPtr>& found) { fill(found); });
}

void SummaryPage::fill(const std::vector<SavedRunPtr>& runs) {
    const QString model = toQt(m_model.choice().model);
    m_title->setText(QFileInfo(model).fileName());
    m_title->setVisible(!runs.empty());
    m_empty->setSentence(QString("Nothing has been measured of %1 yet. A profile says where a pass spends its time.").arg(QFileInfo(model).fileName()));
    m_stack->setCurrentIndex(runs.empty() ? 0 : 1);
    clear(m_profile, "Not profiled yet");
    clear(m_kernels, "No kernel measured yet");
    clear(m_endToEnd, "Not measured end to end yet");
    m_bars->setBars({});
    m_operators->clear();
    m_decode->setBars({});
    m_endToEnd.card->setHint({});
    std::vector<ValidateRow> validated;
    std::vector<SweepRow> swept;
    for (const SavedRunPtr& run : runs) {
        const RunHeader& header = run->summary.header;
        if (header.kind == "profile") {
            const auto rows = run->rows.as<ProfileRow>();
            const std::string phase = rows.empty() ? "decode" : rows.back().phase;
            present(m_profile, header, toQt(phaseHeadline(rows, phase, header.result)));
            m_bars->setBars(shareBars(rowsOfPhase(rows, phase), {}));
        } else if (header.kind == "e2e") {
            const auto rows = run->rows.as<EndToEndRow>();
            present(m_endToEnd, header, e2eHeadline(rows));
            m_endToEnd.card->setHint("decode, ms a token");
            m_decode->setBars(e2eBars(rows, &EndToEndRow::decodeMsPerToken));
        } else {
            // The newest sweep is the run to open, the validation adds the operators that no sweep has.
            const auto own = run->rows.as<ValidateRow>(), others = run->rows.othersAs<ValidateRow>();
            validated.insert(validated.end(), own.begin(), own.end());
            validated.insert(validated.end(), others.begin(), others.end());
            if (swept.empty()) present(m_kernels, header, header.kind == "sweep" ? "Right, and how much faster" : "Right or wrong");
            addOlder(swept, run->rows.as<SweepRow>());
            m_operators->setText(operatorTable(operatorSummaries(validated, swept), Theme::of(this)));
        }
    }
    const QStringList warnings = warningsOf(runs);
    m_warnings->setText(warnings.join('\n'));
    m_warningCard->setVisible(!warnings.isEmpty());
}

QList<Chart*> SummaryPage::charts() const { return {m_bars, m_decode}; }

void SummaryPage::showError(const Error& error) {
    const bool engine = error.code == ErrorCode::environment;
    m_banner->show(Banner::Kind::error, toQt(error.message), toQt(error.advice), engine ? "Engine settings…" : QString(), [this] { emit engineSettingsRequested(); });
}

}  // namespace kernelscope::ui
