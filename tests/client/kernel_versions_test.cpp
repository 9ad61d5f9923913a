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
        row.speedupCiLow = speedup * 0.98;
        row.speedupCiHigh = speedup * 1.02;
    } else {
        row.reason = "3 elements differ";
    }
    return {"sweep", rowKey(row), valuesOf(row)};
}

KernelVersion version(std::vector<RowRecord> rows, RunStatus status = RunStatus::done, const std::string& id = "run1", const std::string& error = {}, const std::string& source = "abc") {
    RunHeader header;
    header.id = id;
    header.settings["kernel_version"] = source;
    Finished finished;
    finished.status = status;
    finished.error = makeError(ErrorCode::badInput, error);
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
    Finished elsewhere;
    elsewhere.status = RunStatus::failed;
    elsewhere.error = makeError(ErrorCode::environment, "no GPU here\nreally");
    EXPECT_EQ(versionWords(versionOf({}, elsewhere, {}, "mine")), "cannot be tried: no GPU here") << "the source may be as good as any";
    elsewhere.error.code = ErrorCode::cantTell;
    EXPECT_EQ(versionWords(versionOf({}, elsewhere, {}, "mine")), "crashes when it is loaded");
}

TEST(KernelVersion, ChangesAreFasterAndSlowerCellsBeyondTheirIntervals) {
    const KernelVersion before = version({sweepRow("mine", 1, "ok", 10, 1), sweepRow("mine", 8, "ok", 10, 1), sweepRow("mine", 64, "ok", 10, 1), sweepRow("mine", 512, "ok", 10, 1)});
    const KernelVersion now = version({sweepRow("mine", 1, "ok", 5, 2), sweepRow("mine", 8, "ok", 8, 1.25), sweepRow("mine", 64, "ok", 10.1, 0.99), sweepRow("mine", 512, "ok", 15, 0.67)},
                                      RunStatus::done, "run2", {}, "def");
    const std::vector<std::string> lines = changesBetween(before, now);
    ASSERT_EQ(lines.size(), 4U) << testing::PrintToString(lines);
    EXPECT_NE(lines[0].find("was 1"), std::string::npos) << lines[0];
    EXPECT_NE(lines[1].find("faster in 2 cells, most in rms_norm float16 1 x 896 cold"), std::string::npos) << lines[1];
    EXPECT_NE(lines[2].find("slower in 1 cell, most in rms_norm float16 512 x 896 cold"), std::string::npos) << lines[2];
    EXPECT_NE(lines[3].find("within noise in 1 cell"), std::string::npos) << lines[3];
}

TEST(KernelVersion, NoiseIsNoChange) {
    const KernelVersion before = version({sweepRow("mine", 1, "ok", 10, 2)});
    const KernelVersion again = version({sweepRow("mine", 1, "ok", 8, 2.5)}, RunStatus::done, "run2");
    ASSERT_EQ(changesBetween(before, again).size(), 1U);
    EXPECT_EQ(changesBetween(before, again).front(), "unchanged: the same source (2.50x the baseline, was 2.00x: noise)") << "whatever the intervals of two runs say";

    const KernelVersion other = version({sweepRow("mine", 1, "ok", 9.9, 2.02)}, RunStatus::done, "run2", {}, "def");
    EXPECT_EQ(changesBetween(before, other), std::vector<std::string>{"no faster and no slower: within noise in 1 cell (2.02x the baseline, was 2.00x)"});

    const KernelVersion slowMachine = version({sweepRow("mine", 1, "ok", 15, 2.01)}, RunStatus::done, "run2", {}, "def");
    ASSERT_EQ(changesBetween(before, slowMachine).size(), 1U);
    EXPECT_TRUE(changesBetween(before, slowMachine).front().starts_with("no faster and no slower")) << "the baseline took as much longer: " << changesBetween(before, slowMachine).front();
}

TEST(KernelVersion, WhatBecameWrongOrRightIsSaid) {
    const KernelVersion right = version({sweepRow("mine", 1, "ok", 10, 1)});
    const KernelVersion wrong = version({sweepRow("mine", 1, "wrong", 0, 0)}, RunStatus::done, "run2", {}, "def");
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
