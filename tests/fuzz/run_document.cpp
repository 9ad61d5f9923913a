// Any bytes as a run's JSON document: refused in words, or a run that is written so that it reads back.

#include <cstdint>

#include "core/client/export.h"
#include "core/client/import.h"
#include "core/records/rows.h"
#include "core/records/utf8.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto run = readRun({reinterpret_cast<const char*>(data), size});
    if (!run) {
        const std::string& words = run.error().message;
        FUZZ_CHECK(run.error().code == ErrorCode::badInput && !words.empty() && words.size() < 100'000 && validPrefix(words) == words.size());
        return 0;
    }
    const RowType* type = findRowType(run->header.kind);
    FUZZ_CHECK(type != nullptr);
    std::vector<RowRecord> own;
    for (const RowRecord& row : run->rows) {
        const RowType* rowType = findRowType(row.type);
        FUZZ_CHECK(rowType && row.values.size() == rowType->columns.size());
        if (row.type == type->name) own.push_back(row);
    }
    const auto again = readRun(jsonDocument(run->header, *type, own));
    FUZZ_CHECK(again.ok() && again->header.kind == run->header.kind && again->header.id == run->header.id);
    FUZZ_CHECK(again->rows.size() == own.size());
    return 0;
}
