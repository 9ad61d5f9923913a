// Any bytes as a LIST: refused in words, or numbers that are spelt so that they read back.

#include <cstdint>

#include "core/records/list.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto values = kernelscope::parseList({reinterpret_cast<const char*>(data), size});
    if (!values) {
        FUZZ_CHECK(values.error().code == kernelscope::ErrorCode::usage && !values.error().message.empty());
        return 0;
    }
    FUZZ_CHECK(values->size() <= kernelscope::kMaxListLength);
    for (const std::int64_t value : *values) FUZZ_CHECK(value >= 0);
    if (values->size() <= 1000) {
        const auto again = kernelscope::parseList(kernelscope::formatList(*values));
        FUZZ_CHECK(again.ok() && *again == *values);
    }
    return 0;
}
