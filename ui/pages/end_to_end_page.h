#pragma once

#include "ui/models/e2e_summary.h"
#include "ui/pages/job_page.h"

class QLineEdit;
class QSpinBox;
class QStackedWidget;

namespace kernelscope::ui {

class Card;
class ContextPanel;
class EndToEndControls;
class PatchList;
class Segmented;
class TableView;
class TokenView;
class ValueBars;
class Waterfall;

/// What the kernels buy in a whole generate() call.
class EndToEndPage : public JobPage {
    Q_OBJECT
public:
    EndToEndPage(const ModelLine& model, Settings& settings, QWidget* parent = nullptr);

    [[nodiscard]] QString title() const override { return "End to end"; }
    [[nodiscard]] QString iconName() const override { return "end_to_end"; }
    [[nodiscard]] QList<Chart*> charts() const override;
    [[nodiscard]] bool shows(const std::string& kind) const override { return kind == "e2e" || kind == "context"; }
    void run() override;
    /// A kernel of the user's own, open on the Kernels page: a variant of the operators that it serves. One that is new is ticked, alone: what
    /// does it buy?
    void offerKernel(const QString& file, const QString& variant, const QStringList& operators);

    [[nodiscard]] EndToEndControls* controls() const { return m_controls; }
    [[nodiscard]] ContextPanel* contextPanel() const { return m_context; }
    [[nodiscard]] PatchList* patches() const { return m_patches; }
    [[nodiscard]] ValueBars* decodeBars() const { return m_decode; }
    [[nodiscard]] ValueBars* firstTokenBars() const { return m_first; }
    [[nodiscard]] Waterfall* waterfall() const { return m_waterfall; }

protected:
    [[nodiscard]] JobRequest request() const override;
    void renderCharts(const RunRows& run, bool live) override;
    void renderTables(const RunRows& run, bool live) override;
    [[nodiscard]] QString headlineOf(const RunRows& run) const override;
    [[nodiscard]] QString sublineOf(const RunRows& run, bool live) const override;
    void settingsShown(const RunRows& run) override;
    void setControlsEnabled(bool enabled) override;

private:
    QWidget* makeGain();
    void renderGain(const RunRows& run);
    void askForIntervals(const RunRows& run);

    Settings& m_settings;
    EndToEndControls* m_controls = nullptr;
    QStackedWidget* m_bodies = nullptr;
    QWidget* m_gain = nullptr;
    ContextPanel* m_context = nullptr;
    PatchList* m_patches = nullptr;
    ValueBars* m_first = nullptr;
    ValueBars* m_decode = nullptr;
    ValueBars* m_rate = nullptr;
    Waterfall* m_waterfall = nullptr;
    Card* m_gainCard = nullptr;
    Card* m_tokenCard = nullptr;
    TokenView* m_tokens = nullptr;
    EndToEndTable* m_model = nullptr;
    TableView* m_table = nullptr;
    EndToEndIntervals m_intervals;   ///< of the run m_intervalsOf, as far as its samples have come
    std::string m_intervalsOf;
    QString m_kernelFile, m_kernelVariant;  ///< of the user's own; empty: none
};

}  // namespace kernelscope::ui
