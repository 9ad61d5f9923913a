#pragma once

#include <nlohmann/json.hpp>

#include "core/client/kernel_versions.h"
#include "ui/widgets/card.h"

class QLabel;
class QPushButton;
class QTextBrowser;

namespace kernelscope::ui {

class VersionStrip;

/// A kernel of the user's own at the top of the page: its versions, what the chosen one changed, what it needs of the GPU, and what the compiler says.
class OwnKernelCard : public Card {
    Q_OBJECT
public:
    explicit OwnKernelCard(QWidget* parent = nullptr);

    void setFile(const QString& file);
    void setVersions(const std::vector<KernelVersion>& versions);
    /// `own_kernel` of a run's environment: resources and the compiler's warnings.
    void setFacts(const nlohmann::json& ownKernel);
    /// Compiler's words; file:line in them is a link. Empty: nothing to say.
    void setLog(const QString& log);
    void setBusy(const QString& words);

    [[nodiscard]] VersionStrip* strip() const { return m_strip; }
    [[nodiscard]] QTextBrowser* log() const { return m_log; }
    [[nodiscard]] QLabel* changes() const { return m_changes; }
    [[nodiscard]] QLabel* resources() const { return m_resources; }

    [[nodiscard]] QPushButton* gainButton() const { return m_gain; }

signals:
    void gainRequested();    ///< what the kernel buys in generate()
    void editRequested(const QString& file, int line);
    void closeRequested();
    void runRequested(const QString& id);  ///< the chosen version's run

private:
    void showChosen();

    QString m_file;
    std::vector<KernelVersion> m_versions;
    VersionStrip* m_strip;
    QPushButton* m_gain;
    QLabel* m_changes;
    QLabel* m_resources;
    QTextBrowser* m_log;
};

/// A compiler's log as HTML whose file:line are links kernel:LINE#FILE; everything else is escaped.
QString linkedLog(const QString& log);
/// "float16: 40 registers, 128 bytes of shared memory, no spills; 8 blocks of 256 threads, 100 % of the threads; limited by ...", a line a type,
/// equal types joined.
QString resourceWords(const nlohmann::json& resources);

}  // namespace kernelscope::ui
