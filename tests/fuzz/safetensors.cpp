// Any bytes as a safetensors file: refused in words, or every tensor lies inside and they cover the data.

#include <cstdint>

#include "core/model/checkpoint.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
    const auto tensors = kernelscope::parseSafetensors(file, "fuzz.safetensors");
    if (!tensors) {
        FUZZ_CHECK(!tensors.error().message.empty() && !tensors.error().advice.empty());
        return 0;
    }
    std::size_t covered = 0;
    unsigned sum = 0;
    for (const kernelscope::TensorInfo& tensor : *tensors) {
        if (tensor.bytes.empty()) continue;
        FUZZ_CHECK(tensor.bytes.data() >= file.data() && tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size());
        sum += std::to_integer<unsigned>(tensor.bytes.front()) + std::to_integer<unsigned>(tensor.bytes.back());
        covered += tensor.bytes.size();
    }
    FUZZ_CHECK(covered <= size && sum <= 512 * tensors->size());
    return 0;
}
