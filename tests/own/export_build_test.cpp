// The folder that `kernel export` writes for a CUDA source, built as its README says. nvcc needs no GPU; skipped in words where there is none.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/client/file.h"
#include "core/client/kernel_export.h"
#include "core/client/kernel_template.h"
#include "core/own/launcher_source.h"
#include "core/own/library.h"
#include "core/records/kernel_rows.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope::test {
namespace {

namespace fs = std::filesystem;

class ExportedFolder : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (std::string(KERNELSCOPE_NVCC).empty()) GTEST_SKIP() << "no nvcc here";
    }

    std::string write(const std::string& name, const std::string& text) const {
        EXPECT_TRUE(writeFileAtomically(m_folder / name, text).ok());
        return (m_folder / name).string();
    }

    /// Exports the kernel as if it had been validated, and builds it in a folder that is all it has.
    void exportAndBuild(const std::string& path, const std::string& op) {
        const auto file = readKernelFile(path);
        ASSERT_TRUE(file) << file.error().message;
        auto store = Store::open(m_folder / "runs.sqlite");
        ASSERT_TRUE(store);
        RunHeader header;
        header.kind = "validate";
        header.status = RunStatus::running;
        header.settings["kernel_version"] = file->version;
        auto run = (*store)->createRun(header);
        ASSERT_TRUE(run) << run.error().message;
        ValidateRow row;
        row.op = op;
        row.variant = file->variant;
        row.status = "ok";
        ASSERT_TRUE((*store)->putRows(run->id, std::vector<RowRecord>{{"validate", "one", valuesOf(row)}}));
        run->status = RunStatus::done;
        ASSERT_TRUE((*store)->updateRun(*run));
        auto proof = findProof(**store, path);
        ASSERT_TRUE(proof) << proof.error().message;
        const auto launcher = launcherSource(*file);
        ASSERT_TRUE(launcher) << launcher.error().message;
        proof->launcher = *launcher;
        const fs::path home = m_folder / "home";
        const auto written = exportKernel(**store, *proof, home);
        ASSERT_TRUE(written) << written.error().message;

        const std::string readme = *readFile(home / "README.md");
        const std::size_t at = readme.find("    nvcc ");
        ASSERT_NE(at, std::string::npos) << readme;
        std::string build = readme.substr(at + 8, readme.find('\n', at) - at - 8);
        const std::string native = "-arch=native";
        ASSERT_NE(build.find(native), std::string::npos) << build;
        build.replace(build.find(native), native.size(), "-arch=sm_90");  // there may be no GPU here to ask
        // No kernel and no header from where it was written, only what lies in the folder.
        fs::remove(path);
        const std::string command = "cd '" + home.string() + "' && '" KERNELSCOPE_NVCC "' -Werror all-warnings " + build + " >log 2>&1";
        ASSERT_EQ(std::system(command.c_str()), 0) << command << "\n" << *readFile(home / "log");

        const auto library = readKernelFile((home / ("lib" + file->variant + ".so")).string());
        ASSERT_TRUE(library) << library.error().message;
        const auto opened = openKernelLibrary(library->path, *library);
        ASSERT_TRUE(opened) << opened.error().message;
        ASSERT_EQ(opened->entries.size(), 1U);
        EXPECT_EQ(opened->entries.front().op, op);
    }

    TemporaryFolder m_folder;
};

TEST_P(ExportedFolder, OfATemplateBuildsAsItsReadmeSays) {
    const std::string op = GetParam(), name = "my_" + op + ".cu";
    exportAndBuild(write(name, *kernelTemplate(op, name)), op);
}
INSTANTIATE_TEST_SUITE_P(EachOperator, ExportedFolder, testing::Values("rms_norm", "add_rms_norm", "silu_mul", "rope"), [](const auto& info) { return info.param; });

using ExportedFolderOfParts = ExportedFolder;
TEST_P(ExportedFolderOfParts, HasWhatTheKernelIncludesAndItsSideFile) {
    std::string source = *kernelTemplate("silu_mul", "gate.cu");
    // Every expression that a header comment can have, said in a side file; the body's helpers in a header that includes another.
    std::string bare;
    for (std::size_t begin = 0; begin < source.size();) {
        const std::size_t end = source.find('\n', begin);
        const std::string line = source.substr(begin, end - begin + 1);
        if (line.find("// kernelscope:") == std::string::npos) bare += line;
        begin = end + 1;
    }
    fs::create_directories(m_folder / "detail");
    write("detail/one.cuh", "#pragma once\n#include \"two.cuh\"\n");
    write("detail/two.cuh", "#pragma once\ninline constexpr int kThreads = 256;\n");
    write("gate.cu.toml", "# what this kernel is\noperator = \"silu_mul\"\nkernel = \"silu_mul_kernel<T>\"\nblock = 256\ngrid = \"min(ceil_div(width, block), multiprocessors * 64), rows\"\n"
                          "requires = \"width >= 1 && alignment >= element_size\"\nshared = \"max(width, 1) * 0 + element_size\"\n");
    exportAndBuild(write("gate.cu", "#include \"detail/one.cuh\"\nstatic_assert(kThreads == 256);\n" + bare), "silu_mul");
    for (const char* part : {"detail/one.cuh", "detail/two.cuh", "gate.cu.toml", "gate_launch.cu", "gate_torch.py"}) EXPECT_TRUE(fs::exists(m_folder / "home" / part)) << part;
}
INSTANTIATE_TEST_SUITE_P(Once, ExportedFolderOfParts, testing::Values("silu_mul"), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kernelscope::test
