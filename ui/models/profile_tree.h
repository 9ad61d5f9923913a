#pragma once
// A profile's rows as a tree: flat by type, block and kernel; by path at level leaf, inner nodes summed from their leaves.

#include <deque>
#include <vector>

#include <QAbstractItemModel>

#include "core/records/rows.h"

namespace kernelscope::ui {

class ProfileTree : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { kName, kCalls, kKernels, kSpan, kSelfSpan, kGpu, kGap, kSpanShare, kSpanInterval, kGpuShare, kNote, kColumns };

    explicit ProfileTree(QObject* parent = nullptr);

    /// Rows in order. Where names and order are those of before, cells change in place and the view keeps its state.
    void setRows(std::vector<ProfileRow> rows);
    [[nodiscard]] const ProfileRow* row(const QModelIndex& index) const;  ///< summed for inner nodes; null for none

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Node {
        Node* parent = nullptr;
        int place = 0;               // among its siblings
        std::vector<Node*> children;
        QString label;
        int source = -1;             // index of its row, -1 for an inner node without one
        ProfileRow shown;            // own row, or the sum of what is inside
    };
    void build();
    void fill();
    void sum(Node& node);
    [[nodiscard]] QVariant raw(const ProfileRow& row, int column) const;
    [[nodiscard]] QString text(const Node& node, int column) const;

    std::vector<ProfileRow> m_rows;
    std::deque<Node> m_nodes;  // stable addresses; the first is the root
};

/// "unattributed", "total" and "profiler tax" close a phase and are no modules.
bool isClosingRow(const ProfileRow& row);

}  // namespace kernelscope::ui
