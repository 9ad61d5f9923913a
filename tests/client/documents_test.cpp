// Exports, imports and comparisons: documents made from what a store holds.

#include <nlohmann/json.hpp>

#include "core/client/compare.h"
#include "core/client/export.h"
#include "core/client/import.h"
#include "core/records/context_rows.h"
#include "core/records/csv.h"
#include "core/records/json_read.h"
#include "core/records/row_key.h"
#include "core/records/statistics.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

using nlohmann::json;

std::unique_ptr<Store> memoryStore() { return std::move(*Store::open(":memory:")); }

RunHeader header(const std::string& id, const std::string& kind = "profile") {
    RunHeader run;
    run.id = id;
    run.kind = kind;
    run.command = "kernelscope-cli " + kind + " --model 'a \"b\" <c>'";
    run.model = "Qwen2.5-tiny";
    run.weights = "random";
    run.device = "a CPU";
    run.dtype = "float32";
    run.environment = {{"cpu", "a <CPU>"}, {"tf32", false}, {"cpu_threads", 2}};
    run.status = RunStatus::done;
    run.headline = "Decode 1.00 ms a token";
    run.when = "2026-01-31T12:34:56Z";
    return run;
}

ProfileRow profileRowOf(const std::string& name, double span) {
    ProfileRow row{"decode", "type", name, name};
    row.calls = 2;
    row.spanUs = row.selfSpanUs = span;
    row.spanSharePct = span / 10;
    row.spanShareCiLowPct = span / 10 - 1;
    row.spanShareCiHighPct = span / 10 + 1;
    return row;
}

/// A profile with samples that scatter by 1 % around each row's span.
void addProfile(Store& store, const RunHeader& run, const std::vector<std::pair<std::string, double>>& rows, int passes = 50) {
    ASSERT_TRUE(store.createRun(run).ok());
    SeededGenerator random(std::hash<std::string>{}(run.id));
    for (const auto& [name, span] : rows) {
        const ProfileRow row = profileRowOf(name, span);
        ASSERT_TRUE(store.putRow(run.id, {"profile", "decode/type/" + name, valuesOf(row)}).ok());
        std::vector<RowRecord> samples;
        for (int pass = 0; pass < passes; ++pass) {
            const double scatter = 1 + 0.02 * (static_cast<double>(random.below(1000)) / 1000 - 0.5);
            samples.push_back({"sample", name + std::to_string(pass), valuesOf(SampleRow{"decode/type/" + name, "self_span_us", pass, span * scatter})});
        }
        ASSERT_TRUE(store.putRows(run.id, samples).ok());
    }
}

TEST(Export, CsvHoldsTheRowsAndNothingElse) {
    const auto store = memoryStore();
    addProfile(*store, header("a"), {{"Attention", 600}, {"total", 1000}}, 1);
    EXPECT_EQ(*exportRun(*store, "a", ExportFormat::csv),
              csvHeader(rowTypeOf<ProfileRow>()) + csvLine(valuesOf(profileRowOf("Attention", 600))) + csvLine(valuesOf(profileRowOf("total", 1000))));
    EXPECT_EQ(exportRun(*store, "a", ExportFormat::csv, {true})->substr(0, 28), "row_key,metric,pass,value\r\nd");
}

TEST(Export, JsonHasTheCsvsColumnsInTheirOrder) {
    const auto store = memoryStore();
    addProfile(*store, header("a"), {{"Attention", 600}}, 0);
    const std::string text = *exportRun(*store, "a", ExportFormat::json);
    const json document = json::parse(text);
    EXPECT_EQ(document.at("schema"), 1);
    EXPECT_EQ(document.at("kind"), "profile");
    EXPECT_EQ(document.at("run").at("command"), header("a").command);
    ASSERT_EQ(document.at("rows").size(), 1u);
    EXPECT_EQ(document.at("rows")[0].size(), columnsOf<ProfileRow>().size());
    EXPECT_LT(text.find("\"phase\""), text.find("\"level\""));
    EXPECT_LT(text.find("\"level\""), text.find("\"span_us\""));
}

