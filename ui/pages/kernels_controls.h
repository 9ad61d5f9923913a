#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <QWidget>

#include "core/records/result.h"

class QLineEdit;
class QPushButton;

namespace kernelscope::ui {

class MultiChoice;
class Segmented;
class Settings;

/// Shapes, types and cache of a sweep in one line, with Validate as the first of the two steps.
class KernelsControls : public QWidget {
    Q_OBJECT
public:
    explicit KernelsControls(QWidget* parent = nullptr);

    /// As job.start takes them, for "validate" or "sweep".
    [[nodiscard]] nlohmann::json settings(const std::string& kind) const;
    /// What is wrong with the lists, if anything.
    [[nodiscard]] std::optional<Error> problem() const;
    void show(const nlohmann::json& settings);
    void restore(const Settings& settings);
    void remember(Settings& settings) const;
    void setEditable(bool editable);
    [[nodiscard]] QPushButton* validateButton() const { return m_validate; }
    [[nodiscard]] QLineEdit* hidden() const { return m_hidden; }
    [[nodiscard]] QLineEdit* rows() const { return m_rows; }
    [[nodiscard]] MultiChoice* operators() const { return m_operators; }
    [[nodiscard]] MultiChoice* variants() const { return m_variants; }
    [[nodiscard]] MultiChoice* types() const { return m_types; }

signals:
    void validateRequested();

private:
    MultiChoice* m_operators;
    MultiChoice* m_variants;
    MultiChoice* m_types;
    QLineEdit* m_hidden;
    QLineEdit* m_rows;
    Segmented* m_cache;
    QPushButton* m_validate;
};

}  // namespace kernelscope::ui
