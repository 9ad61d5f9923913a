// Any bytes as a Chrome trace: refused in words, or a profile whose rows fit their type.

#include <cstdint>
#include <sstream>

#include "core/client/import_trace.h"
#include "core/records/rows.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream input(std::string(reinterpret_cast<const char*>(data), size));
    const auto run = profileOfTrace(input, "trace.json");
    if (!run) {
        FUZZ_CHECK(run.error().code == ErrorCode::badInput && !run.error().message.empty());
        return 0;
    }
    FUZZ_CHECK(run->header.kind == "profile" && !run->rows.empty());
    for (const RowRecord& row : run->rows) FUZZ_CHECK(rowFrom<ProfileRow>(row.values).has_value());
    return 0;
}
