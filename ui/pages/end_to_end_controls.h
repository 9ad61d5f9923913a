#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <QWidget>

#include "core/records/result.h"

class QLineEdit;
class QSpinBox;

namespace kernelscope::ui {

class ModelLine;
class Segmented;
class Settings;

/// The End to end page's line: Gain or Context, and the settings of the one that is chosen.
class EndToEndControls : public QWidget {
    Q_OBJECT
public:
    EndToEndControls(const ModelLine& model, Settings& settings, QWidget* parent = nullptr);

    /// "e2e" or "context".
    [[nodiscard]] std::string kind() const;
    void setKind(const std::string& kind);
    /// As job.start takes them. `patch`: "op=variant,..." of the ticked operators, empty: the best of each.
    [[nodiscard]] nlohmann::json settings(const std::string& patch) const;
    [[nodiscard]] std::optional<Error> problem() const;  ///< what is wrong with the lists, if anything
    void show(const nlohmann::json& settings);
    void remember() const;
    void setSettingsEnabled(bool enabled);  ///< the tabs stay
    [[nodiscard]] QSpinBox* newTokens() const { return m_newTokens; }
    [[nodiscard]] QSpinBox* runs() const { return m_runs; }
    [[nodiscard]] QLineEdit* contexts() const { return m_contexts; }
    [[nodiscard]] QLineEdit* batches() const { return m_batches; }
    [[nodiscard]] Segmented* tabs() const { return m_tabs; }

signals:
    void kindChanged();

private:
    QWidget* makeGain(const ModelLine& model);
    QWidget* makeContext();

    Settings& m_settings;
    Segmented* m_tabs;
    QWidget* m_gain;
    QWidget* m_context;
    QSpinBox* m_newTokens = nullptr;
    QSpinBox* m_prompt = nullptr;
    QSpinBox* m_runs = nullptr;
    Segmented* m_mode = nullptr;
    QLineEdit* m_contexts = nullptr;
    QLineEdit* m_batches = nullptr;
    Segmented* m_kernels = nullptr;
};

}  // namespace kernelscope::ui
