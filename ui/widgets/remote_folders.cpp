#include "ui/widgets/remote_folders.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/services/engine_adapter.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {
constexpr int kName = Qt::UserRole, kIsModel = Qt::UserRole + 1;
}

RemoteFolders::RemoteFolders(EngineAdapter& engine, const QString& machine, const QString& folder, QWidget* parent)
    : QDialog(parent), m_engine(engine), m_path(new QLineEdit(this)), m_up(new QPushButton("Up", this)), m_list(new QListWidget(this)), m_message(new QLabel(this)) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle("Open a model folder on " + machine);
    setModal(true);
    auto* column = new QVBoxLayout(this);
    auto* row = new QHBoxLayout;
    auto* caption = new QLabel("Folder", this);
    caption->setBuddy(m_path);
    m_path->setAccessibleName("Folder");
    m_up->setAutoDefault(false);
    m_list->setAccessibleName("Folders");
    m_message->setWordWrap(true);
    m_message->setProperty("role", "muted");
    row->addWidget(caption);
    row->addWidget(m_path, 1);
    row->addWidget(m_up);
    column->addLayout(row);
    column->addWidget(m_list, 1);
    column->addWidget(m_message);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_open = buttons->addButton("Open model", QDialogButtonBox::AcceptRole);
    m_open->setProperty("role", "primary");
    for (QAbstractButton* button : buttons->buttons())
        if (auto* push = qobject_cast<QPushButton*>(button)) push->setAutoDefault(false);  // Return in the field goes to that folder
    column->addWidget(buttons);
    resize(fontMetrics().averageCharWidth() * 80, fontMetrics().height() * 26);

    connect(m_path, &QLineEdit::returnPressed, this, [this] { show(m_path->text().trimmed()); });
    connect(m_up, &QPushButton::clicked, this, [this] { show(m_parent); });
    connect(m_list, &QListWidget::itemActivated, this, &RemoteFolders::enter);
    connect(m_list, &QListWidget::currentItemChanged, this, &RemoteFolders::selected);
    connect(m_open, &QPushButton::clicked, this, &RemoteFolders::choose);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    selected();
    show(folder);
}

void RemoteFolders::show(const QString& folder) {
    m_message->setText("Asking for its folders…");
    m_list->setEnabled(false);
    m_engine.call("folder.list", {{"path", fromQt(folder)}}, this, [this](const Result<nlohmann::json>& answer) {
        m_list->setEnabled(true);
        if (!answer) {
            m_message->setText(toQt(answer.error().message));
            return;
        }
        const auto text = [](const nlohmann::json& object, const char* key) {
            const auto found = object.find(key);
            return found != object.end() && found->is_string() ? toQt(found->get<std::string>()) : QString();
        };
        const auto yes = [](const nlohmann::json& object, const char* key) {
            const auto found = object.find(key);
            return found != object.end() && found->is_boolean() && found->get<bool>();
        };
        if (!answer->is_object()) return;
        m_folder = text(*answer, "path");
        m_parent = text(*answer, "parent");
        m_folderIsModel = yes(*answer, "model");
        m_path->setText(m_folder);
        m_up->setEnabled(!m_parent.isEmpty());
        m_list->clear();
        int models = 0;
        if (const auto folders = answer->find("folders"); folders != answer->end() && folders->is_array()) {
            for (const auto& entry : *folders) {
                if (!entry.is_object()) continue;
                const bool model = yes(entry, "model");
                models += model;
                auto* item = new QListWidgetItem(text(entry, "name") + (model ? "   (model)" : ""), m_list);
                item->setData(kName, text(entry, "name"));
                item->setData(kIsModel, model);
                if (model) {
                    QFont bold = m_list->font();
                    bold.setBold(true);
                    item->setFont(bold);
                }
            }
        }
        if (m_folderIsModel) m_message->setText("This folder is a model.");
        else if (m_list->count() == 0) m_message->setText("There are no folders here.");
        else m_message->setText(models ? QString("%1 of these %2 a model.").arg(models).arg(models == 1 ? "is" : "are") : QString("No model directly in here: open a folder."));
        selected();
    });
}

void RemoteFolders::enter(QListWidgetItem* item) {
    if (item->data(kIsModel).toBool()) choose();
    else show(m_folder + (m_folder.endsWith('/') ? "" : "/") + item->data(kName).toString());
}

void RemoteFolders::choose() {
    const QListWidgetItem* item = m_list->currentItem();
    QString folder = m_folder;
    if (item && item->data(kIsModel).toBool()) folder += (m_folder.endsWith('/') ? "" : "/") + item->data(kName).toString();
    else if (!m_folderIsModel) return;
    emit chosen(folder);
    accept();
}

void RemoteFolders::selected() {
    const QListWidgetItem* item = m_list->currentItem();
    m_open->setEnabled(m_folderIsModel || (item && item->data(kIsModel).toBool()));
}

}  // namespace kernelscope::ui
