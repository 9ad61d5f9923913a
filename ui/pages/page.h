#pragma once

#include <functional>

#include <QList>
#include <QWidget>

#include "core/client/export.h"
#include "ui/charts/chart.h"
#include "ui/services/run_rows.h"
#include "ui/services/services.h"

namespace kernelscope::ui {

/// A page of the rail. It exists from the start and gets its services after the first paint.
class Page : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    [[nodiscard]] virtual QString title() const = 0;
    [[nodiscard]] virtual QString iconName() const = 0;

    virtual void attach(const Services& services) = 0;
    /// Another engine took the place of the old one.
    virtual void engineReplaced(const Services& services) { Q_UNUSED(services); }
    /// The page has come to the front.
    virtual void entered() {}

    /// What Ctrl+R does here; empty: nothing.
    [[nodiscard]] virtual QString runLabel() const { return {}; }
    virtual void run() {}
    /// The run that Export writes, or null.
    [[nodiscard]] virtual const RunRows* exportable() const { return nullptr; }
    [[nodiscard]] virtual QList<Chart*> charts() const { return {}; }
    /// The comparison that the page shows, as a document; empty where it shows none.
    [[nodiscard]] virtual std::function<std::string(ExportFormat)> comparisonShown() const { return {}; }

    /// Whether a saved run of this kind opens here.
    [[nodiscard]] virtual bool shows(const std::string& kind) const { Q_UNUSED(kind); return false; }
    virtual void showSaved(const SavedRunPtr& run) { Q_UNUSED(run); }

    virtual void showError(const Error& error) = 0;

signals:
    void exportableChanged();
    void exportRequested();
    void savePictureRequested(kernelscope::ui::Chart* chart);
    void engineSettingsRequested();
    void modelFolderRequested();
    void openRunRequested(const QString& id);
    void pageRequested(const QString& title);
};

}  // namespace kernelscope::ui
