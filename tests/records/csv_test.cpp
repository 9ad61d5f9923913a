#include "core/records/csv.h"

#include <charconv>
#include <clocale>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <locale>
#include <sstream>

#include <gtest/gtest.h>

#include "core/records/rows.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

std::string golden(const std::string& name) {
    std::ifstream file(std::string(KERNELSCOPE_TEST_GOLDENS) + "/" + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<Values> exampleRows() {
    ProfileRow attention{"decode", "type", "Attention", "Attention"};
    attention.calls = 24;
    attention.spanUs = attention.selfSpanUs = 2980.8;
    attention.spanSharePct = 48;
    attention.spanShareCiLowPct = 47.1;
    attention.spanShareCiHighPct = 48.9;
    ProfileRow total{"decode", "type", "total", ""};
    total.spanUs = 6210;
    ProfileRow odd{"decode", "type", "a \"quoted\", name", "x"};
    odd.spanUs = std::numeric_limits<double>::quiet_NaN();
    odd.gpuUs = std::numeric_limits<double>::infinity();
    odd.gapUs = -std::numeric_limits<double>::infinity();
    odd.note = "two\nlines, ünïcode";
    return {valuesOf(attention), valuesOf(total), valuesOf(odd)};
}

TEST(Csv, ADocumentEqualsItsGolden) {
    EXPECT_EQ(csvDocument(rowTypeOf<ProfileRow>(), exampleRows()), golden("profile.csv"));
}

/// What a German locale does to streams, wherever the test runs.
struct DecimalComma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

TEST(Csv, IsByteIdenticalWithADecimalCommaLocale) {
    const std::string before = csvDocument(rowTypeOf<ProfileRow>(), exampleRows());
    const std::locale old = std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"})  // C functions too, where such a locale is installed
        if (std::setlocale(LC_ALL, name)) break;
    std::ostringstream comma;
    comma << 1234.5;
    EXPECT_EQ(comma.str(), "1.234,5") << "the locale took hold";
    const std::string after = csvDocument(rowTypeOf<ProfileRow>(), exampleRows());
    const auto back = rowsFromCsv(rowTypeOf<ProfileRow>(), before);
    std::locale::global(old);
    std::setlocale(LC_ALL, "C");
    EXPECT_EQ(after, before);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(csvDocument(rowTypeOf<ProfileRow>(), *back), before);
}

TEST(Csv, NumbersReadBackAsTheSameDouble) {
    SeededGenerator random(1);
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t bits = random.next();
        double value;
        std::memcpy(&value, &bits, sizeof value);
        if (std::isnan(value)) continue;
        const std::string text = numberText(value);
        double back = 0;
        std::from_chars(text.data(), text.data() + text.size(), back);
        ASSERT_EQ(back, value) << text;
    }
}

TEST(Csv, NumbersHaveNoMoreDigitsThanNeeded) {
    EXPECT_EQ(numberText(0.1), "0.1");
    EXPECT_EQ(numberText(100000), "100000");
    EXPECT_EQ(numberText(1.0 / 3), "0.3333333333333333");
    EXPECT_EQ(numberText(6.02e23), "6.02e+23");
    EXPECT_EQ(numberText(1e-7), "1e-07");
    EXPECT_EQ(numberText(-0.0), "-0");
    EXPECT_EQ(numberText(std::nan("")), "nan");
    EXPECT_EQ(numberText(-std::nan("")), "nan");
}

TEST(Csv, ReadsBackWhatItWrote) {
    const auto rows = exampleRows();
    const auto back = rowsFromCsv(rowTypeOf<ProfileRow>(), csvDocument(rowTypeOf<ProfileRow>(), rows));
    ASSERT_TRUE(back.ok()) << back.error().message;
    ASSERT_EQ(back->size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = rowFrom<ProfileRow>((*back)[i]);
        ASSERT_TRUE(row.has_value());
        EXPECT_EQ(csvLine(valuesOf(*row)), csvLine(rows[i]));
    }
    EXPECT_TRUE(std::isnan(std::get<double>((*back)[2][6])));
}

TEST(Csv, ColumnsAreFoundByNameInAnyOrder) {
    const auto rows = rowsFromCsv(rowTypeOf<SampleRow>(), "value,extra,pass,row_key\n1.5,x,2,k\n");
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(rowFrom<SampleRow>((*rows)[0]), (SampleRow{"k", "", 2, 1.5}));
}

TEST(Csv, TakesLfAByteOrderMarkAndAMissingLastLineBreak) {
    const auto records = parseCsv("\xEF\xBB\xBF" "a,b\n\"x\r\ny\",\r\n,\"\"");
    ASSERT_TRUE(records.ok());
    EXPECT_EQ(*records, (std::vector<std::vector<std::string>>{{"a", "b"}, {"x\r\ny", ""}, {"", ""}}));
}

TEST(Csv, BrokenTextIsRefusedNamingTheLine) {
    EXPECT_EQ(parseCsv("a\n\"b").error().message, "CSV line 2: a quote that never closes");
    EXPECT_EQ(parseCsv("a\n\"b\"c\n").error().message, "CSV line 2: a stray quote");
    EXPECT_EQ(parseCsv("a\nb\"c\n").error().message, "CSV line 2: a stray quote");
    EXPECT_FALSE(rowsFromCsv(rowTypeOf<SampleRow>(), "").ok());
    EXPECT_FALSE(rowsFromCsv(rowTypeOf<SampleRow>(), "pass,value\n1\n").ok());
    EXPECT_EQ(rowsFromCsv(rowTypeOf<SampleRow>(), "pass\n1.5\n").error().message, "CSV record 2: pass is not readable");
    EXPECT_FALSE(rowsFromCsv(rowTypeOf<SampleRow>(), "value\n1,5\n").ok());
}

}  // namespace
}  // namespace kernelscope