TEST(Export, GenerateHasFiguresOfItsOwnInsteadOfRows) {
    const auto store = memoryStore();
    RunHeader run = header("g", "generate");
    run.result = {{"token_ids", {1, 2}}, {"text", "hi"}};
    ASSERT_TRUE(store->createRun(run).ok());
    const json document = json::parse(*exportRun(*store, "g", ExportFormat::json));
    EXPECT_EQ(document.at("token_ids"), json({1, 2}));
    EXPECT_FALSE(document.contains("rows"));
}

TEST(Export, MarkdownShowsTheFilledColumnsAndTheCommand) {
    const auto store = memoryStore();
    addProfile(*store, header("a"), {{"Atten|tion", 600}}, 0);
    const std::string text = *exportRun(*store, "a", ExportFormat::markdown);
    EXPECT_NE(text.find("| phase | level | name | type | calls | span\\_us |"), std::string::npos) << text;
    EXPECT_NE(text.find("Atten\\|tion"), std::string::npos);
    EXPECT_EQ(text.find("gpu\\_us"), std::string::npos);
    EXPECT_NE(text.find("- Command: `kernelscope-cli profile"), std::string::npos);
    EXPECT_NE(text.find("(random weights)"), std::string::npos);
}

TEST(Export, TheReportStandsAloneAndEscapesWhatItShows) {
    const auto store = memoryStore();
    addProfile(*store, header("a"), {{"Attention", 600}, {"<script>alert(1)</script>", 300}, {"total", 1000}}, 0);
    const std::string text = *exportRun(*store, "a", ExportFormat::html);
    EXPECT_EQ(text.rfind("<!DOCTYPE html>", 0), 0u);
    EXPECT_EQ(text.find("<script"), std::string::npos);
    for (const char* outside : {"http:", "https:", "src=", "@import", "url("}) EXPECT_EQ(text.find(outside), std::string::npos) << outside;
    EXPECT_NE(text.find("aria-label=\"decode: Attention takes 60.0 %, then &lt;script&gt;"), std::string::npos);
    EXPECT_NE(text.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_NE(text.find("@media print"), std::string::npos);
    EXPECT_NE(text.find("a &lt;CPU&gt;"), std::string::npos) << "the environment";
}

TEST(Export, ASweepsReportDrawsOneLineAVariant) {
    const auto store = memoryStore();
    ASSERT_TRUE(store->createRun(header("s", "sweep")).ok());
    for (const std::int64_t rows : {1, 64, 2048}) {
        SweepRow row{"rms_norm", "vector", "float16", 896, rows, "cold", "ok"};
        row.speedup = 1.5;
        row.speedupCiLow = 1.4;
        row.speedupCiHigh = 1.6;
        ASSERT_TRUE(store->putRow("s", {"sweep", rowKey(row), valuesOf(row)}).ok());
    }
    const std::string text = *exportRun(*store, "s", ExportFormat::html);
    EXPECT_NE(text.find("Speed-up over rows: rms_norm, float16, cold"), std::string::npos);
    EXPECT_NE(text.find("<figcaption>vector</figcaption>"), std::string::npos);
    EXPECT_NE(text.find("aria-label=\"rms_norm, float16, cold, vector: from 1.50x to 1.50x the baseline over 1 hidden sizes\""), std::string::npos) << text;
}

TEST(Export, AContextRunTakesItsSharesAlongAndTheReportDrawsThem) {
    const auto from = memoryStore(), to = memoryStore();
    ASSERT_TRUE(from->createRun(header("c", "context")).ok());
    for (const std::int64_t tokens : {32, 2048}) {
        ContextRow row;
        row.batch = 1;
        row.contextTokens = tokens;
        row.status = "ok";
        row.decodeMsPerToken = 2 + static_cast<double>(tokens) / 1024;
        ASSERT_TRUE(from->putRow("c", {"context", rowKey(row), valuesOf(row)}).ok());
        for (const auto& [type, share] : {std::pair{"Attention", 60.0}, {"MLP", 40.0}})
            ASSERT_TRUE(from->putRow("c", {"context_share", type + std::to_string(tokens), valuesOf(ContextShareRow{1, tokens, type, share, {}})}).ok());
    }
    const std::string html = *exportRun(*from, "c", ExportFormat::html);
    EXPECT_NE(html.find("Decode, a token: batch 1: 2.03 ms at 32 tokens, 4.00 at 2048"), std::string::npos) << html;
    EXPECT_NE(html.find("32 tokens: Attention 60 %, MLP 40 %; 2048 tokens:"), std::string::npos);
    ASSERT_TRUE(importRun(*to, *exportRun(*from, "c", ExportFormat::json)).ok());
    EXPECT_EQ(to->rows("c", "context_share")->size(), 4u) << "without --samples too";
}

TEST(Export, GoesToAFolderUnderTheRunsName) {
    const TemporaryFolder folder;
    EXPECT_EQ(exportPath(folder.path(), header("a"), ExportFormat::html), folder / "profile-a.html");
    EXPECT_EQ(exportPath("out/", header("a"), ExportFormat::csv), "out/profile-a.csv");
    EXPECT_EQ(exportPath("out.csv", header("a"), ExportFormat::csv), "out.csv");
    EXPECT_EQ(exportFormatOf("x.trace.json"), ExportFormat::trace);
    EXPECT_EQ(exportFormatOf("x.json"), ExportFormat::json);
    EXPECT_EQ(exportFormatOf("x"), std::nullopt);
}

TEST(Import, AFullExportComesBackWhole) {
    const auto from = memoryStore(), to = memoryStore();
    addProfile(*from, header("a"), {{"Attention", 600}, {"total", 1000}}, 3);
    const auto made = importRun(*to, *exportRun(*from, "a", ExportFormat::json, {true}));
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->id, "a");
    EXPECT_EQ(*exportRun(*to, "a", ExportFormat::json, {true}), *exportRun(*from, "a", ExportFormat::json, {true}));
    const auto again = importRun(*to, *exportRun(*from, "a", ExportFormat::json));
    ASSERT_TRUE(again.ok());
    EXPECT_NE(again->id, "a") << "a taken id is not overwritten";
    EXPECT_EQ(to->run(again->id)->rows, 2);
}

