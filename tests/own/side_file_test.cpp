#include <gtest/gtest.h>

#include "core/own/directives.h"
#include "core/own/side_file.h"

namespace kernelscope::test {
namespace {

KernelFile withSideFile(const std::string& ending, const std::string& contents, const std::string& source = "__global__ void k() {}\n") {
    KernelFile file;
    file.path = "/kernels/my.cu";
    file.kind = KernelFileKind::cuda;
    file.variant = "my";
    file.contents = source;
    file.parts = {{"my.cu" + ending, contents}};
    return file;
}

Result<CudaDirectives> read(const KernelFile& file) {
    const auto text = directiveText(file);
    if (!text) return text.error();
    return readDirectives(text->text, text->file);
}

TEST(SideFile, SaysInTomlOrJsonWhatAHeaderCommentWould) {
    const auto toml = read(withSideFile(".toml", "# mine\noperator = \"rms_norm\"\n\nkernel = \"k<T>\"  # a template\ntypes = [\"float16\", \"bfloat16\"]\nblock = 128\n"));
    ASSERT_TRUE(toml) << toml.error().message;
    EXPECT_EQ(toml->types.size(), 2U);
    EXPECT_EQ(toml->types.front().function, "k<__half>");
    const auto json = read(withSideFile(".json", "{\n  \"operator\": \"rope\",\n  \"kernel\": \"k<T>\", \"block\": 64,\n  \"devices\": [\"sm_80+\"]\n}\n"));
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_EQ(json->signature->op, "rope");
    EXPECT_TRUE(json->serves(90) && !json->serves(75));
}

TEST(SideFile, AMistakeIsSaidWithItsOwnFileAndLine) {
    const auto complaint = [](const KernelFile& file) {
        const auto said = read(file);
        EXPECT_FALSE(said);
        return said ? std::string() : said.error().message;
    };
    EXPECT_TRUE(complaint(withSideFile(".toml", "operator = \"rms_norm\"\nkernl = \"k\"\n")).starts_with("/kernels/my.cu.toml:2: there is no key 'kernl'"));
    EXPECT_TRUE(complaint(withSideFile(".toml", "operator rms_norm\n")).starts_with("/kernels/my.cu.toml:1:"));
    EXPECT_TRUE(complaint(withSideFile(".json", "{\n\"operator\": \"rms_norm\",\n\"grid\": {}\n}")).starts_with("/kernels/my.cu.json:3:"));
    EXPECT_TRUE(complaint(withSideFile(".json", "[1]")).find("no JSON object") != std::string::npos);
    EXPECT_TRUE(complaint(withSideFile(".toml", "operator = \"rms_norm\"\n", "// kernelscope: operator = rope\n")).find("has a header comment that says the same") != std::string::npos);
}

}  // namespace
}  // namespace kernelscope::test
