#include "ui/services/run_rows.h"

namespace kernelscope::ui {

void RunRows::apply(RowRecord record) {
    const bool own = record.type == m_header.kind;
    auto& records = own ? m_records : m_others;
    auto& places = own ? m_places : m_otherPlaces;
    const auto [found, isNew] = places.try_emplace(own ? record.key : record.type + "/" + record.key, records.size());
    if (isNew) records.push_back(std::move(record));
    else records[found->second] = std::move(record);
}

}  // namespace kernelscope::ui
