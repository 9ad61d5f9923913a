// The Chrome trace of one pass: what a viewer takes, and what it would pass over.

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/client/export.h"
#include "core/client/store.h"
#include "core/records/rows.h"

namespace kernelscope {
namespace {

using nlohmann::json;

std::unique_ptr<Store> memoryStore() { return std::move(*Store::open(":memory:")); }

RunHeader profileRun() {
    RunHeader run;
    run.id = "a";
    run.kind = "profile";
    return run;
}

TEST(TraceExport, IsWhatAViewerOpens) {
    const auto store = memoryStore();
    ASSERT_TRUE(store->createRun(profileRun()).ok());
    EXPECT_EQ(exportRun(*store, "a", ExportFormat::trace).error().code, ErrorCode::badInput);
    const ProfileEventRow outer{"decode", "span", "model.layers.0", "", "model.layers.0", 0, 1, 10};
    const ProfileEventRow inner{"decode", "span", "model.layers.0.mlp", "MLP", "model.layers.0.mlp", 1, 2, 5};
    const ProfileEventRow kernel{"decode", "kernel", "gemm", "MLP", "model.layers.0.mlp", 0, 0, 3};
    for (const auto& event : {outer, inner, kernel}) ASSERT_TRUE(store->putRow("a", {"profile_event", event.name, valuesOf(event)}).ok());
    const json document = json::parse(*exportRun(*store, "a", ExportFormat::trace));
    int spans = 0;
    for (const json& event : document.at("traceEvents")) {
        if (event.at("ph") != "X") continue;
        ++spans;
        EXPECT_GE(event.at("ts").get<double>(), 0);
        EXPECT_TRUE(event.contains("dur") && event.contains("pid") && event.contains("tid"));
    }
    EXPECT_EQ(spans, 3);
}

// A viewer counts whole nanoseconds and passes over what does not nest: 30 kernels back to back in a module that ends with the last of them.
TEST(TraceExport, EventsNestToTheNanosecond) {
    const auto store = memoryStore();
    ASSERT_TRUE(store->createRun(profileRun()).ok());
    std::vector<ProfileEventRow> events(1);
    double at = 0.3333;
    for (int i = 0; i < 30; ++i, at += 1.2345678) events.push_back({"decode", "span", "child " + std::to_string(i), "MLP", "", 1, at, 1.2345678});
    events.front() = {"decode", "span", "parent", "", "", 0, 0.3333, at - 0.3333};
    for (const auto& event : events) ASSERT_TRUE(store->putRow("a", {"profile_event", event.name, valuesOf(event)}).ok());
    std::int64_t parentEnd = 0, lastEnd = 0;
    for (const json& event : json::parse(*exportRun(*store, "a", ExportFormat::trace)).at("traceEvents")) {
        if (event.at("ph") != "X") continue;
        const double ts = 1000 * event.at("ts").get<double>(), dur = 1000 * event.at("dur").get<double>();
        EXPECT_NEAR(ts, std::round(ts), 1e-6);
        EXPECT_NEAR(dur, std::round(dur), 1e-6);
        const std::int64_t begin = std::llround(ts), end = begin + std::llround(dur);
        if (event.at("name") == "parent") { parentEnd = end; continue; }
        EXPECT_TRUE(lastEnd == 0 || begin == lastEnd) << event;
        lastEnd = end;
    }
    EXPECT_EQ(lastEnd, parentEnd);
}

}  // namespace
}  // namespace kernelscope
