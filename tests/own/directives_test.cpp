// The header comment of a CUDA source, and the launch that follows from it.

#include <gtest/gtest.h>

#include "core/own/cuda_kernel.h"
#include "core/own/directives.h"
#include "kernelscope/kernels.h"

namespace kernelscope::test {
namespace {

const std::string kHeader = "// kernelscope: operator = rms_norm\n// kernelscope: kernel = my_norm<T>\n";

CudaDirectives directivesOf(const std::string& text) {
    const auto read = readDirectives(text, "my.cu");
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? *read : CudaDirectives{};
}
std::string complaintAbout(const std::string& text) {
    const auto read = readDirectives(text, "my.cu");
    EXPECT_FALSE(read);
    if (!read) {
        EXPECT_EQ(read.error().code, ErrorCode::badInput);
    }
    return read ? std::string() : read.error().message;
}

std::vector<KernelArgument> arguments(std::int64_t rows, std::int64_t hidden, std::int64_t stride, std::uintptr_t address = 4096) {
    const void* data = reinterpret_cast<const void*>(address);
    return {data, data, data, rows, hidden, stride, stride, 1e-6F};
}

TEST(Directives, TwoLinesAreEnough) {
    const CudaDirectives read = directivesOf(kHeader);
    EXPECT_EQ(read.signature->op, "rms_norm");
    ASSERT_EQ(read.types.size(), 3U);
    EXPECT_EQ(read.types[0].function, "my_norm<float>");
    EXPECT_EQ(read.types[1].function, "my_norm<__half>");
    EXPECT_EQ(read.types[2].function, "my_norm<__nv_bfloat16>");
    const auto shape = launchShape(read, arguments(7, 896, 896), KS_FLOAT16, 132);
    ASSERT_TRUE(shape);
    EXPECT_EQ(shape->grid[0], 7);
    EXPECT_EQ(shape->block[0], 256);
    EXPECT_EQ(shape->sharedBytes, 0);
    EXPECT_TRUE(launchShape(read, arguments(0, 896, 896), KS_FLOAT16, 132)->empty);
}

TEST(Directives, GridBlockAndSharedMemoryFollowTheShape) {
    const CudaDirectives read = directivesOf(kHeader + "// kernelscope: block = min(1024, ceil_div(hidden, 32) * 32)\n//kernelscope: grid = min(rows, 2 * multiprocessors), 2\n"
                                                       "/// kernelscope: shared = hidden * element_size + block\n");
    const auto shape = launchShape(read, arguments(1000, 100, 100), KS_FLOAT32, 100);
    ASSERT_TRUE(shape) << shape.error().message;
    EXPECT_EQ(shape->block[0], 128);
    EXPECT_EQ(shape->grid, (std::array<std::int64_t, 3>{200, 2, 1}));
    EXPECT_EQ(shape->sharedBytes, 400 + 128);
}

TEST(Directives, AnUnmetRequirementIsARefusalInWords) {
    const CudaDirectives read = directivesOf(kHeader + "// kernelscope: requires = hidden % 8 == 0 && alignment >= 16\n");
    EXPECT_TRUE(launchShape(read, arguments(7, 896, 896), KS_FLOAT16, 1));
    for (const auto& refused : {arguments(7, 897, 904), arguments(7, 896, 897), arguments(7, 896, 896, 4098)}) {
        const auto shape = launchShape(read, refused, KS_FLOAT16, 1);
        ASSERT_FALSE(shape);
        EXPECT_EQ(shape.error().code, ErrorCode::usage);
        EXPECT_NE(shape.error().message.find("hidden % 8 == 0 && alignment >= 16"), std::string::npos);
    }
}

TEST(Directives, ALaunchThatCannotBeIsAWrongKernel) {
    for (const char* line : {"block = 2048", "block = 64, 64", "grid = rows - 7", "grid = 1, 100000", "shared = 0 - 1", "block = 0"}) {
        const CudaDirectives read = directivesOf(kHeader + "// kernelscope: " + line + "\n");
        const auto shape = launchShape(read, arguments(7, 896, 896), KS_FLOAT16, 1);
        ASSERT_FALSE(shape) << line;
        EXPECT_EQ(shape.error().code, ErrorCode::wrong) << line;
    }
}

TEST(Directives, TypesAndDevicesAreServedAsSaid) {
    const CudaDirectives one = directivesOf("// kernelscope: operator = rope\n// kernelscope: kernel = turn\n// kernelscope: types = bfloat16\n// kernelscope: devices = sm_80+\n");
    ASSERT_EQ(one.types.size(), 1U);
    EXPECT_EQ(one.types[0].dtype, KS_BFLOAT16);
    EXPECT_EQ(one.types[0].function, "turn");
    EXPECT_TRUE(one.serves(80) && one.serves(120));
    EXPECT_FALSE(one.serves(75));
    const CudaDirectives two = directivesOf("// kernelscope: operator = rope\n// kernelscope: kernel.float16 = half_turn\n// kernelscope: kernel.float32 = turn<T, 4>\n// kernelscope: devices = sm_89, sm_90\n");
    ASSERT_EQ(two.types.size(), 2U);
    EXPECT_EQ(two.types[0].function, "turn<float, 4>");
    EXPECT_EQ(two.types[1].function, "half_turn");
    EXPECT_TRUE(two.serves(90));
    EXPECT_FALSE(two.serves(100));
}

TEST(Directives, AMistakeIsNamedWithItsLine) {
    const auto begins = [](const std::string& text, const std::string& with) { EXPECT_EQ(text.rfind(with, 0), 0U) << text; };
    begins(complaintAbout("int x;\n"), "my.cu:1: no line says which operator");
    begins(complaintAbout("\n// kernelscope: operator = rmsnorm\n"), "my.cu:2: there is no operator 'rmsnorm'");
    begins(complaintAbout(kHeader + "// kernelscope: gird = rows\n"), "my.cu:3: there is no key 'gird'");
    begins(complaintAbout(kHeader + "// kernelscope: grid = row\n"), "my.cu:3: grid: 'row': there is no 'row' here");
    begins(complaintAbout(kHeader + "// kernelscope: grid\n"), "my.cu:3: 'grid' is not key = value");
    begins(complaintAbout(kHeader + "// kernelscope: operator = rope\n"), "my.cu:3: 'operator' is said already on line 1");
    begins(complaintAbout(kHeader + "// kernelscope: devices = hopper\n"), "my.cu:3: 'hopper' is no device");
    begins(complaintAbout(kHeader + "// kernelscope: options = use_fast_math\n"), "my.cu:3: 'use_fast_math' is no compiler option");
    begins(complaintAbout(kHeader + "// kernelscope: types = float8\n"), "my.cu:3: there is no type 'float8'");
    begins(complaintAbout("// kernelscope: operator = rope\n// kernelscope: kernel = turn\n"), "my.cu:2: 'turn' serves one type");
    begins(complaintAbout("// kernelscope: operator = rope\n"), "my.cu:1: no line says which function");
}

TEST(Directives, OtherCommentsAreNone) {
    const CudaDirectives read = directivesOf(kHeader + "//   // kernelscope: grid = nonsense\nint x;  // kernelscope: grid = nonsense\n// kernelscope is a program\n");
    EXPECT_EQ(read.grid.front().text(), "rows");
}

}  // namespace
}  // namespace kernelscope::test