TEST(Import, WhatIsNoRunIsRefusedInWordsAndLeavesNothing) {
    const auto store = memoryStore();
    for (const char* text : {"", "{}", "[]", "\xff", "{\"schema\": 2, \"kind\": \"profile\", \"run\": {}}", "{\"schema\": 1, \"kind\": \"weather\", \"run\": {}}",
                             "{\"schema\": 1, \"kind\": \"profile\", \"run\": {}, \"rows\": {}}", "{\"schema\": 1, \"kind\": \"profile\", \"run\": {}, \"rows\": [{\"span_us\": \"x\"}]}",
                             "{\"schema\": 1, \"kind\": \"profile\", \"run\": {}, \"rows\": [7]}", "{\"schema\": 1, \"kind\": \"profile\", \"run\": {}, \"samples\": [[]]}"}) {
        const auto made = importRun(*store, text);
        ASSERT_FALSE(made.ok()) << text;
        EXPECT_EQ(made.error().code, ErrorCode::badInput) << text;
    }
    EXPECT_TRUE(store->runs()->empty());
}

TEST(Import, WhatIsNoJsonIsSaidWithThePlaceAndTheCause) {
    const auto store = memoryStore();
    const std::string deep = std::string(100, '[') + std::string(100, ']');
    for (const auto& [text, words] : {std::pair<std::string, const char*>{"", "it is empty"}, {" \n", "it is empty"}, {"{\"schema\": 1,\n\"kind\": profile}", "line 2, column"},
                                      {"{\"schema\": 1", "unexpected end of input"}, {"{\"a\": 1e400}", "1e400"}, {"{\"a\": NaN}", "line 1, column"}, {std::string("\xff\xfe{\0", 4), "not UTF-8 (byte 1)"},
                                      {"{\"a\": \"\\ud800\"}", "surrogate"}, {deep, "64 levels"}, {"{} x", "line 1, column 4"}}) {
        const auto made = importRun(*store, text);
        ASSERT_FALSE(made.ok()) << text;
        EXPECT_NE(made.error().message.find("this is not JSON: "), std::string::npos) << made.error().message;
        EXPECT_NE(made.error().message.find(words), std::string::npos) << made.error().message;
    }
}

