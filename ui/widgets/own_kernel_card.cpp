#include "ui/widgets/own_kernel_card.h"

#include <algorithm>

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/version_strip.h"

namespace kernelscope::ui {
namespace {

QString wordsOf(const nlohmann::json& one) {
    const auto whole = [&](const char* key) { return one.contains(key) && one[key].is_number() ? one[key].get<long long>() : 0LL; };
    QStringList parts{QString("%1 registers").arg(whole("registers"))};
    const long long shared = whole("shared_bytes") + whole("dynamic_shared_bytes"), local = whole("local_bytes");
    parts << (shared ? QString("%1 bytes of shared memory").arg(shared) : QString("no shared memory"));
    parts << (local ? QString("%1 bytes of local memory a thread: registers are spilled").arg(local) : QString("no spills"));
    QString text = parts.join(", ");
    if (one.contains("occupancy_pct")) {
        text += QString("; %1 blocks of %2 threads a multiprocessor, %3 % of its threads; limited by %4")
                    .arg(whole("blocks_per_multiprocessor")).arg(whole("block")).arg(number(one["occupancy_pct"].get<double>(), 0), toQt(one.value("limited_by", std::string())));
    }
    return text;
}

}  // namespace

QString linkedLog(const QString& log) {
    // A place in a source, or the whole log that a long one stands for.
    static const QRegularExpression place(R"(^((?:[A-Za-z]:)?[^:\n]+):(\d+)(:\d+)?:|(?<=^and )\d+ more lines, in (.+)$)", QRegularExpression::MultilineOption);
    QString html;
    qsizetype at = 0;
    for (auto matches = place.globalMatch(log); matches.hasNext();) {
        const auto match = matches.next();
        html += log.mid(at, match.capturedStart() - at).toHtmlEscaped();
        const bool whole = match.captured(1).isEmpty();
        const QString target = QString("kernel:%1#%2").arg(whole ? "1" : match.captured(2), QString::fromUtf8(QUrl::toPercentEncoding(match.captured(whole ? 4 : 1), "/")));
        html += QString("<a href=\"%1\">%2</a>").arg(target, match.captured(0).toHtmlEscaped());
        at = match.capturedEnd();
    }
    html += log.mid(at).toHtmlEscaped();
    return "<pre style=\"white-space: pre-wrap\">" + html + "</pre>";
}

QString resourceWords(const nlohmann::json& resources) {
    if (!resources.is_array()) return {};
    QStringList lines;
    std::vector<std::pair<QString, QStringList>> groups;  // words, types
    for (const nlohmann::json& one : resources) {
        if (!one.is_object()) continue;
        const QString words = wordsOf(one), type = toQt(one.value("type", std::string()));
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == words; });
        if (same != groups.end()) same->second << type;
        else groups.push_back({words, {type}});
    }
    for (const auto& [words, types] : groups) lines << types.join(", ") + ": " + words;
    return lines.join("\n");
}

OwnKernelCard::OwnKernelCard(QWidget* parent)
    : Card("Your kernel", parent), m_strip(new VersionStrip(this)), m_changes(new QLabel(this)), m_resources(new QLabel(this)), m_log(new QTextBrowser(this)) {
    setObjectName("ownKernel");
    m_gain = new QPushButton("What it buys →", this);
    auto* edit = new QPushButton("Open in editor", this);
    auto* close = new QPushButton("Close", this);
    for (QPushButton* button : {m_gain, edit, close}) button->setAutoDefault(false);
    m_gain->setToolTip("Opens the End to end page with this kernel in the model: native against patched generate()");
    m_gain->setEnabled(false);
    addTool(m_gain);
    connect(m_gain, &QPushButton::clicked, this, &OwnKernelCard::gainRequested);
    edit->setToolTip("With $VISUAL, or what opens such files here");
    close->setToolTip("Stop watching this file; its runs stay");
    addTool(edit);
    addTool(close);
    m_changes->setAccessibleName("What this version changed");
    m_resources->setAccessibleName("What the kernel needs of the GPU");
    m_resources->setProperty("role", "muted");
    for (QLabel* label : {m_changes, m_resources}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->hide();
    }
    m_log->setAccessibleName("The compiler's words");
    m_log->setOpenLinks(false);
    m_log->setMaximumHeight(fontMetrics().height() * 9);
    m_log->hide();
    bodyLayout()->addWidget(m_strip);
    bodyLayout()->addWidget(m_changes);
    bodyLayout()->addWidget(m_resources);
    bodyLayout()->addWidget(m_log);
    connect(edit, &QPushButton::clicked, this, [this] { emit editRequested(m_file, 0); });
    connect(close, &QPushButton::clicked, this, &OwnKernelCard::closeRequested);
    connect(m_log, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        emit editRequested(QUrl::fromPercentEncoding(link.fragment(QUrl::FullyEncoded).toUtf8()), link.path().toInt());
    });
    connect(m_strip, &VersionStrip::versionChosen, this, [this](int index) {
        showChosen();
        const std::string& run = m_versions[std::size_t(index)].runId;
        if (!run.empty()) emit runRequested(toQt(run));
    });
}

void OwnKernelCard::setFile(const QString& file) {
    m_file = file;
    setTitle(QFileInfo(file).fileName());
    setHint(file);
    m_gain->setEnabled(false);
    setFacts({});
    setLog({});
    setVersions({});
}

void OwnKernelCard::setBusy(const QString& words) { setHint(words.isEmpty() ? m_file : words); }

void OwnKernelCard::setVersions(const std::vector<KernelVersion>& versions) {
    m_versions = versions;
    m_strip->setVersions(versions);
    showChosen();
}

void OwnKernelCard::showChosen() {
    const int index = m_strip->chosen();
    QStringList lines;
    if (index >= 0) {
        const KernelVersion& version = m_versions[std::size_t(index)];
        lines << QString("Version %1 %2").arg(version.number).arg(toQt(versionWords(version)));
        if (!version.firstWrong.empty()) lines << toQt(version.firstWrong);
        if (index > 0) {
            const auto compare = [&](const KernelVersion& before) {
                for (const std::string& line : changesBetween(before, version)) lines << QString("Against version %1: %2").arg(before.number).arg(toQt(line));
            };
            compare(m_versions[std::size_t(index) - 1]);
            // After a version that was broken, what counts is the last one that was timed.
            int timed = index - 1;
            while (timed >= 0 && !(m_versions[std::size_t(timed)].speedup && m_versions[std::size_t(timed)].firstWrong.empty())) --timed;
            if (version.speedup && timed >= 0 && timed < index - 1) compare(m_versions[std::size_t(timed)]);
        }
        setLog(toQt(version.compiled ? std::string() : version.message));
    }
    m_changes->setText(lines.join("\n"));
    m_changes->setVisible(!lines.isEmpty());
}

void OwnKernelCard::setFacts(const nlohmann::json& ownKernel) {
    const QString words = ownKernel.is_object() && ownKernel.contains("resources") ? resourceWords(ownKernel["resources"]) : QString();
    m_resources->setText(words);
    m_resources->setVisible(!words.isEmpty());
    if (ownKernel.is_object()) m_gain->setEnabled(true);  // it has become a kernel
    if (ownKernel.is_object()) setLog(toQt(ownKernel.value("log", std::string())));
}

void OwnKernelCard::setLog(const QString& log) {
    m_log->setHtml(log.isEmpty() ? QString() : linkedLog(log));
    m_log->setVisible(!log.isEmpty());
}

}  // namespace kernelscope::ui
