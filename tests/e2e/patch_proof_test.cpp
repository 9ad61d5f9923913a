// What of a patch may run in a model.

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "core/engine/patch_proof.h"

namespace kernelscope {
namespace {

const PatchVerdict kGood{{"rope", "fused"}, "ok", {}};

std::vector<std::string> kept(const std::vector<PatchVerdict>& verdicts, bool named) {
    std::vector<std::string> notes, texts;
    const auto choices = rightChoices(verdicts, named, notes);
    if (!choices) return {};
    for (const PatchChoice& choice : *choices) texts.push_back(choice.text());
    return texts;
}

TEST(PatchProof, WhatIsWrongIsRefusedByNameWithTheReason) {
    std::vector<std::string> notes;
    const auto choices = rightChoices({kGood, {{"rms_norm", "fused"}, "wrong", "NaN at row 3"}}, true, notes);
    ASSERT_FALSE(choices);
    EXPECT_EQ(choices.error().code, ErrorCode::wrong);
    EXPECT_NE(choices.error().message.find("rms_norm=fused"), std::string::npos);
    EXPECT_NE(choices.error().message.find("NaN at row 3"), std::string::npos);
}

TEST(PatchProof, ByDefaultOnlyTheWrongOneStaysNativeAndThatIsSaid) {
    std::vector<std::string> notes;
    const auto choices = rightChoices({kGood, {{"rms_norm", "fused"}, "wrong", "NaN at row 3"}}, false, notes);
    ASSERT_TRUE(choices);
    EXPECT_EQ(patchText(*choices), "rope=fused");
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find("NaN at row 3"), std::string::npos);
}

TEST(PatchProof, AnotherRoundingOrderNeedsToBeAskedFor) {
    const PatchVerdict other{{"rms_norm", "aten"}, "other_order", {}};
    EXPECT_EQ(kept({kGood, other}, false), std::vector<std::string>{"rope=fused"});
    EXPECT_EQ(kept({kGood, other}, true), (std::vector<std::string>{"rope=fused", "rms_norm=aten"}));
}

TEST(PatchProof, NothingLeftIsAnErrorAndARefusalIsAQuestionOfUsage) {
    std::vector<std::string> notes;
    EXPECT_EQ(rightChoices({{{"rope", "fused"}, "wrong", {}}}, false, notes).error().code, ErrorCode::wrong);
    EXPECT_EQ(rightChoices({{{"rope", "fused"}, "refused", {}}}, true, notes).error().code, ErrorCode::usage);
}

TEST(PatchProof, TheFusedVariantsAreRightAtTheShapesOfASmallModel) {
    const c10::InferenceMode inference;
    JobRequest request;
    request.model = "qwen2.5-tiny";
    request.device = "cpu";
    const Result<ModelSetup> setup = prepareModel(request);
    ASSERT_TRUE(setup) << setup.error().message;
    const Result<JobPatch> patch = JobPatch::read("rms_norm=fused,add_rms_norm=fused,silu_mul=fused,rope=fused", *setup);
    ASSERT_TRUE(patch) << patch.error().message;
    ModelHolder models;
    std::int64_t reports = 0;
    JobContext context{{}, [&](const Progress&) { ++reports; }, [](const RowRecord&) {}, models};
    const auto verdicts = validatePatch(*patch, *setup, {1, 32, 32}, context);
    ASSERT_TRUE(verdicts) << verdicts.error().message;
    ASSERT_EQ(verdicts->size(), 4U);
    for (const PatchVerdict& verdict : *verdicts) EXPECT_EQ(verdict.status, "ok") << verdict.choice.text() << ": " << verdict.reason;
    EXPECT_GE(reports, 4 * 2 * 2) << "one before each case, and signs of life between";
}

}  // namespace
}  // namespace kernelscope
