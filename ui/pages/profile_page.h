#pragma once

#include "core/client/doctor.h"
#include "core/records/rows.h"
#include "ui/models/cross_check_table.h"
#include "ui/models/profile_summary.h"
#include "ui/pages/job_page.h"

namespace kernelscope::ui {

class ProfileCharts;
class ProfileControls;
class ProfileTree;
class Segmented;
class ShareBars;
class Timeline;
class TableView;

/// Where the time goes.
class ProfilePage : public JobPage {
    Q_OBJECT
public:
    explicit ProfilePage(const ModelLine& model, Settings& settings, QWidget* parent = nullptr);

    [[nodiscard]] QString title() const override { return "Profile"; }
    [[nodiscard]] QString iconName() const override { return "profile"; }
    [[nodiscard]] QList<Chart*> charts() const override;
    [[nodiscard]] bool shows(const std::string& kind) const override { return kind == "profile"; }

    [[nodiscard]] ShareBars* bars() const;
    [[nodiscard]] ProfileCharts* chartsOfProfile() const { return m_charts; }
    [[nodiscard]] TableView* table() const { return m_table; }
    [[nodiscard]] ProfileTree* tree() const { return m_tree; }
    [[nodiscard]] ProfileControls* controls() const { return m_controls; }
    [[nodiscard]] TableView* crossCheckTable() const { return m_checkView; }
    [[nodiscard]] Segmented* tables() const { return m_tables; }

    /// Doctor has tried the driver's trace: where it refused, the cross-check says so before anybody waits for it.
    void heedDoctor(const std::vector<DoctorRow>& checks);

signals:
    void operatorRequested(const QString& op);

protected:
    [[nodiscard]] JobRequest request() const override;
    void renderCharts(const RunRows& run, bool live) override;
    void renderTables(const RunRows& run, bool live) override;
    [[nodiscard]] QString headlineOf(const RunRows& run) const override;
    [[nodiscard]] QString sublineOf(const RunRows& run, bool live) const override;
    void settingsShown(const RunRows& run) override;
    void setControlsEnabled(bool enabled) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeBody();
    QWidget* makeTables(QWidget* parent);
    void showCrossCheck(const RunRows& run, bool live);
    void lightFromTree(const QModelIndex& index);
    void select(const ProfileSelection& selection);
    void showColumns(const std::vector<ProfileRow>& rows);
    [[nodiscard]] std::vector<ProfileRow> phaseRows(const RunRows& run) const;

    Settings& m_settings;
    ProfileControls* m_controls;
    ProfileCharts* m_charts;
    ProfileTree* m_tree;
    TableView* m_table;
    QPushButton* m_chip;
    CrossCheckTable* m_check;
    TableView* m_checkView;
    Segmented* m_tables;
    ProfileSelection m_selection;
    QString m_device;
};

}  // namespace kernelscope::ui
