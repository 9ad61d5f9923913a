#include "ui/pages/kernel_details.h"

#include <QLabel>

#include "ui/charts/histogram.h"
#include "ui/models/kernel_summary.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {

QString cellCommand(const SweepRow& row) {
    const QString variants = row.variant == "native" ? QString("native") : "native," + toQt(row.variant);
    return QString("kernelscope-cli sweep --op %1 --variant %2 --dtypes %3 --hidden %4 --rows %5 --cache %6")
        .arg(toQt(row.op), variants, toQt(row.dtype)).arg(qlonglong(row.hidden)).arg(qlonglong(row.rows)).arg(toQt(row.cache));
}

KernelDetails::KernelDetails(QWidget* parent) : Card("Samples", parent), m_histogram(new Histogram(this)), m_facts(new QLabel(this)), m_command(new QLabel(this)) {
    setBody(m_histogram);
    m_facts->setProperty("role", "muted");
    m_facts->setWordWrap(true);
    m_command->setWordWrap(true);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_command->setAccessibleName("Command that measures this cell again");
    setBody(m_facts, 0);
    setBody(m_command, 0);
    setFixedWidth(space(this, 4 * 24));
    hide();
}

void KernelDetails::show(const SweepRow& row) {
    setTitle(QString("%1 %2").arg(toQt(row.op), toQt(row.variant)));
    setHint(QString("%1 × %2, %3, %4").arg(row.hidden).arg(row.rows).arg(toQt(row.dtype), toQt(row.cache)));
    m_facts->setText(row.reason.empty() ? statusLook(row.status).text : statusLook(row.status).text + ": " + toQt(row.reason));
    m_command->setText(cellCommand(row));
    QWidget::show();
}

void KernelDetails::setSamples(const std::vector<SampleRow>& samples) {
    std::vector<double> values;
    for (const SampleRow& sample : samples) {
        if (sample.metric == "device_us") values.push_back(sample.value);
    }
    m_histogram->setSamples(std::move(values));
}

QString KernelDetails::command() const { return m_command->text(); }

}  // namespace kernelscope::ui
