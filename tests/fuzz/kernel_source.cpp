// Any bytes as the source of a kernel of the user's own: its header is refused with a line, or its expressions have values or say that they have none.

#include <cstdint>

#include "core/own/directives.h"
#include "core/own/source_lines.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

namespace {

void use(const Expression& expression, const Signature& signature) {
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{896}, INT64_MIN, INT64_MAX}) {
        std::vector<NamedNumber> numbers{{"element_size", 2}, {"alignment", number}, {"multiprocessors", 132}, {"block", 256}};
        for (const Parameter& parameter : signature.parameters) numbers.emplace_back(parameter.name, number);
        const auto value = expression.value(numbers);
        if (!value) FUZZ_CHECK(value.error().code == ErrorCode::usage && !value.error().message.empty());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    (void)compilerOptions(source, "fuzz.cpp");
    (void)readableLog(source, 100);
    (void)lineOfWord(source, "kernel");
    const auto made = readDirectives(source, "fuzz.cu");
    if (!made) {
        FUZZ_CHECK(made.error().code == ErrorCode::badInput && made.error().message.starts_with("fuzz.cu:"));
        return 0;
    }
    FUZZ_CHECK(made->signature && !made->types.empty() && !made->block.empty() && made->block.size() <= 3 && !made->grid.empty() && made->grid.size() <= 3);
    for (const Expression& each : made->block) use(each, *made->signature);
    for (const Expression& each : made->grid) use(each, *made->signature);
    if (made->shared) use(*made->shared, *made->signature);
    if (made->requires_) use(*made->requires_, *made->signature);
    (void)made->serves(90);
    return 0;
}
