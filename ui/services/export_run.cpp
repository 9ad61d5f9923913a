#include "ui/services/export_run.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSaveFile>

#include "core/records/csv.h"
#include "core/records/rows.h"
#include "ui/text.h"

namespace kernelscope::ui {

Result<void> exportRun(const RunRows& run, const QString& file) {
    const RowType* type = findRowType(run.header().kind);
    if (!type) return makeError(ErrorCode::badInput, "A run of kind \"" + run.header().kind + "\" has no table to export.");
    std::string text;
    if (QFileInfo(file).suffix().compare("json", Qt::CaseInsensitive) == 0) {
        nlohmann::json document = toJson(run.header());
        document["rows"] = nlohmann::json::array();
        for (const RowRecord& record : run.records()) document["rows"].push_back(toJson(*type, record.values));
        text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    } else {
        text = csvHeader(*type);
        for (const RowRecord& record : run.records()) text += csvLine(record.values);
    }
    return writeFile(file, text);
}

Result<void> writeFile(const QString& file, const std::string& text) {
    const QFileInfo info(file);
    QSaveFile out(file);
    if (!info.absoluteDir().mkpath(".") || !out.open(QIODevice::WriteOnly) ||
        out.write(text.data(), qint64(text.size())) != qint64(text.size()) || !out.commit()) {
        return makeError(ErrorCode::environment, fromQt(file + " could not be written: " + out.errorString()),
                         "Choose another folder, or free some space.");
    }
    return {};
}

QString suggestedFileName(const RunHeader& run, const QString& suffix) {
    QString model = QFileInfo(toQt(run.model)).fileName().toLower();
    model.replace(QRegularExpression("[^a-z0-9.]+"), "-");
    QString when = toQt(run.when).left(16);
    when.remove('-').remove(':').replace('T', '-');
    QStringList parts{toQt(run.kind)};
    for (const QString& part : {model, when}) {
        if (!part.isEmpty()) parts << part;
    }
    return parts.join('-') + "." + suffix;
}

}  // namespace kernelscope::ui
