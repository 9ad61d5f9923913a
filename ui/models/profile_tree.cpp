#include "ui/models/profile_tree.h"

#include <algorithm>
#include <map>

#include <QColor>

#include "core/records/verdict.h"
#include "ui/models/roles.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

struct Heading { const char* title; const char* toolTip; };
constexpr Heading kHeadings[] = {
    {"Module", "Module type, block, leaf or kernel"},
    {"Calls", "Calls in one pass"},
    {"Kernels", "GPU kernels in one pass"},
    {"Span µs", "Wall-clock time between its borders, launch gaps included; median of the passes"},
    {"Self µs", "Span less that of the modules inside"},
    {"GPU µs", "What the GPU needs when nothing makes it wait"},
    {"Gap µs", "Span less GPU time: waiting for launches"},
    {"Share of span", "Self time over the whole pass, launch gaps included; all passes together"},
    {"95 % interval", "Of the share, by bootstrap over passes"},
    {"Share of GPU", "Share of the GPU's own time"},
    {"Note", ""},
};

template <typename T>
void add(std::optional<T>& sum, const std::optional<T>& value) {
    if (value) sum = sum.value_or(T{}) + *value;
}

// "model.layers.3.self_attn.q_proj" stands under "layers.3" and "self_attn": a level for every digit would only cost clicks.
QStringList pathOf(const QString& name) {
    QStringList parts = name.split('.');
    if (parts.size() > 1 && parts.front() == "model") parts.removeFirst();
    if (parts.size() > 1 && parts.front() == "layers") {
        parts[1] = "layers." + parts[1];
        parts.removeFirst();
    }
    return parts;
}

}  // namespace

bool isClosingRow(const ProfileRow& row) {
    return row.name == "unattributed" || row.name == "total" || row.name == "profiler tax";
}

ProfileTree::ProfileTree(QObject* parent) : QAbstractItemModel(parent) { m_nodes.emplace_back(); }

void ProfileTree::setRows(std::vector<ProfileRow> rows) {
    const bool same = rows.size() == m_rows.size() &&
                      std::equal(rows.begin(), rows.end(), m_rows.begin(), [](const ProfileRow& a, const ProfileRow& b) {
                          return a.name == b.name && a.phase == b.phase && a.level == b.level;
                      });
    if (!same) beginResetModel();
    m_rows = std::move(rows);
    if (!same) build();
    fill();
    if (!same) {
        endResetModel();
        return;
    }
    for (Node& node : m_nodes) {
        if (node.children.empty()) continue;
        emit dataChanged(createIndex(0, 0, node.children.front()),
                         createIndex(int(node.children.size()) - 1, kColumns - 1, node.children.back()));
    }
}

void ProfileTree::build() {
    m_nodes.clear();
    m_nodes.emplace_back();
    std::map<QString, Node*> byPath;
    const auto child = [this](Node* parent, const QString& label) {
        Node& node = m_nodes.emplace_back();
        node.parent = parent;
        node.place = int(parent->children.size());
        node.label = label;
        parent->children.push_back(&node);
        return &node;
    };
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const ProfileRow& row = m_rows[i];
        Node* at = &m_nodes.front();
        const QString name = toQt(row.name);
        if (row.level != "leaf" || isClosingRow(row)) {
            at = child(at, name);
        } else {
            QString path;
            for (const QString& part : pathOf(name)) {
                path += "/" + part;
                Node*& found = byPath[path];
                if (!found) found = child(at, part);
                at = found;
            }
        }
        at->source = int(i);
    }
}

void ProfileTree::fill() {
    for (Node* node : m_nodes.front().children) sum(*node);
}

void ProfileTree::sum(Node& node) {
    node.shown = node.source >= 0 ? m_rows[std::size_t(node.source)] : ProfileRow{};
    for (Node* child : node.children) sum(*child);
    if (node.children.empty()) return;
    // An inner node adds up what is inside. Its interval is not known: intervals do not add.
    ProfileRow& total = node.shown;
    const ProfileRow own = total;
    total.name = fromQt(node.label);
    total.level = "leaf";
    total.type = node.children.front()->shown.type;
    total.spanUs = own.selfSpanUs;
    total.gpuUs = own.selfGpuUs;
    total.spanShareCiLowPct = total.spanShareCiHighPct = std::nullopt;
    for (const Node* child : node.children) {
        add(total.spanUs, child->shown.spanUs);
        add(total.gpuUs, child->shown.gpuUs);
        add(total.kernels, child->shown.kernels);
        add(total.spanSharePct, child->shown.spanSharePct);
        add(total.gpuSharePct, child->shown.gpuSharePct);
        if (child->shown.type != total.type) total.type.clear();
    }
    // Not the sum of its parts: a parent with work of its own has a gap there too, and no column for it.
    if (total.spanUs && total.gpuUs) total.gapUs = *total.spanUs - *total.gpuUs;
}