TEST(Import, ARunExportedWhileItRanIsInterruptedHere) {
    const auto from = memoryStore(), to = memoryStore();
    RunHeader run = header("a");
    run.status = RunStatus::running;
    ASSERT_TRUE(from->createRun(run).ok());
    EXPECT_EQ(importRun(*to, *exportRun(*from, "a", ExportFormat::json))->status, RunStatus::interrupted);
}

// ---- comparing

const CompareRow& rowFor(const Comparison& comparison, const std::string& key) {
    for (const CompareRow& row : comparison.rows)
        if (row.key == key) return row;
    static const CompareRow none;
    ADD_FAILURE() << "no row " << key;
    return none;
}

Comparison compare(const Store& store, std::vector<std::string> ids) {
    auto comparison = compareRuns(store, ids);
    EXPECT_TRUE(comparison.ok()) << (comparison.ok() ? "" : comparison.error().message);
    return comparison ? std::move(*comparison) : Comparison{};
}

TEST(Compare, FindsWhatBecameFasterSlowerAndStayed) {
    const auto store = memoryStore();
    addProfile(*store, header("old"), {{"Attention", 600}, {"MLP", 300}, {"RMSNorm", 100}, {"total", 1000}});
    addProfile(*store, header("new"), {{"Attention", 400}, {"MLP", 300}, {"RMSNorm", 150}, {"total", 850}});
    const Comparison comparison = compare(*store, {"old", "new"});
    EXPECT_EQ(rowFor(comparison, "decode|type|Attention").verdict, "faster");
    EXPECT_DOUBLE_EQ(*rowFor(comparison, "decode|type|Attention").ratio, 1.5);
    EXPECT_EQ(rowFor(comparison, "decode|type|MLP").verdict, "same");
    EXPECT_EQ(rowFor(comparison, "decode|type|RMSNorm").verdict, "slower");
    const CompareRow& total = rowFor(comparison, "decode|type|total");
    EXPECT_LT(*total.ratioCiLow, *total.ratio);
    EXPECT_GT(*total.ratioCiHigh, *total.ratio);
    EXPECT_TRUE(comparison.notes.empty());
    EXPECT_EQ(judgeRegression(comparison, 5), Judgement::fine);
    EXPECT_EQ(judgeRegression(compare(*store, {"new", "old"}), 5), Judgement::regression);
    EXPECT_EQ(judgeRegression(compare(*store, {"new", "old"}), 30), Judgement::fine) << "17.6 % slower is allowed there";
}

TEST(Compare, IsAReportWithChartsAndTheCommandsOfItsRuns) {
    const auto store = memoryStore();
    addProfile(*store, header("old"), {{"Attention", 600}, {"MLP", 300}, {"<b>", 100}, {"total", 1000}});
    addProfile(*store, header("new"), {{"Attention", 400}, {"MLP", 300}, {"<b>", 150}, {"total", 850}});
    const Comparison comparison = compare(*store, {"old", "new"});
    const std::string html = comparisonDocument(comparison, ExportFormat::html, "kernelscope-cli compare old new");
    EXPECT_NE(html.find("<p class=\"headline\">4 rows: 2 faster, 1 slower, 1 the same</p>"), std::string::npos) << html;
    EXPECT_NE(html.find("Ratio to the baseline: span_us"), std::string::npos);
    EXPECT_NE(html.find("aria-label=\"4 rows: 2 faster, 1 slower; the largest change is"), std::string::npos);
    EXPECT_EQ(html.find("<b>"), std::string::npos);
    EXPECT_NE(html.find("kernelscope-cli compare old new"), std::string::npos);
    EXPECT_NE(html.find("<dt>Baseline</dt><dd>old, 2026-01-31T12:34:56Z"), std::string::npos);
    EXPECT_NE(html.find("a &lt;CPU&gt;"), std::string::npos) << "the environment";
    for (const char* outside : {"http:", "https:", "src=", "@import", "url("}) EXPECT_EQ(html.find(outside), std::string::npos) << outside;
    EXPECT_EQ(json::parse(comparisonDocument(comparison, ExportFormat::json, "c")).at("rows").size(), 4u);
    EXPECT_NE(comparisonDocument(comparison, ExportFormat::markdown, "c").find("- Candidate: new"), std::string::npos);
}

