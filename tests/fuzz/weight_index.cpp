// Any bytes as model.safetensors.index.json: refused in words, or plain names of files in the same folder.

#include <cstdint>

#include "core/model/weight_files.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto found = parseWeightIndex({reinterpret_cast<const char*>(data), size});
    if (!found) {
        FUZZ_CHECK(found.error().code == ErrorCode::badInput && !found.error().message.empty() && !found.error().advice.empty());
        return 0;
    }
    FUZZ_CHECK(!found->files.empty() && found->files.size() <= found->shardOf.size());
    for (const std::string& file : found->files) FUZZ_CHECK(file.find('/') == std::string::npos && file.find('\0') == std::string::npos && file != "." && file != "..");
    return 0;
}
