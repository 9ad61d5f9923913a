// Any bytes as config.json: refused in words, or a model whose sizes multiply without overflow.

#include <cstdint>

#include "core/model/checkpoint.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto config = kernelscope::parseConfig({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!config) {
        FUZZ_CHECK(config.error().code == kernelscope::ErrorCode::badInput && !config.error().message.empty() && !config.error().advice.empty());
        return 0;
    }
    FUZZ_CHECK(config->heads > 0 && config->kvHeads > 0 && config->heads % config->kvHeads == 0 && config->headDim % 2 == 0);
    FUZZ_CHECK(config->ropeTheta > 0 && config->rmsNormEps > 0);
    std::int64_t parameters = 0;
    for (const kernelscope::ExpectedTensor& tensor : kernelscope::expectedTensors(*config)) {
        std::int64_t elements = 1;
        for (const std::int64_t length : tensor.shape) FUZZ_CHECK(!__builtin_mul_overflow(elements, length, &elements));
        FUZZ_CHECK(!__builtin_add_overflow(parameters, elements, &parameters));
    }
    FUZZ_CHECK(parameters == config->parameters());
    return 0;
}
