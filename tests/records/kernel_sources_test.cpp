// Which files are a kernel's version, and what is said of a kernel that takes the engine along.

#include <gtest/gtest.h>

#include <map>

#include "core/records/content_version.h"
#include "core/records/kernel_fault.h"
#include "core/records/kernel_sources.h"

namespace kernelscope::test {
namespace {

using Files = std::map<std::string, std::string>;

ReadPart from(const Files& files) {
    return [&files](const std::string& name) -> std::optional<std::string> {
        const auto found = files.find(name);
        return found == files.end() ? std::nullopt : std::optional(found->second);
    };
}

std::vector<std::string> namesOf(const std::vector<KernelPart>& parts) {
    std::vector<std::string> names;
    for (const KernelPart& part : parts) names.push_back(part.name);
    return names;
}

TEST(KernelSources, WhatIsIncludedWithQuotesBelongsToTheVersion) {
    EXPECT_EQ(quotedIncludes("#include <cmath>\n #  include \"a.h\"\n#include \"a.h\"\nint x; // #include \"no.h\"\n#include \"b/c.cuh\" // why\n#include \"\n"), (std::vector<std::string>{"a.h", "b/c.cuh"}));
    Files files{{"tiles.cuh", "#include \"detail/load.cuh\"\n#include \"tiles.cuh\"\n"}, {"detail/load.cuh", "#include \"store.cuh\"\n#include \"tiles.cuh\"\n"}, {"detail/store.cuh", "x"}, {"my.cu.toml", "block = 1"}};
    const std::string source = "#include \"tiles.cuh\"\n#include \"kernelscope/kernels.h\"\n";
    const auto parts = kernelParts("my.cu", source, from(files));
    EXPECT_EQ(namesOf(parts), (std::vector<std::string>{"tiles.cuh", "detail/load.cuh", "detail/store.cuh", "my.cu.toml"}));
    const std::string before = kernelVersion(source, parts);
    for (auto& [name, contents] : files) {
        const std::string old = contents;
        contents += " ";
        EXPECT_NE(kernelVersion(source, kernelParts("my.cu", source, from(files))), before) << name;
        contents = old;
    }
    EXPECT_EQ(kernelVersion(source, kernelParts("my.cu", source, from(files))), before);
}

TEST(KernelSources, ASourceAloneHasTheVersionOfItsContents) {
    EXPECT_EQ(kernelVersion("x", kernelParts("my.cu", "x", from({}))), contentVersion("x"));
    EXPECT_TRUE(kernelParts("my.so", "#include \"a.h\"\n", from({{"a.h", "x"}})).empty()) << "a library";
}

TEST(KernelFault, NamesTheKernelAndTheCommandThatFindsTheCall) {
    const Error own = kernelFault("rms_norm=my_norm", "crashes", "signal 11, SIGSEGV", {{"kernel", "/k/my norm/my_norm.cpp"}});
    EXPECT_EQ(own.code, ErrorCode::cantTell);
    EXPECT_EQ(own.message, "rms_norm=my_norm crashes at this model's shapes (signal 11, SIGSEGV)");
    EXPECT_NE(own.advice.find("`kernelscope-cli validate --kernel '/k/my norm/my_norm.cpp'`"), std::string::npos) << own.advice;
    EXPECT_EQ(validateCommand("rms_norm=fused,rope=mine", {{"kernel", "/k/mine.cu"}}), "kernelscope-cli validate --kernel /k/mine.cu");
    EXPECT_EQ(validateCommand("rms_norm=fused", {{"kernel", "/k/mine.cu"}}), "kernelscope-cli validate --op rms_norm --variant fused") << "the file is not what ran";
    EXPECT_EQ(validateCommand("rms_norm=fused,rope=fused", nullptr), "kernelscope-cli validate --op rms_norm --variant fused");
}

}  // namespace
}  // namespace kernelscope::test
