// A run of a million rows becomes a document in the memory of a page of it.

#include <ctime>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/client/export.h"
#include "core/client/file.h"
#include "core/records/kernel_rows.h"
#include "tests/client/peak_memory.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;

class LargeExport : public testing::Test {
protected:
    void fill(int rows) {
        count = rows;
        auto opened = Store::open(folder / "s.sqlite");
        ASSERT_TRUE(opened.ok());
        store = std::move(*opened);
        RunHeader header;
        header.id = "large";
        header.kind = "sweep";
        header.model = "m";
        header.status = RunStatus::done;
        ASSERT_TRUE(store->createRun(header).ok());
        SQLite::Database(store->path().string(), SQLite::OPEN_READWRITE)
            .exec("INSERT INTO rows_sweep (_run, _place, _key, op, variant, dtype, hidden, rows, cache, status, device_us, gb_per_s, speedup) "
                  "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(rows - 1) + ") "
                  "SELECT (SELECT number FROM runs), i, 'k' || i, 'rms_norm', 'v' || (i % 7), 'float16', 896, i, 'cold', 'ok', i * 0.25, i / 3.0, 1.5 FROM n");
    }

    /// Exports and returns the file, having looked at the memory that it took.
    fs::path exported(ExportFormat format) {
        const fs::path file = folder / ("large" + std::string(fileExtension(format)));
        const bool told = forgetPeakMemory();
        const double before = peakMemoryMiB();
        const std::clock_t begin = std::clock();
        const auto written = exportRunTo(file, *store, "large", format);
        EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
        const double more = peakMemoryMiB() - before, seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        std::error_code ignored;
        std::printf("%d rows as %s: %.1f MiB in %.1f s of CPU time, %.1f MiB more memory at most\n", count, std::string(fileExtension(format)).c_str(),
                    static_cast<double>(fs::file_size(file, ignored)) / (1 << 20), seconds, more);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        if (told) {
            EXPECT_LT(more, 64) << "the rows alone are ten times that";
        }
#else
        (void)told;
#endif
        return file;
    }

    TemporaryFolder folder;
    std::unique_ptr<Store> store;
    int count = 0;
};

std::int64_t linesOf(const fs::path& file, std::string& last) {
    std::ifstream in(file);
    std::int64_t lines = 0;
    for (std::string line; std::getline(in, line); ++lines) last = line;
    return lines;
}

TEST_F(LargeExport, OfAMillionRowsStreamsInEveryFormat) {
    fill(1'000'000);
    std::string last;
    EXPECT_EQ(linesOf(exported(ExportFormat::csv), last), count + 1);
    EXPECT_TRUE(last.starts_with("rms_norm,v0,float16,896,999999,cold,ok,249999.75,")) << last;
    linesOf(exported(ExportFormat::markdown), last);
    EXPECT_TRUE(last.starts_with("| rms\\_norm | v0 | float16 | 896 | 999999 |")) << last;

    const auto page = readFile(exported(ExportFormat::html));
    ASSERT_TRUE(page.ok());
    EXPECT_LT(page->size(), 4u << 20) << "a browser has to open it";
    EXPECT_NE(page->find("The first 10,000 of 1,000,000 rows."), std::string::npos);
    EXPECT_NE(page->find("1,000,000 rows are more than charts take in."), std::string::npos);
    EXPECT_NE(page->find("</html>"), std::string::npos);

    linesOf(exported(ExportFormat::json), last);
    EXPECT_EQ(last, "}");
}

TEST_F(LargeExport, ThatCannotBeWrittenLeavesTheOldFileAndSaysWhy) {
    fill(10);
    const fs::path file = folder / "old.csv";
    ASSERT_TRUE(writeFileAtomically(file, "old").ok());
    int pieces = 0;
    const auto failed = writeFileAtomically(file, [&](const TextSink& sink) -> Result<void> {
        if (const auto begun = sink("half"); !begun) return begun;
        ++pieces;
        return makeError(ErrorCode::badInput, "no more");
    });
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().message, "no more");
    EXPECT_EQ(pieces, 1);
    EXPECT_EQ(*readFile(file), "old");
    EXPECT_FALSE(exportRunTo(file, *store, "nobody", ExportFormat::csv).ok());
    EXPECT_EQ(*readFile(file), "old");
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder.path())) files += entry.path().extension() == ".tmp";
    EXPECT_EQ(files, 0u) << "nothing half written stays";
    if (!fs::exists("/dev/full")) return;
    const auto full = exportRunTo("/dev/full", *store, "large", ExportFormat::csv);
    ASSERT_FALSE(full.ok());
    EXPECT_NE(full.error().message.find("No space left"), std::string::npos) << full.error().message;
}

}  // namespace
}  // namespace kernelscope
