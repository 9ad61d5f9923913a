// What a saved version of a kernel came to, and what the next one changed.

#include <gtest/gtest.h>

#include "core/client/kernel_versions.h"
#include "core/records/kernel_rows.h"
#include "core/records/row_key.h"

namespace kernelscope::test {
namespace {

RowRecord sweepRow(const std::string& variant, std::int64_t rows, const std::string& status, double us, double speedup) {
    SweepRow row;
    row.op = "rms_norm";
    row.variant = variant;
    row.dtype = "float16";
    row.hidden = 896;
    row.rows = rows;
    row.cache = "cold";
    row.status = status;
    if (us > 0) {
        row.deviceUs = us;
        row.deviceCiLowUs = us * 0.98;
        row.deviceCiHighUs = us * 1.02;
        row.speedup = speedup;
    } else {
        row.reason = "3 elements differ";
    }
    return {"sweep", rowKey(row), valuesOf(row)};
}

KernelVersion version(std::vector<RowRecord> rows, RunStatus status = RunStatus::done, const std::string& id = "run1", const std::string& error = {}) {
    RunHeader header;
    header.id = id;
    header.settings["kernel_version"] = "abc";
    Finished finished;
    finished.status = status;
    finished.error.message = error;
    return versionOf(header, finished, rows, "mine");
}

TEST(KernelVersion, IsRightWithTheGeometricMeanOfItsCells) {
    const KernelVersion made = version({sweepRow("native", 1, "ok", 10, 1), sweepRow("mine", 1, "ok", 5, 2), sweepRow("mine", 8, "ok", 1.25, 8)});
    EXPECT_EQ(made.state, "right");
    EXPECT_EQ(made.version, "abc");
    EXPECT_EQ(made.cells.size(), 2U);
    ASSERT_TRUE(made.speedup);
    EXPECT_DOUBLE_EQ(*made.speedup, 4);
    EXPECT_NE(versionWords(made).find("right in 2 of 2 cells"), std::string::npos) << versionWords(made);
}

TEST(KernelVersion, TheWorstCellIsItsStateAndIsNamed) {
    const KernelVersion made = version({sweepRow("mine", 1, "ok", 5, 2), sweepRow("mine", 8, "wrong", 0, 0), sweepRow("mine", 64, "other_order", 5, 2)});
    EXPECT_EQ(made.state, "wrong");
    EXPECT_EQ(made.firstWrong, "rms_norm float16 8 x 896 cold: wrong, 3 elements differ");
    EXPECT_NE(versionWords(made).find("right in 2 of 3 cells"), std::string::npos) << versionWords(made);
}

TEST(KernelVersion, ARunThatNeverBeganDidNotCompile) {
    const KernelVersion made = version({}, RunStatus::failed, "", "my.cu:3: error: no");
    EXPECT_EQ(made.state, "not compiled");
    EXPECT_EQ(made.message, "my.cu:3: error: no");
    EXPECT_EQ(versionWords(made), "does not compile");
    EXPECT_EQ(version({}, RunStatus::cancelled).state, "cancelled");
}

TEST(KernelVersion, ChangesAreFasterAndSlowerCellsBeyondTheirIntervals) {
    const KernelVersion before = version({sweepRow("mine", 1, "ok", 10, 1), sweepRow("mine", 8, "ok", 10, 1), sweepRow("mine", 64, "ok", 10, 1), sweepRow("mine", 512, "ok", 10, 1)});
    const KernelVersion now = version({sweepRow("mine", 1, "ok", 5, 2), sweepRow("mine", 8, "ok", 8, 1.25), sweepRow("mine", 64, "ok", 10.1, 0.99), sweepRow("mine", 512, "ok", 15, 0.67)});
    const std::vector<std::string> lines = changesBetween(before, now);
    ASSERT_EQ(lines.size(), 4U) << testing::PrintToString(lines);
    EXPECT_NE(lines[0].find("was 1"), std::string::npos) << lines[0];
    EXPECT_NE(lines[1].find("faster in 2 cells, most in rms_norm float16 1 x 896 cold"), std::string::npos) << lines[1];
    EXPECT_NE(lines[2].find("slower in 1 cells, most in rms_norm float16 512 x 896 cold"), std::string::npos) << lines[2];
    EXPECT_NE(lines[3].find("the same in 1 cells"), std::string::npos) << lines[3];
    EXPECT_TRUE(changesBetween(now, now).size() == 1) << "only the speed-up that is what it was";
}

TEST(KernelVersion, WhatBecameWrongOrRightIsSaid) {
    const KernelVersion right = version({sweepRow("mine", 1, "ok", 10, 1)});
    const KernelVersion wrong = version({sweepRow("mine", 1, "wrong", 0, 0)});
    const KernelVersion broken = version({}, RunStatus::failed, "");
    EXPECT_EQ(changesBetween(right, wrong), std::vector<std::string>{"wrong now, right before: rms_norm float16 1 x 896 cold"});
    EXPECT_EQ(changesBetween(wrong, right), std::vector<std::string>{"right now, wrong before: rms_norm float16 1 x 896 cold"});
    EXPECT_EQ(changesBetween(right, broken), std::vector<std::string>{"does not compile any more"});
    EXPECT_EQ(changesBetween(broken, right), std::vector<std::string>{"compiles again"});
}

TEST(VersionWatch, OneVersionASaveWhateverTheEditorDoes) {
    VersionWatch watch;
    EXPECT_FALSE(watch.look("a")) << "it may still be being written";
    EXPECT_TRUE(watch.look("a"));
    EXPECT_FALSE(watch.look("a"));
    EXPECT_FALSE(watch.look("")) << "replaced: gone for a moment";
    EXPECT_FALSE(watch.look("a"));
    EXPECT_FALSE(watch.look("a")) << "saved without a change";
    EXPECT_FALSE(watch.look("b1"));
    EXPECT_FALSE(watch.look("b2"));
    EXPECT_TRUE(watch.look("b2"));
    EXPECT_EQ(watch.current(), "b2");
}

}  // namespace
}  // namespace kernelscope::test
