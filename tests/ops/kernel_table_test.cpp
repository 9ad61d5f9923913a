// The user's dispatch table: a file that lasts, and words where it does not.

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/ops/kernel_table.h"
#include "kernels/include/kernelscope/kernels.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope::test {
namespace {

namespace fs = std::filesystem;

class KernelTable : public testing::Test {
protected:
    static KernelTableCell cell(std::int64_t rows, const std::string& config) {
        return {"rms_norm", "programmatic", 896, rows, config, "top", "all", 0};
    }
    void write(const std::string& text) {
        fs::create_directories(file().parent_path());
        std::ofstream(file()) << text;
    }
    [[nodiscard]] fs::path file() const { return m_folder / "kernel tables" / "gpu.json"; }

private:
    TemporaryFolder m_folder;
};

TEST_F(KernelTable, WithoutAFileIsEmpty) {
    const auto cells = readKernelTable(file());
    ASSERT_TRUE(cells);
    EXPECT_TRUE(cells->empty());
}

TEST_F(KernelTable, ASecondTuningReplacesItsOwnShapesAndKeepsTheOthers) {
    ASSERT_TRUE(writeKernelTable(file(), "A GPU", {cell(1, "128x1"), cell(8, "64x2")}));
    KernelTableCell plain = cell(8, "112x1 r2");
    plain.launch = "plain";
    ASSERT_TRUE(writeKernelTable(file(), "A GPU", {cell(8, "128x1"), plain}));
    const auto cells = readKernelTable(file());
    ASSERT_TRUE(cells);
    EXPECT_EQ(*cells, (std::vector<KernelTableCell>{cell(8, "128x1"), plain, cell(1, "128x1")}));
}

TEST_F(KernelTable, ATornFileIsNamedWithTheWayOut) {
    for (const char* text : {"", "{\"schema\": 1", "{\"schema\": 2, \"cells\": []}", "{\"schema\": 1, \"cells\": [{\"op\": \"rms_norm\"}]}", "[]"}) {
        write(text);
        const auto cells = readKernelTable(file());
        ASSERT_FALSE(cells) << text;
        EXPECT_EQ(cells.error().code, ErrorCode::badInput);
        EXPECT_NE(cells.error().message.find("gpu.json"), std::string::npos);
        EXPECT_NE(cells.error().advice.find("tune"), std::string::npos);
    }
    EXPECT_TRUE(writeKernelTable(file(), "A GPU", {cell(1, "128x1")})) << "a torn file is replaced";
    EXPECT_TRUE(readKernelTable(file()));
}

TEST_F(KernelTable, AFolderThatCannotBeWrittenIsSaid) {
    const auto written = writeKernelTable("/proc/kernel_tables/gpu.json", "A GPU", {cell(1, "128x1")});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::environment);
}

TEST_F(KernelTable, LiesBesideTheOtherDataUnderTheGpusName) {
    EXPECT_EQ(kernelTablePath("NVIDIA H200/../x").filename(), "NVIDIA-H200----x.json");
    EXPECT_EQ(kernelTablePath("NVIDIA H200").parent_path().filename(), "kernel_tables");
}

TEST(KernelTableOfTheLibrary, RefusesNonsenseBeforeItLooksForADevice) {
    EXPECT_EQ(ks_use_table(nullptr, 1), KS_ERROR_NULL_POINTER);
    EXPECT_EQ(ks_use_table(nullptr, -1), KS_ERROR_SIZE);
}

}  // namespace
}  // namespace kernelscope::test
