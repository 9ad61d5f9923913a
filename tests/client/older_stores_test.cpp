// What earlier versions of the program wrote opens for ever: a fixture of each version of the store and of the document.

#include <cmath>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/client/compare.h"
#include "core/client/export.h"
#include "core/client/file.h"
#include "core/client/import.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

/// The store as the program of that time left it.
std::filesystem::path storeOfVersion(const TemporaryFolder& folder, int version) {
    const auto file = folder / ("version-" + std::to_string(version) + ".sqlite");
    const auto sql = readFile(std::filesystem::path(KERNELSCOPE_FIXTURES) / "stores" / ("version-" + std::to_string(version) + ".sql"));
    EXPECT_TRUE(sql.ok());
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(*sql);
    return file;
}

TEST(OlderStores, Version1OpensWithEverythingInIt) {
    const TemporaryFolder folder;
    const auto store = Store::open(storeOfVersion(folder, 1));
    ASSERT_TRUE(store.ok()) << store.error().message;
    const auto runs = (*store)->runs();
    ASSERT_TRUE(runs.ok());
    ASSERT_EQ(runs->size(), 3u);
    const RunSummary first = *(*store)->run("first1");
    EXPECT_EQ(first.tags, (std::vector<std::string>{"kept", "früher"}));
    EXPECT_EQ(first.note, "a note of then");
    EXPECT_TRUE(first.pinned);
    EXPECT_EQ(first.rows, 3);
    const auto rows = (*store)->rows("first1", "profile");
    ASSERT_EQ(rows->size(), 3u);
    EXPECT_EQ(rowFrom<ProfileRow>((*rows)[0].values)->spanUs, 600);
    EXPECT_TRUE(std::isnan(*rowFrom<ProfileRow>((*rows)[0].values)->gpuSharePct));
    EXPECT_EQ(*(*store)->rowCount("first1", "sample"), 18);
    EXPECT_EQ(*(*store)->rowCount("first1", "profile_event"), 0) << "a row type that came later";
    EXPECT_EQ((*store)->run("gone")->header.status, RunStatus::interrupted);
}

TEST(OlderStores, Version1ComparesExportsAndGrows) {
    const TemporaryFolder folder;
    const auto store = Store::open(storeOfVersion(folder, 1));
    ASSERT_TRUE(store.ok());
    const std::vector<std::string> ids{"first1", "second"};
    const auto comparison = compareRuns(**store, ids);
    ASSERT_TRUE(comparison.ok());
    for (const CompareRow& row : comparison->rows) EXPECT_EQ(row.verdict, "faster") << row.key << row.reason;
    for (const ExportFormat format : {ExportFormat::csv, ExportFormat::json, ExportFormat::markdown, ExportFormat::html}) {
        const auto document = exportRun(**store, "first1", format, {true});
        ASSERT_TRUE(document.ok());
        EXPECT_NE(document->find("Attention"), std::string::npos);
    }
    EXPECT_TRUE((*store)->putRow("first1", {"profile_event", "0", valuesOf(ProfileEventRow{"decode", "span", "a", "b", "c", 0, 1, 2})}).ok());
    EXPECT_TRUE(exportRun(**store, "first1", ExportFormat::trace).ok());
}

TEST(OlderStores, ADocumentOfSchema1IsImported) {
    const auto text = readFile(std::filesystem::path(KERNELSCOPE_FIXTURES) / "stores/schema-1.json");
    ASSERT_TRUE(text.ok());
    const auto store = std::move(*Store::open(":memory:"));
    const auto made = importRun(*store, *text);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->device, "NVIDIA H200");
    EXPECT_GE(store->run(made->id)->rows, 8);
}

}  // namespace
}  // namespace kernelscope