const ProfileRow* ProfileTree::row(const QModelIndex& index) const {
    return index.isValid() ? &static_cast<const Node*>(index.internalPointer())->shown : nullptr;
}

QModelIndex ProfileTree::index(int row, int column, const QModelIndex& parent) const {
    const Node* node = parent.isValid() ? static_cast<const Node*>(parent.internalPointer()) : &m_nodes.front();
    if (row < 0 || column < 0 || column >= kColumns || row >= int(node->children.size())) return {};
    if (parent.isValid() && parent.column() != 0) return {};
    return createIndex(row, column, node->children[std::size_t(row)]);
}

QModelIndex ProfileTree::parent(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    Node* parent = static_cast<const Node*>(index.internalPointer())->parent;
    return !parent || parent == &m_nodes.front() ? QModelIndex() : createIndex(parent->place, 0, parent);
}

int ProfileTree::rowCount(const QModelIndex& parent) const {
    if (parent.isValid() && parent.column() != 0) return 0;
    const Node* node = parent.isValid() ? static_cast<const Node*>(parent.internalPointer()) : &m_nodes.front();
    return int(node->children.size());
}

int ProfileTree::columnCount(const QModelIndex&) const { return kColumns; }

QVariant ProfileTree::raw(const ProfileRow& row, int column) const {
    const auto real = [](const std::optional<double>& value) { return value ? QVariant(*value) : QVariant(); };
    const auto whole = [](const std::optional<std::int64_t>& value) { return value ? QVariant(qlonglong(*value)) : QVariant(); };
    switch (column) {
    case kName: return toQt(row.name);
    case kCalls: return whole(row.calls);
    case kKernels: return whole(row.kernels);
    case kSpan: return real(row.spanUs);
    case kSelfSpan: return real(row.selfSpanUs);
    case kGpu: return real(row.gpuUs);
    case kGap: return real(row.gapUs);
    case kSpanShare: return real(row.spanSharePct);
    case kSpanInterval: return real(row.spanShareCiLowPct);
    case kGpuShare: return real(row.gpuSharePct);
    case kNote: return toQt(row.note);
    default: return {};
    }
}

QString ProfileTree::text(const Node& node, int column) const {
    const ProfileRow& row = node.shown;
    switch (column) {
    case kName: return node.label;
    case kSpan: return number(row.spanUs, 1);
    case kSelfSpan: return number(row.selfSpanUs, 1);
    case kGpu: return number(row.gpuUs, 1);
    case kGap: return number(row.gapUs, 1);
    case kSpanShare:
        if (row.spanSharePct && !canBeTold(row, *row.spanSharePct, row.spanShareCiLowPct, row.spanShareCiHighPct)) return "can't tell";
        return row.spanSharePct ? number(*row.spanSharePct, 1) + " %" : QString();
    case kSpanInterval:
        return row.spanShareCiLowPct && row.spanShareCiHighPct
                   ? number(*row.spanShareCiLowPct, 1) + " to " + number(*row.spanShareCiHighPct, 1) : QString();
    case kGpuShare: return row.gpuSharePct ? number(*row.gpuSharePct, 1) + " %" : QString();
    default: return raw(row, column).toString();
    }
}

QVariant ProfileTree::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Node& node = *static_cast<const Node*>(index.internalPointer());
    const bool numeric = index.column() != kName && index.column() != kNote;
    switch (role) {
    case Qt::DisplayRole: return text(node, index.column());
    case Qt::TextAlignmentRole: return int(Qt::AlignVCenter | (numeric ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ToolTipRole:
        return index.column() == kName ? QVariant(toQt(node.source >= 0 ? m_rows[std::size_t(node.source)].name : node.shown.name))
               : index.column() == kNote ? QVariant(toQt(node.shown.note)) : QVariant();
    case kRawRole: return raw(node.shown, index.column());
    case kNumericRole: return numeric;
    case kToneRole: return int(isClosingRow(node.shown) ? Tone::muted : Tone::normal);
    case kSwatchRole:
        if (index.column() != kName || isClosingRow(node.shown) || node.shown.type.empty()) return {};
        return typeColor(toQt(node.shown.type));
    case kPinnedRole:
        return node.shown.name == "unattributed" ? 1 : node.shown.name == "total" ? 2 : node.shown.name == "profiler tax" ? 3 : 0;
    default: return {};
    }
}

QVariant ProfileTree::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
    const bool numeric = section != kName && section != kNote;
    if (role == Qt::DisplayRole) return kHeadings[section].title;
    if (role == Qt::ToolTipRole) return kHeadings[section].toolTip;
    if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | (numeric ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

}  // namespace kernelscope::ui
