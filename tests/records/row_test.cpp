#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/records/json_read.h"
#include "core/records/rows.h"
#include "core/records/run.h"

namespace kernelscope {
namespace {

using nlohmann::json;

ProfileRow attention() {
    ProfileRow row{"decode", "type", "Attention", "Attention"};
    row.calls = 24;
    row.spanUs = 3000.5;
    row.selfSpanUs = 3000.5;
    row.spanSharePct = 48.25;
    row.note = "ein \"Wort\", zwei";
    return row;
}

TEST(Row, EveryRowTypeIsFoundByItsName) {
    for (const RowType& type : rowTypes()) EXPECT_EQ(findRowType(type.name)->columns.data(), type.columns.data());
    EXPECT_EQ(findRowType("no such type"), nullptr);
}

TEST(Row, ProfileColumnsAreTheContractsInOrder) {
    std::string names;
    for (const Column& column : columnsOf<ProfileRow>()) names += (names.empty() ? "" : ",") + std::string(column.name);
    EXPECT_EQ(names,
              "phase,level,name,type,calls,kernels,span_us,self_span_us,gpu_us,self_gpu_us,kernel_us,gap_us,span_share_pct,"
              "gpu_share_pct,span_share_ci_low_pct,span_share_ci_high_pct,gpu_share_ci_low_pct,gpu_share_ci_high_pct,note");
}

TEST(Row, GoesThroughJsonUnchanged) {
    const RowType type = rowTypeOf<ProfileRow>();
    const json object = json::parse(dumpJson(toJson(type, valuesOf(attention()))));
    EXPECT_TRUE(object.at("gpu_us").is_null());
    const auto values = valuesFromJson(type, object);
    ASSERT_TRUE(values.ok());
    EXPECT_EQ(rowFrom<ProfileRow>(*values), attention());
}

TEST(Row, NaNAndInfinitiesTravelAsWords) {
    const RowType type = rowTypeOf<SampleRow>();
    for (const double value : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
        const auto back = valuesFromJson(type, json::parse(toJson(type, valuesOf(SampleRow{"k", "m", 1, value})).dump()));
        ASSERT_TRUE(back.ok());
        EXPECT_EQ(rowFrom<SampleRow>(*back)->value, value);
    }
    const auto back = valuesFromJson(type, toJson(type, valuesOf(SampleRow{"k", "m", 1, std::nan("")})));
    ASSERT_TRUE(back.ok());
    EXPECT_TRUE(std::isnan(rowFrom<SampleRow>(*back)->value));
}

TEST(Row, MissingColumnsAreUnknownAndUnknownKeysAreIgnored) {
    const auto values = valuesFromJson(rowTypeOf<ProfileRow>(), {{"name", "MLP"}, {"from_the_future", 1}});
    ASSERT_TRUE(values.ok());
    const auto row = rowFrom<ProfileRow>(*values);
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(row->name, "MLP");
    EXPECT_FALSE(row->spanUs.has_value());
}

TEST(Row, AWrongKindIsRefusedNamingTheColumn) {
    const RowType type = rowTypeOf<ProfileRow>();
    for (const json& object : {json{{"span_us", "fast"}}, json{{"span_us", true}}, json{{"span_us", json::array()}}})
        EXPECT_EQ(valuesFromJson(type, object).error().message, "row of type profile: span_us is not a number");
    EXPECT_EQ(valuesFromJson(type, {{"calls", 1.5}}).error().message, "row of type profile: calls is not an integer");
    EXPECT_EQ(valuesFromJson(type, {{"calls", 1e300}}).error().message, "row of type profile: calls is not an integer");
    EXPECT_EQ(valuesFromJson(type, {{"calls", 18446744073709551615ULL}}).error().message,
              "row of type profile: calls is not an integer");
    EXPECT_EQ(valuesFromJson(type, {{"name", 1}}).error().message, "row of type profile: name is not text");
    EXPECT_FALSE(valuesFromJson(type, json::array()).ok());
    EXPECT_FALSE(valuesFromJson(type, json(nullptr)).ok());
}

RunHeader exampleRun() {
    RunHeader run;
    run.id = "k3x9";
    run.when = "2026-01-31T12:34:56Z";
    run.kind = "profile";
    run.command = "kernelscope-cli profile --model qwen2.5-tiny";
    run.environment = {{"cpu", "a CPU"}};
    run.model = "qwen2.5-tiny";
    run.weights = "random";
    run.device = "a CPU";
    run.dtype = "float32";
    run.settings = {{"phase", "decode"}};
    run.seed = 7;
    run.status = RunStatus::cancelled;
    run.reason = "stopped by the user";
    run.headline = "Decode 6.21 ms a token";
    run.result = {{"ttft_ms", 4.5}};
    return run;
}

TEST(Run, GoesThroughJsonUnchanged) {
    const auto back = runHeaderFromJson(json::parse(dumpJson(toJson(exampleRun()))));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(toJson(*back), toJson(exampleRun()));
    EXPECT_EQ(back->result, exampleRun().result);
    EXPECT_EQ(back->status, RunStatus::cancelled);
}

TEST(Run, FiguresOfItsOwnStandBesideTheRun) {
    const json document = toJson(exampleRun());
    EXPECT_EQ(document.at("schema"), 1);
    EXPECT_EQ(document.at("ttft_ms"), 4.5);
    EXPECT_EQ(document.at("run").at("status"), "cancelled");
}

TEST(Run, ANewerSchemaIsRefusedInWords) {
    json document = toJson(exampleRun());
    document["schema"] = 2;
    const auto back = runHeaderFromJson(document);
    ASSERT_FALSE(back.ok());
    EXPECT_EQ(back.error().code, ErrorCode::badInput);
    EXPECT_NE(back.error().message.find("schema 2, newer than the 1"), std::string::npos);
}

TEST(Run, WhatIsNoRunIsRefused) {
    for (const char* text : {"{}", "[]", "null", "1", R"({"schema":1})", R"({"schema":1,"kind":"profile"})",
                             R"({"schema":"1","kind":"profile","run":{}})", R"({"schema":1,"kind":3,"run":{}})",
                             R"({"schema":1,"kind":"profile","run":[]})", R"({"schema":1,"kind":"profile","run":{"seed":"x"}})",
                             R"({"schema":1,"kind":"profile","run":{"status":"asleep"}})", R"({"schema":0,"kind":"p","run":{}})"})
        EXPECT_FALSE(runHeaderFromJson(json::parse(text)).ok()) << text;
}

TEST(JsonText, DeepNestingIsNotParsed) {
    EXPECT_TRUE(parseJson(std::string(60, '[') + std::string(60, ']')).has_value());
    EXPECT_FALSE(parseJson(std::string(100'000, '[')).has_value());
    EXPECT_TRUE(parseJson("\"" + std::string(100, '[') + "\"").has_value()) << "brackets inside a string are text";
}

}  // namespace
}  // namespace kernelscope
