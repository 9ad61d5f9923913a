#pragma once

#include "ui/models/kernel_tables.h"
#include "ui/pages/job_page.h"


namespace kernelscope::ui {

class Card;
class KernelCharts;
class KernelDetails;
class KernelsControls;
class OwnKernelSection;
class TableView;

/// Is a kernel right, and how fast, over shapes.
class KernelsPage : public JobPage {
    Q_OBJECT
public:
    KernelsPage(const ModelLine& model, Settings& settings, QWidget* parent = nullptr);

    [[nodiscard]] QString title() const override { return "Kernels"; }
    [[nodiscard]] QString iconName() const override { return "kernels"; }
    [[nodiscard]] QList<Chart*> charts() const override;
    [[nodiscard]] bool shows(const std::string& kind) const override { return kind == "validate" || kind == "sweep"; }
    void run() override;
    void validate();
    void setOperator(const QString& op);
    void attach(const Services& services) override;
    void engineReplaced(const Services& services) override;
    void showError(const Error& error) override;
    /// A kernel of the user's own: opened, watched, and measured at every save.
    void openKernel(const QString& file);
    [[nodiscard]] OwnKernelSection* ownKernel() const { return m_own; }

    [[nodiscard]] KernelsControls* controls() const { return m_controls; }
    [[nodiscard]] KernelCharts* kernelCharts() const { return m_charts; }
    [[nodiscard]] TableView* table() const { return m_table; }
    [[nodiscard]] KernelDetails* details() const { return m_details; }

protected:
    [[nodiscard]] JobRequest request() const override;
    void renderCharts(const RunRows& run, bool live) override;
    void renderTables(const RunRows& run, bool live) override;
    [[nodiscard]] QString headlineOf(const RunRows& run) const override;
    [[nodiscard]] QString sublineOf(const RunRows& run, bool live) const override;
    void settingsShown(const RunRows& run) override;
    void progressShown(const Progress& progress) override;
    void setControlsEnabled(bool enabled) override;

private:
    QWidget* makeBody();
    void drawCharts(const RunRows& run);
    void chooseCell(const std::string& key);
    void runAs(const std::string& kind);

    Settings& m_settings;
    KernelsControls* m_controls;
    OwnKernelSection* m_own;
    KernelCharts* m_charts;
    Card* m_tableCard;
    SweepTable* m_sweepModel;
    ValidationTable* m_validationModel;
    TableView* m_table;
    KernelDetails* m_details;
    std::string m_kind = "sweep";
    std::string m_tableKind;
    QElapsedTimer m_sinceCharts;
    bool m_chartsBehind = false;  ///< rows have come since they were drawn
};

}  // namespace kernelscope::ui