TEST(Export, TheReportOfAnEndToEndRunDrawsBothConfigurations) {
    const auto store = memoryStore();
    ASSERT_TRUE(store->createRun(header("e", "e2e")).ok());
    for (const auto& [configuration, total] : {std::pair{"native", 300.0}, {"patched", 200.0}}) {
        EndToEndRow row{.configuration = configuration, .mode = "eager", .status = "ok"};
        row.totalMs = total;
        ASSERT_TRUE(store->putRow("e", {"e2e", rowKey(row), valuesOf(row)}).ok());
    }
    const std::string text = *exportRun(*store, "e", ExportFormat::html);
    EXPECT_NE(text.find("aria-label=\"In all: native, eager 300.0 ms, patched, eager 200.0 ms\""), std::string::npos) << text;
}

TEST(Compare, RowsOfOneSideAreListedAndTheRestIsCompared) {
    const auto store = memoryStore();
    addProfile(*store, header("full"), {{"Attention", 600}, {"MLP", 300}, {"total", 1000}});
    addProfile(*store, header("part"), {{"MLP", 300}, {"LM head", 50}});
    const Comparison comparison = compare(*store, {"full", "part"});
    EXPECT_EQ(comparison.rows.size(), 4u);
    EXPECT_EQ(rowFor(comparison, "decode|type|Attention").reason, "only in the baseline");
    EXPECT_EQ(rowFor(comparison, "decode|type|LM head").reason, "only in the candidate");
    EXPECT_EQ(rowFor(comparison, "decode|type|LM head").verdict, "unmatched");
    EXPECT_EQ(rowFor(comparison, "decode|type|MLP").verdict, "same");
    EXPECT_EQ(judgeRegression(comparison, 5), Judgement::cantTell) << "no total on both sides";
}

TEST(Compare, ProfilesOfTwoLevelsAreSaidToHaveNothingInCommon) {
    const auto store = memoryStore();
    for (const char* level : {"block", "leaf"}) {
        RunHeader run = header(level);
        run.settings["level"] = level;
        addProfile(*store, run, {{"total", 1000}});
    }
    const Comparison comparison = compare(*store, {"block", "leaf"});
    ASSERT_EQ(comparison.notes.size(), 1u);
    EXPECT_EQ(comparison.notes.front(), "block and leaf: their levels, block and leaf, have no rows in common; profile both at one");
    EXPECT_TRUE(compare(*store, {"leaf", "leaf"}).notes.empty());
}

TEST(Compare, NoWinnerIsCalledAcrossDevicesTypesOrPrecision) {
    const auto store = memoryStore();
    addProfile(*store, header("base"), {{"total", 1000}});
    const auto whyNot = [&](const std::string& id, auto change) {
        RunHeader other = header(id);
        change(other);
        addProfile(*store, other, {{"total", 500}});
        const Comparison comparison = compare(*store, {"base", id});
        EXPECT_EQ(comparison.rows[0].verdict, "cant_tell");
        EXPECT_DOUBLE_EQ(*comparison.rows[0].ratio, 2) << "the figure is shown all the same";
        EXPECT_EQ(comparison.notes.size(), 1u);
        EXPECT_EQ(judgeRegression(comparison, 5), Judgement::cantTell);
        return comparison.rows[0].reason;
    };
    EXPECT_EQ(whyNot("device", [](RunHeader& run) { run.device = "NVIDIA H200"; }), "different devices: a CPU and NVIDIA H200");
    EXPECT_EQ(whyNot("dtype", [](RunHeader& run) { run.dtype = "float16"; }), "different types: float32 and float16");
    EXPECT_EQ(whyNot("tf32", [](RunHeader& run) { run.environment["tf32"] = true; }), "different tf32: false and true");
    EXPECT_EQ(whyNot("threads", [](RunHeader& run) { run.environment["cpu_threads"] = 8; }), "different cpu_threads: 2 and 8");
}

