#pragma once

#include <vector>

#include "core/records/kernel_rows.h"
#include "core/records/rows.h"
#include "ui/widgets/card.h"

class QLabel;

namespace kernelscope::ui {

class Histogram;

/// One cell of a sweep: its samples, and the command that measures it again.
class KernelDetails : public Card {
    Q_OBJECT
public:
    explicit KernelDetails(QWidget* parent = nullptr);
    void show(const SweepRow& row);
    /// Those of the row's device time.
    void setSamples(const std::vector<SampleRow>& samples);
    [[nodiscard]] Histogram* histogram() const { return m_histogram; }
    [[nodiscard]] QString command() const;

private:
    Histogram* m_histogram;
    QLabel* m_facts;
    QLabel* m_command;
};

/// The command line of this cell alone.
QString cellCommand(const SweepRow& row);

}  // namespace kernelscope::ui
