#pragma once

#include "ui/models/e2e_summary.h"
#include "ui/pages/job_page.h"

class QSpinBox;

namespace kernelscope::ui {

class Card;
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
    [[nodiscard]] bool shows(const std::string& kind) const override { return kind == "e2e"; }
    void run() override;

    [[nodiscard]] QSpinBox* newTokens() const { return m_newTokens; }
    [[nodiscard]] QSpinBox* runs() const { return m_runs; }
    [[nodiscard]] PatchList* patches() const { return m_patches; }
    [[nodiscard]] ValueBars* decodeBars() const { return m_decode; }
    [[nodiscard]] Waterfall* waterfall() const { return m_waterfall; }

protected:
    [[nodiscard]] JobRequest request() const override;
    void renderCharts(const RunRows& run, bool live) override;
    void renderTables(const RunRows& run, bool live) override;
    [[nodiscard]] QString headlineOf(const RunRows& run) const override;
    [[nodiscard]] QString sublineOf(const RunRows& run, bool live) const override;
    void settingsShown(const RunRows& run) override;

private:
    QWidget* makeControls();
    QWidget* makeBody();

    Settings& m_settings;
    QSpinBox* m_newTokens = nullptr;
    QSpinBox* m_prompt = nullptr;
    QSpinBox* m_runs = nullptr;
    Segmented* m_mode = nullptr;
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
};

}  // namespace kernelscope::ui
