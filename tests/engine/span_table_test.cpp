#include "core/measure/span_table.h"

#include <gtest/gtest.h>

#include "core/records/headline.h"

#include "tests/engine/small_tree.h"

namespace kernelscope {
namespace {

using namespace test;

PassSpans typePass(double norm, double attention, double rest) {
    PassSpans pass;
    pass.visits = {{kNorm, 0, norm, norm, 0, 0}, {kAttention, norm, attention, attention, 0, 0}};
    pass.totalUs = norm + attention + rest;
    return pass;
}

const ProfileRow& row(const std::vector<ProfileRow>& rows, const std::string& name) {
    for (const ProfileRow& each : rows) {
        if (each.name == name) return each;
    }
    throw std::out_of_range("no row " + name);
}

TEST(EngineSpanTable, SharesOfTypesAndUnattributedAddUpTo100) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    for (int pass = 0; pass < 7; ++pass) table.addInstrumented(typePass(10.0 + pass, 30, 5.0 + 3 * pass));
    double sum = 0;
    for (const ProfileRow& each : table.rows(true)) {
        if (each.name != "total" && each.name != "profiler tax") sum += each.spanSharePct.value();
    }
    EXPECT_NEAR(sum, 100.0, 1e-9);
}

TEST(EngineSpanTable, AShareIsTheRatioOfSumsNotTheMeanOfRatios) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    table.addInstrumented(typePass(10, 10, 0));
    table.addInstrumented(typePass(10, 970, 0));
    EXPECT_DOUBLE_EQ(row(table.rows(false), "RMSNorm").spanSharePct.value(), 2.0);
}

TEST(EngineSpanTable, TimesAreMediansSoOneSlowPassDoesNotMoveThem) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    for (double norm : {10.0, 11.0, 10.5, 5000.0, 10.2}) table.addInstrumented(typePass(norm, 30, 0));
    EXPECT_DOUBLE_EQ(row(table.rows(false), "RMSNorm").spanUs.value(), 10.5);
}

TEST(EngineSpanTable, TheIntervalOfAShareHoldsTheShareAndHasWidth) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    for (int pass = 0; pass < 20; ++pass) table.addInstrumented(typePass(10 + pass % 3, 30 + pass % 5, 1));
    const ProfileRow norm = row(table.rows(true), "RMSNorm");
    EXPECT_LT(norm.spanShareCiLowPct.value(), norm.spanSharePct.value());
    EXPECT_GT(norm.spanShareCiHighPct.value(), norm.spanSharePct.value());
    EXPECT_FALSE(row(table.rows(false), "RMSNorm").spanShareCiLowPct.has_value());
}

TEST(EngineSpanTable, TheTaxIsInstrumentedOverPlain) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    for (int pass = 0; pass < 5; ++pass) {
        table.addInstrumented(typePass(40, 60, 4));
        table.addPlain(100);
    }
    const ProfileRow tax = row(table.rows(true), "profiler tax");
    EXPECT_NEAR(tax.spanUs.value(), 4.0, 1e-9);
    EXPECT_NEAR(tax.spanSharePct.value(), 4.0, 1e-9);
    EXPECT_NEAR(tax.spanShareCiLowPct.value(), 4.0, 1e-9);
}

TEST(EngineSpanTable, AProfilerThatDoublesThePassIsSeenInTheTaxAndNotInTheHeadline) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    for (int pass = 0; pass < 6; ++pass) {
        table.addInstrumented(typePass(80, 120, 0));
        table.addPlain(100);
    }
    const std::vector<ProfileRow> rows = table.rows(true);
    EXPECT_NEAR(row(rows, "profiler tax").spanSharePct.value(), 100.0, 1e-9);
    EXPECT_EQ(phaseHeadline(rows, "decode").substr(0, 22), "Decode 100 µs a token");
}

