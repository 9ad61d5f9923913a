// Any bytes as a table of tuned kernels: refused in words, or cells that are written so that they read back.

#include <cstdint>

#include "core/ops/kernel_table_file.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto cells = parseKernelTable({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!cells) {
        FUZZ_CHECK(cells.error().code == ErrorCode::badInput && cells.error().message.find("fuzz.json") != std::string::npos && !cells.error().advice.empty());
        return 0;
    }
    const auto again = parseKernelTable(kernelTableText("a GPU", *cells), "fuzz.json");
    FUZZ_CHECK(again.ok() && *again == *cells);
    return 0;
}
