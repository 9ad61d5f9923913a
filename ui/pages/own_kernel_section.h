#pragma once

#include <nlohmann/json.hpp>

#include <QWidget>

#include "core/records/protocol.h"
#include "core/records/run.h"
#include "ui/services/services.h"

class QPushButton;

namespace kernelscope::ui {

class OwnKernel;
class OwnKernelCard;
class Settings;

/// What the Kernels page has for a kernel of the user's own: the button that opens one, the card that shows it, and the loop from a save to figures.
class OwnKernelSection : public QWidget {
    Q_OBJECT
public:
    explicit OwnKernelSection(Settings& settings, QWidget* parent = nullptr);

    void attach(const Services& services);
    void open(const QString& file);
    /// Asks for a file.
    void askFile();
    [[nodiscard]] bool isOpen() const;
    /// Adds the kernel to a job's settings, where one is open.
    void addTo(nlohmann::json& settings) const;
    /// True when the card has said it: a kernel that does not compile is no matter of the model.
    bool showError(const Error& error);

    /// Can a file of this name be opened here?
    static bool opens(const QString& file);

    [[nodiscard]] QPushButton* openButton() const { return m_open; }  ///< to be put among the page's controls
    [[nodiscard]] OwnKernelCard* card() const { return m_card; }
    [[nodiscard]] OwnKernel* kernel() const { return m_kernel; }

signals:
    void runRequested();     ///< a version has been saved: measure it
    void cancelRequested();  ///< the version that is being measured is out of date
    void openRunRequested(const QString& id);
    void gainRequested();
    /// It compiles and can be put into a model: `operators` are those that it serves.
    void kernelReady(const QString& file, const QString& variant, const QStringList& operators);

private:
    void onSaved();
    void onFinished(const RunHeader& run, const Finished& finished);
    [[nodiscard]] bool isOurs(const RunHeader& run) const;

    Settings& m_settings;
    Services m_services;
    OwnKernel* m_kernel;
    OwnKernelCard* m_card;
    QPushButton* m_open;
    bool m_measuring = false;  ///< the job that runs is one of this kernel
    bool m_waiting = false;    ///< a version waits for the end of the job that runs
};

}  // namespace kernelscope::ui
