#include <gtest/gtest.h>

#include <clocale>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "core/records/csv.h"
#include "core/records/json_read.h"
#include "ui/models/profile_tree.h"
#include "ui/models/runs_table.h"
#include "ui/services/command_line.h"
#include "ui/services/export_run.h"
#include "ui/services/run_library.h"
#include "ui/stall_watch.h"
#include "ui/text.h"
#include "ui/widgets/table_view.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

QByteArray contentOf(const QString& file) {
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

RunRows madeRun() {
    RunRows run(profileHeader());
    for (const ProfileRow& row : profileRows()) run.apply(recordOf(row));
    return run;
}

TEST(RunRows, ALaterRowOfTheSameKeyKeepsThePlaceOfTheEarlier) {
    RunRows run = madeRun();
    ProfileRow changed = profileRows()[0];
    changed.spanUs = 1;
    run.apply(recordOf(changed));
    run.apply({"sample", "s", valuesOf(SampleRow{"k", "span_us", 0, 1.0})});
    ASSERT_EQ(run.records().size(), 10u);
    EXPECT_EQ(run.as<ProfileRow>().front(), changed);
    EXPECT_EQ(run.othersAs<SampleRow>().size(), 1u);
}

TEST(Export, WritesTheRowsAsCsvAndMakesTheFolder) {
    QTemporaryDir folder;
    const QString file = folder.filePath("made for it/übung.csv");
    const RunRows run = madeRun();
    ASSERT_TRUE(exportRun(run, file).ok());
    std::vector<Values> values;
    for (const RowRecord& record : run.records()) values.push_back(record.values);
    EXPECT_EQ(contentOf(file).toStdString(), csvDocument(rowTypeOf<ProfileRow>(), values));
}

TEST(Export, WritesJsonWithTheRunAndItsWeights) {
    QTemporaryDir folder;
    const QString file = folder.filePath("a.json");
    ASSERT_TRUE(exportRun(madeRun(), file).ok());
    const auto document = nlohmann::json::parse(contentOf(file).toStdString());
    EXPECT_EQ(document["schema"], 1);
    EXPECT_EQ(document["run"]["weights"], "random");
    EXPECT_EQ(document["rows"].size(), 10u);
    EXPECT_EQ(document["rows"][0]["name"], "Attention");
}

TEST(Export, SaysWhichFileCouldNotBeWritten) {
    const auto result = exportRun(madeRun(), "/proc/no/such/a.csv");
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("/proc/no/such/a.csv"), std::string::npos);
    EXPECT_FALSE(result.error().advice.empty());
}

/// The locale of the process again as it was, whatever a test did to it.
class LocaleGuard {
public:
    LocaleGuard() : m_before(std::setlocale(LC_ALL, nullptr)) {}
    ~LocaleGuard() {
        qunsetenv("LOCPATH");
        std::setlocale(LC_ALL, m_before.c_str());
    }
private:
    std::string m_before;
};

TEST(Figures, KeepTheirFractionsInEveryLocale) {
    // Pashto writes a decimal mark of two bytes, German a comma; a locale that is not here is made, where that can be done.
    const QTemporaryDir made;
    const LocaleGuard guard;
    int tried = 0;
    for (const char* name : {"ps_AF", "de_DE", "tr_TR"}) {
        QProcess::execute("localedef", {"-i", name, "-f", "UTF-8", made.path() + "/" + name + ".UTF-8"});
        if (QDir(made.path() + "/" + name + ".UTF-8").exists()) qputenv("LOCPATH", made.path().toUtf8());
        if (!std::setlocale(LC_ALL, (std::string(name) + ".UTF-8").c_str())) continue;  // as QApplication does
        ++tried;
        readFiguresAsFilesHaveThem();
        EXPECT_EQ(parseJson("[1234.75, 1e-3]")->dump(), "[1234.75,0.001]") << name;
        EXPECT_EQ(number(1234.75, 2), QString::fromUtf8("1\u2009234.75")) << name;
    }
    if (tried == 0) GTEST_SKIP() << "there are no other locales here (Debian: locales)";
}

