// CUDA sources through NVRTC, which needs no GPU. Skipped in words where there is no NVRTC.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/client/kernel_template.h"
#include "core/own/cuda_kernel.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope::test {
namespace {

class Nvrtc : public testing::Test {
protected:
    void SetUp() override {
        if (const std::string problem = nvrtcProblem(); !problem.empty()) GTEST_SKIP() << problem;
    }

    KernelFile file(std::string source, const std::string& name = "my_norm.cu") const {
        KernelFile made;
        made.path = folder / name;
        made.kind = KernelFileKind::cuda;
        made.variant = "my_norm";
        made.contents = std::move(source);
        return made;
    }
    std::string complaintAbout(const std::string& source, int computeCapability = 90) const {
        const auto compiled = compileCudaKernel(file(source), computeCapability);
        EXPECT_FALSE(compiled);
        return compiled ? std::string() : compiled.error().message;
    }

    TemporaryFolder folder;
};

const std::string kHeader = "// kernelscope: operator = rms_norm\n// kernelscope: kernel = my_norm<T>\n";
const std::string kParameters = "T* out, const T* x, const T* weight, long long rows, long long hidden, long long x_row_stride, long long out_row_stride, float eps";

TEST_F(Nvrtc, EveryTemplateCompilesForOldAndNewGpus) {
    for (const std::string& op : templateOperators()) {
        const auto text = kernelTemplate(op, op + ".cu");
        ASSERT_TRUE(text) << op;
        for (const int computeCapability : {75, 90, 120}) {
            const auto compiled = compileCudaKernel(file(*text), computeCapability);
            ASSERT_TRUE(compiled) << op << " sm_" << computeCapability << ": " << compiled.error().message;
            EXPECT_EQ(compiled->code.log, "") << op;
            ASSERT_EQ(compiled->code.symbols.size(), 3U);
            for (const std::string& symbol : compiled->code.symbols) EXPECT_NE(compiled->code.cubin.find(symbol), std::string::npos) << symbol;
            EXPECT_EQ(compiled->code.cubin.compare(0, 4, "\x7f" "ELF"), 0);
        }
    }
}

TEST_F(Nvrtc, AMistakeIsSaidWithFileAndLine) {
    const std::string words = complaintAbout(kHeader + "\ntemplate <class T>\n__global__ void my_norm(" + kParameters + ") {\n    out[0] = nonsense;\n}\n");
    EXPECT_NE(words.find("my_norm.cu does not compile"), std::string::npos) << words;
    EXPECT_NE(words.find("my_norm.cu:6: error: identifier \"nonsense\" is undefined"), std::string::npos) << words;
}

TEST_F(Nvrtc, AnotherSignatureIsRefusedAtTheKernelsLine) {
    const std::string swapped = "T* out, const T* x, const T* weight, int rows, long long hidden, long long x_row_stride, long long out_row_stride, float eps";
    const std::string fewer = "T* out, const T* x";
    for (const std::string& parameters : {swapped, fewer, kParameters + ", int more"}) {
        const std::string words = complaintAbout(kHeader + "template <class T>\n__global__ void my_norm(" + parameters + ") {}\n");
        EXPECT_NE(words.find("my_norm.cu:4: "), std::string::npos) << words;
        EXPECT_NE(words.find("a kernel of rms_norm takes (T* out, const T* x"), std::string::npos) << words;
    }
}

TEST_F(Nvrtc, AKernelThatIsNotThereIsNamed) {
    EXPECT_NE(complaintAbout(kHeader + "int x;\n").find("my_norm"), std::string::npos);
    const std::string words = complaintAbout("// kernelscope: operator = rms_norm\n// kernelscope: kernel.float16 = mine\n__device__ void mine(__half* out) {}\n");
    EXPECT_NE(words.find("mine"), std::string::npos) << words;
}

TEST_F(Nvrtc, RestrictUnsignedAndLongAreTheSameSignature) {
    const auto compiled = compileCudaKernel(
        file(kHeader + "template <class T>\n__global__ void my_norm(T* __restrict__ out, const T* __restrict__ x, const T* __restrict__ weight, unsigned long long rows, long hidden, "
                       "const long long x_row_stride, long long out_row_stride, float eps) {}\n"),
        90);
    EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST_F(Nvrtc, AGpuThatIsNotServedOrNotKnownIsSaidInWords) {
    const std::string source = kHeader + "// kernelscope: devices = sm_90+\ntemplate <class T>\n__global__ void my_norm(" + kParameters + ") {}\n";
    EXPECT_NE(complaintAbout(source, 80).find("does not serve this GPU, sm_80"), std::string::npos);
    const std::string words = complaintAbout(kHeader + "template <class T>\n__global__ void my_norm(" + kParameters + ") {}\n", 999);
    EXPECT_NE(words.find("sm_999"), std::string::npos) << words;
}

TEST_F(Nvrtc, HeadersBesideTheSourceAreFound) {
    std::ofstream(folder / "kernelscope_nvrtc_test.cuh") << "constexpr int kFromHeader = 3;\n";
    const auto compiled = compileCudaKernel(file(kHeader + "#include \"kernelscope_nvrtc_test.cuh\"\ntemplate <class T>\n__global__ void my_norm(" + kParameters + ") { static_assert(kFromHeader == 3, \"\"); }\n"), 90);
    EXPECT_TRUE(compiled) << compiled.error().message;
}

}  // namespace
}  // namespace kernelscope::test