TEST(Compare, WithoutSamplesOneFigureAgainstAnotherProvesNothing) {
    const auto store = memoryStore();
    addProfile(*store, header("a"), {{"total", 1000}}, 0);
    addProfile(*store, header("b"), {{"total", 500}}, 0);
    EXPECT_EQ(compare(*store, {"a", "b"}).rows[0].verdict, "cant_tell");
    addProfile(*store, header("c"), {{"total", 1000}}, 3);
    addProfile(*store, header("d"), {{"total", 500}}, 3);
    EXPECT_EQ(compare(*store, {"c", "d"}).rows[0].reason, "3 samples on each side; an interval needs 5 or more");
    EXPECT_EQ(compare(*store, {"a", "d"}).rows[0].reason, "0 samples in the baseline and 3 in the candidate; an interval needs 5 or more in each");
}

TEST(Compare, SweepsUseTheIntervalsOfTheirRows) {
    const auto store = memoryStore();
    for (const auto& [id, us] : {std::pair{"a", 10.0}, {"b", 8.0}}) {
        ASSERT_TRUE(store->createRun(header(id, "sweep")).ok());
        SweepRow row{"rms_norm", "vector", "float16", 896, 64, "cold", "ok"};
        row.deviceUs = us;
        row.deviceCiLowUs = us * 0.99;
        row.deviceCiHighUs = us * 1.01;
        ASSERT_TRUE(store->putRow(id, {"sweep", rowKey(row), valuesOf(row)}).ok());
    }
    const Comparison comparison = compare(*store, {"a", "b"});
    ASSERT_EQ(comparison.rows.size(), 1u);
    EXPECT_EQ(comparison.rows[0].key, "rms_norm|vector|float16|896|64|cold");
    EXPECT_EQ(comparison.rows[0].verdict, "faster");
    EXPECT_DOUBLE_EQ(*comparison.rows[0].ratio, 1.25);
    EXPECT_EQ(comparison.rows[0].candidateRun, "b");
}

TEST(Compare, AnInterruptedRunComparesWhatItHolds) {
    const auto store = memoryStore();
    addProfile(*store, header("a"), {{"total", 1000}});
    RunHeader broken = header("b");
    broken.status = RunStatus::interrupted;
    addProfile(*store, broken, {{"total", 1000}});
    const Comparison comparison = compare(*store, {"a", "b"});
    EXPECT_EQ(comparison.rows[0].verdict, "same");
    EXPECT_EQ(comparison.notes[0], "run b is interrupted: what it holds is compared");
}

TEST(Compare, WhatCannotBeComparedIsSaid) {
    const auto store = memoryStore();
    addProfile(*store, header("a"), {{"total", 1000}});
    ASSERT_TRUE(store->createRun(header("s", "sweep")).ok());
    ASSERT_TRUE(store->createRun(header("v", "validate")).ok());
    ASSERT_TRUE(store->createRun(header("w", "validate")).ok());
    const auto error = [&](std::vector<std::string> ids) { return compareRuns(*store, ids).error(); };
    EXPECT_EQ(error({"a"}).code, ErrorCode::usage);
    EXPECT_EQ(error({"a", "nobody"}).code, ErrorCode::badInput);
    EXPECT_EQ(error({"a", "s"}).message, "run s is a sweep, a a profile");
    EXPECT_EQ(error({"v", "w"}).message, "runs of kind 'validate' hold no times to compare");
}

TEST(RowKey, NamesARowAndReadsBack) {
    ValidateRow row{"rms_norm", "odd|na\\me", "float16", 896, 7, "basic"};
    EXPECT_EQ(rowKey(row), "rms_norm|odd\\|na\\\\me|float16|896|7|basic");
    const auto values = valuesFromKey(rowTypeOf<ValidateRow>(), rowKey(row));
    ASSERT_TRUE(values.ok());
    EXPECT_EQ(rowFrom<ValidateRow>(*values), row);
    EXPECT_EQ(keyPrefix(rowKey(row), 2), "rms_norm|odd\\|na\\\\me");
    for (const char* bad : {"", "a|b", "a|b|c|x|7|basic", "a|b|c|1|2|3|4"}) EXPECT_FALSE(valuesFromKey(rowTypeOf<ValidateRow>(), bad).ok()) << bad;
    EXPECT_FALSE(valuesFromKey(rowTypeOf<SampleRow>(), "a").ok());
}

}  // namespace
}  // namespace kernelscope