TEST(EngineSpanTable, AHostThatIsSlowForAWhileDoesNotWidenTheTaxsInterval) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    for (int pass = 0; pass < 40; ++pass) {
        const double slow = pass / 10 % 2 == 0 ? 1.0 : 1.5;  // in turns of ten, both kinds of pass alike
        table.addInstrumented(typePass(41.2 * slow, 60 * slow, (2 + pass % 3 * 0.1) * slow));
        table.addPlain(100 * slow);
    }
    const ProfileRow tax = row(table.rows(true), "profiler tax");
    EXPECT_LT(tax.spanShareCiHighPct.value() - tax.spanShareCiLowPct.value(), 1.0);
    EXPECT_NEAR(tax.spanSharePct.value(), 3.3, 0.3);
}

TEST(EngineSpanTable, ARunThatEndsBetweenTwoNeighboursPairsThoseBefore) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    for (int pass = 0; pass < 40; ++pass) {
        const double slow = pass / 10 % 2 == 0 ? 1.0 : 1.5;
        table.addInstrumented(typePass(41.2 * slow, 60 * slow, (2 + pass % 3 * 0.1) * slow));
        table.addPlain(100 * slow);
    }
    table.addPlain(100);
    const ProfileRow tax = row(table.rows(true), "profiler tax");
    EXPECT_LT(tax.spanShareCiHighPct.value() - tax.spanShareCiLowPct.value(), 1.0);
}

TEST(EngineSpanTable, OfOnePassAloneNobodyKnowsHowMuchItVaries) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    const auto intervals = [&] {
        int count = 0;
        for (const ProfileRow& each : table.rows(true)) count += each.spanShareCiLowPct.has_value() || each.spanShareCiHighPct.has_value();
        return count;
    };
    table.addInstrumented(typePass(40, 60, 4));
    table.addPlain(100);
    EXPECT_EQ(intervals(), 0);
    EXPECT_FALSE(row(table.rows(true), "profiler tax").spanSharePct.has_value());
    EXPECT_NEAR(row(table.rows(true), "profiler tax").spanUs.value(), 4.0, 1e-9);  // with which the headline gives the plain pass
    table.addInstrumented(typePass(41, 61, 4));
    table.addPlain(101);
    EXPECT_EQ(intervals(), 4);  // two types, unattributed and the tax
}

TEST(EngineSpanTable, APhaseEndsWithUnattributedTotalAndTax) {
    SpanTable table("prefill", ProfileLevel::type, smallTree());
    table.addInstrumented(typePass(1, 2, 3));
    const std::vector<ProfileRow> rows = table.rows(false);
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[2].name, "unattributed");
    EXPECT_DOUBLE_EQ(rows[2].spanUs.value(), 3.0);
    EXPECT_EQ(rows[3].name, "total");
    EXPECT_EQ(rows[4].name, "profiler tax");
}

TEST(EngineSpanTable, AtLeafLevelAParentHasItsSelfTimeAlone) {
    SpanTable table("decode", ProfileLevel::leaf, smallTree());
    PassSpans pass;
    pass.visits = {{kAttention, 0, 27, 7, 0, 0}, {kProjection, 3, 20, 20, 0, 0}};
    pass.totalUs = 30;
    table.addInstrumented(pass);
    const std::vector<ProfileRow> rows = table.rows(false);
    EXPECT_FALSE(row(rows, "model.layers.0.self_attn").spanUs.has_value());
    EXPECT_DOUBLE_EQ(row(rows, "model.layers.0.self_attn").selfSpanUs.value(), 7.0);
    EXPECT_DOUBLE_EQ(row(rows, "model.layers.0.self_attn.q_proj").spanUs.value(), 20.0);
}

TEST(EngineSpanTable, RawSamplesAreKeptUnderTheKeyOfTheirRow) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    table.addInstrumented(typePass(1, 2, 3));
    table.addPlain(6);
    const std::vector<SampleRow> samples = table.samples();
    ASSERT_EQ(samples.size(), 5U);
    EXPECT_EQ(samples[0].rowKey, "decode/type/RMSNorm");
    EXPECT_EQ(samples.back().metric, "plain_span_us");
}

}  // namespace
}  // namespace kernelscope
