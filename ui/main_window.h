#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <QElapsedTimer>
#include <QMainWindow>

#include "core/client/export.h"
#include "core/client/session.h"
#include "ui/services/run_rows.h"
#include "ui/services/services.h"
#include "ui/services/settings.h"

class QAction;
class QActionGroup;
class QMenu;
class QStackedWidget;
class QToolButton;

namespace kernelscope::ui {

class Chart;
class DoctorPage;
class EndToEndPage;
class EngineAdapter;
class EngineBar;
class EngineLog;
class HubBar;
class KernelsPage;
class ModelLine;
class Page;
class ProfilePage;
class Rail;
class RunsPage;
class StatusStrip;
class SummaryPage;

struct WindowOptions {
    QString settingsFile;          ///< empty: the platform's place
    std::filesystem::path store;   ///< empty: the default store
    QString engine;                ///< how to start the engine; empty: settings, else the one beside the program
    QString open;                  ///< what to begin with: a model folder, or a file with a run; may be empty
};

/// The one window. Nothing heavy before it is painted: store, library and engine come right after.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(WindowOptions options, QWidget* parent = nullptr);
    ~MainWindow() override;

    [[nodiscard]] ProfilePage* profilePage() const { return m_profile; }
    [[nodiscard]] DoctorPage* doctorPage() const { return m_doctor; }
    [[nodiscard]] SummaryPage* summaryPage() const { return m_summary; }
    [[nodiscard]] EndToEndPage* endToEndPage() const { return m_endToEnd; }
    [[nodiscard]] KernelsPage* kernelsPage() const { return m_kernels; }
    [[nodiscard]] RunsPage* runsPage() const { return m_runs; }
    [[nodiscard]] ModelLine* modelLine() const { return m_modelLine; }
    [[nodiscard]] Rail* rail() const { return m_rail; }
    [[nodiscard]] EngineBar* engineBar() const { return m_engineBar; }
    [[nodiscard]] EngineLog* engineLog() const { return m_engineLog; }
    [[nodiscard]] HubBar* hubBar() const { return m_hubBar; }
    [[nodiscard]] QToolButton* exportButton() const { return m_export; }
    [[nodiscard]] const Services& services() const { return m_services; }
    [[nodiscard]] Page* currentPage() const;

    void showPage(const QString& title);
    void openModelFolder(const QString& folder);
    void openRun(const QString& id);
    /// A model folder, a file of one, or a run in a file (our JSON, a torch profiler's trace), which joins the store.
    void openPath(const QString& path);
    void setScheme(Scheme scheme);
    void setZoom(double zoom);

signals:
    void firstPainted();
    void servicesStarted();

protected:
    void paintEvent(QPaintEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    // main_window.cpp: what it is made of
    void addPage(Page* page);
    void showPageAt(int index);
    void startServices();
    void startEngine();
    void useEngine(const QString& command);
    void runOpened(const SavedRunPtr& run);
    void updateActions();
    // window_machines.cpp: engines elsewhere
    [[nodiscard]] QString engineText() const;
    void askMachine();
    void askRemoteFolder();
    void showMachines();
    // window_actions.cpp: menus and shortcuts
    void makeMenus();
    void fillRecentMenu();
    void fillRecentRuns();
    void showShortcuts();
    void showAbout();
    // window_models.cpp: models of the hub and its cache
    void connectModels(EngineAdapter* engine);
    void listModels();
    void getModel(const QString& id);
    // window_files.cpp: file dialogs and what they lead to
    void askModelFolder();
    void askRunFile();
    void askPrint();
    void askExport(const QString& suffix);
    void askExportOf(const RunRows& run, const QString& suffix);
    void askExportSaved(const QString& id);
    void askExportComparison(const std::function<std::string(ExportFormat)>& document, const QString& suffix = "csv");
    void askSavePicture(Chart* chart);
    void report(const Result<void>& result);

    WindowOptions m_options;
    Settings m_settings;
    std::unique_ptr<Store> m_store;
    Services m_services;
    std::vector<Page*> m_pages;
    ModelLine* m_modelLine;
    Rail* m_rail;
    QStackedWidget* m_stack;
    StatusStrip* m_strip;
    EngineBar* m_engineBar;
    EngineLog* m_engineLog;
    HubBar* m_hubBar;
    QToolButton* m_export;
    ProfilePage* m_profile = nullptr;
    DoctorPage* m_doctor = nullptr;
    SummaryPage* m_summary = nullptr;
    EndToEndPage* m_endToEnd = nullptr;
    KernelsPage* m_kernels = nullptr;
    RunsPage* m_runs = nullptr;
    QAction* m_runAction = nullptr;
    QAction* m_cancelAction = nullptr;
    QAction* m_exportCsv = nullptr;
    QAction* m_exportJson = nullptr;
    QAction* m_exportReport = nullptr;
    QAction* m_exportTrace = nullptr;
    QAction* m_savePicture = nullptr;
    QAction* m_print = nullptr;
    QMenu* m_recentMenu = nullptr;
    QMenu* m_recentRuns = nullptr;
    bool m_painted = false;
};

}  // namespace kernelscope::ui
