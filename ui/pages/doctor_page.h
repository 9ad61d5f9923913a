#pragma once

#include <optional>

#include "core/client/doctor.h"
#include "ui/models/column_table.h"
#include "ui/pages/page.h"

class QLabel;

namespace kernelscope::ui {

class Banner;
class Card;
class TableView;

using DoctorTable = ColumnTable<DoctorRow>;
std::vector<ColumnSpec<DoctorRow>> doctorColumns();
/// Each check as lines of text, for a report to somebody else.
QString doctorText(const std::vector<DoctorRow>& rows);

/// What works on this machine, and what to do about the rest.
class DoctorPage : public Page {
    Q_OBJECT
public:
    explicit DoctorPage(QWidget* parent = nullptr);

    [[nodiscard]] QString title() const override { return "Doctor"; }
    [[nodiscard]] QString iconName() const override { return "doctor"; }
    void attach(const Services& services) override;
    void engineReplaced(const Services& services) override;
    void entered() override;
    [[nodiscard]] QString runLabel() const override { return "Check again"; }
    void run() override;
    void showError(const Error& error) override;

    [[nodiscard]] DoctorTable* model() const { return m_model; }
    [[nodiscard]] QLabel* headline() const { return m_headline; }

signals:
    /// What the engine found on its machine.
    void examined(const std::vector<kernelscope::DoctorRow>& checks);

private:
    void assemble();

    Services m_services;
    std::optional<Telemetry> m_telemetry;
    std::vector<DoctorRow> m_fromEngine;
    QString m_why;  ///< why the engine has gone
    QLabel* m_headline;
    Banner* m_banner;
    Card* m_card;
    DoctorTable* m_model;
    TableView* m_table;
    QLabel* m_detail;
    bool m_asked = false;
};

}  // namespace kernelscope::ui