TEST(CommandLine, RepeatsTheJobAndQuotesWhatTheShellWouldTakeApart) {
    JobRequest request{.kind = "profile", .model = "/tmp/it's here", .device = "cpu", .settings = {{"prompt_tokens", 32}, {"level", "leaf"}}};
    request.settings["hidden"] = {896, 3584};
    EXPECT_NE(commandLine(request).find("--hidden 896,3584"), std::string::npos);
    request.settings.erase("hidden");
    EXPECT_EQ(commandLine(request), "kernelscope-cli profile --model '/tmp/it'\\''s here' --device cpu --level leaf --prompt-tokens 32");
}

TEST(Table, CopiesRawNumbersAsTsvAndMarkdown) {
    ProfileTree tree;
    tree.setRows(profileRows());
    TableView view("Modules");
    view.setSource(&tree);
    for (int column = 0; column < ProfileTree::kColumns; ++column) {
        view.setColumnHidden(column, column != ProfileTree::kName && column != ProfileTree::kSpan);
    }
    EXPECT_TRUE(view.tableText(TableView::Format::tsv).startsWith(QString::fromUtf8("Module\tSpan µs\nAttention\t3152\n")))
        << qPrintable(view.tableText(TableView::Format::tsv));
    const QStringList lines = view.tableText(TableView::Format::markdown).split('\n');
    EXPECT_EQ(lines[1], "| --- | ---: |");
    EXPECT_EQ(lines[2], "| Attention | 3152 |");
}

TEST(RunsTable, HoldsTheModelContract) {
    RunsTable table(runColumns());
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    RunSummary run{.header = profileHeader(), .rows = 10};
    table.reset({run});
    table.append({run, run});
    EXPECT_EQ(table.rowCount(), 3);
    EXPECT_EQ(table.index(0, 2).data().toString(), "Qwen2.5-tiny (random weights)");
    run.header.status = RunStatus::failed;
    table.replace(1, run);
    EXPECT_EQ(table.index(1, 7).data().toString(), "failed");
}

TEST(RunsTable, TenThousandRunsAreShownWithinATenthOfASecond) {
    RunsTable table(runColumns());
    TableView view("Runs");
    view.setSource(&table);
    view.resize(1000, 600);
    view.show();
    std::vector<RunSummary> runs(10'000, RunSummary{.header = profileHeader(), .rows = 10});
    const auto before = threadCpuTime();
    table.reset(std::move(runs));
    view.fitColumns();
    view.grab();
    const double milliseconds = std::chrono::duration<double, std::milli>(threadCpuTime() - before).count();
    std::printf("10,000 runs shown in %.0f ms of CPU time\n", milliseconds);
    EXPECT_LT(milliseconds, 100);
}

TEST(RunLibrary, OpeningOneRunAndThenAnotherShowsTheOther) {
    QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("runs.sqlite").toStdU16String();
    auto store = Store::open(file);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const std::string a = storeProfile(**store, "A", 1), b = storeProfile(**store, "B", 2);
    RunLibrary library(file);
    std::vector<std::string> opened;
    QObject::connect(&library, &RunLibrary::runOpened, [&](const SavedRunPtr& run) { opened.push_back(run->summary.header.model); });
    library.open(toQt(a));
    library.open(toQt(b));
    ASSERT_TRUE(waitFor([&] { return !opened.empty(); }));
    EXPECT_EQ(opened, std::vector<std::string>{"B"});
}

TEST(RunLibrary, ListsNewestFirstAndSaysWhenARunIsUnknown) {
    QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("runs.sqlite").toStdU16String();
    auto store = Store::open(file);
    ASSERT_TRUE(store.ok());
    storeProfile(**store, "first");
    storeProfile(**store, "second");
    RunLibrary library(file);
    RunList list;
    std::optional<Error> error;
    QObject::connect(&library, &RunLibrary::runsLoaded, [&](const RunList& runs) { list = runs; });
    QObject::connect(&library, &RunLibrary::failed, [&](const Error& why) { error = why; });
    library.refresh();
    library.open("doesnotexist");
    ASSERT_TRUE(waitFor([&] { return list && error; }));
    ASSERT_EQ(list->size(), 2u);
    EXPECT_EQ(list->front().header.model, "second");
    EXPECT_EQ(error->code, ErrorCode::badInput);
}

}  // namespace
}  // namespace kernelscope::ui
