#include "ui/models/runs_table.h"

#include "core/client/list_runs.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

QString statusIcon(RunStatus status) {
    switch (status) {
    case RunStatus::done: return "ok";
    case RunStatus::running: return "history";
    case RunStatus::failed: return "error";
    case RunStatus::cancelled:
    case RunStatus::interrupted: break;
    }
    return "warning";
}

Tone statusTone(RunStatus status) {
    switch (status) {
    case RunStatus::done: return Tone::good;
    case RunStatus::running: return Tone::normal;
    case RunStatus::failed: return Tone::bad;
    case RunStatus::cancelled:
    case RunStatus::interrupted: break;
    }
    return Tone::warn;
}

QString modelText(const RunHeader& run) {
    return toQt(run.model) + (run.weights == "random" ? " (random weights)" : "");
}

QString tagsText(const RunSummary& run) {
    QStringList tags;
    for (const std::string& tag : run.tags) tags << toQt(tag);
    return tags.join(", ");
}

}  // namespace

std::vector<ColumnSpec<RunSummary>> runColumns() {
    using Run = const RunSummary&;
    return {
        {.title = "When", .raw = [](Run run) { return QVariant(toQt(run.header.when)); },
         .text = [](Run run) { return localTime(run.header.when); },
         .icon = [](Run run) { return run.pinned ? QString("pin") : QString(); },
         .hint = [](Run run) { return "Run " + toQt(run.header.id) + "\n" + toQt(run.header.command); }},
        {.title = "What", .raw = [](Run run) { return QVariant(toQt(run.header.kind)); }},
        {.title = "Model", .raw = [](Run run) { return QVariant(modelText(run.header)); }},
        {.title = "Device", .raw = [](Run run) { return QVariant(toQt(run.header.device)); }},
        {.title = "Type", .raw = [](Run run) { return QVariant(toQt(run.header.dtype)); }},
        {.title = "Result", .raw = [](Run run) { return QVariant(toQt(headlineOf(run.header))); },
         .hint = [](Run run) { return toQt(headlineOf(run.header)); }},
        {.title = "Rows", .numeric = true, .raw = [](Run run) { return QVariant(qlonglong(run.rows)); },
         .text = [](Run run) { return number(double(run.rows), 0); }},
        {.title = "Status", .raw = [](Run run) { return QVariant(toQt(toString(run.header.status))); },
         .tone = [](Run run) { return statusTone(run.header.status); },
         .icon = [](Run run) { return statusIcon(run.header.status); },
         .hint = [](Run run) { return toQt(run.header.reason); }},
        {.title = "Tags", .raw = [](Run run) { return QVariant(tagsText(run)); }},
        {.title = "Note", .raw = [](Run run) { return QVariant(toQt(run.note)); },
         .hint = [](Run run) { return toQt(run.note); }},
    };
}

}  // namespace kernelscope::ui
