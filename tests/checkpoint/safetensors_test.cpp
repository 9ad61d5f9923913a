#include <gtest/gtest.h>

#include "core/model/checkpoint.h"
#include "tests/support/checkpoint_writer.h"

namespace kernelscope {
namespace {

using test::safetensorsFile;

Result<std::vector<TensorInfo>> parse(const std::string& file) { return parseSafetensors(std::as_bytes(std::span(file)), "w.safetensors"); }

constexpr const char* kGood = R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]}})";

TEST(Safetensors, GivesNameTypeShapeAndBytes) {
    const std::string file = safetensorsFile(kGood, "0123456789abcd");
    const auto tensors = parse(file);
    ASSERT_TRUE(tensors.ok()) << tensors.error().message;
    ASSERT_EQ(tensors->size(), 2U);
    const TensorInfo& b = (*tensors)[1];
    EXPECT_EQ(b.name, "b");
    EXPECT_EQ(b.dtype, "bfloat16");
    EXPECT_EQ(b.shape, std::vector<std::int64_t>{3});
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(b.bytes.data()), b.bytes.size()), "89abcd");
}

TEST(Safetensors, TakesScalarsEmptyTensorsAndNoTensors) {
    EXPECT_TRUE(parse(safetensorsFile(R"({"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]}})", "xx")).ok());
    EXPECT_TRUE(parse(safetensorsFile(R"({"a":{"dtype":"F16","shape":[0,7],"data_offsets":[0,0]}})", "")).ok());
    EXPECT_TRUE(parse(safetensorsFile("{}", "")).ok());
    EXPECT_TRUE(parse(safetensorsFile("{}    ", "")).ok());
}

TEST(Safetensors, TakesTypesThatNobodyReadsAsExtras) {
    const auto tensors = parse(safetensorsFile(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", "01234567"));
    ASSERT_TRUE(tensors.ok());
    EXPECT_EQ(tensors->front().dtype, "int64");
}

std::string entry(const char* dtype, const char* shape, const char* offsets) {
    return std::string(R"({"a":{"dtype":)") + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

struct Torn {
    const char* name;
    std::string file;
    const char* says;
};

void PrintTo(const Torn& torn, std::ostream* stream) { *stream << torn.name; }

class TornFile : public testing::TestWithParam<Torn> {};

TEST_P(TornFile, IsRefusedInWords) {
    const auto tensors = parse(GetParam().file);
    ASSERT_FALSE(tensors.ok());
    EXPECT_EQ(tensors.error().code, ErrorCode::badInput);
    EXPECT_NE(tensors.error().message.find("w.safetensors"), std::string::npos) << tensors.error().message;
    EXPECT_NE(tensors.error().message.find(GetParam().says), std::string::npos) << tensors.error().message;
    EXPECT_FALSE(tensors.error().advice.empty());
}

std::string withLength(std::uint64_t length) {
    std::string file;
    for (int i = 0; i < 8; ++i) file.push_back(static_cast<char>((length >> (8 * i)) & 0xFFU));
    return file + "{}";
}

const std::string kData(14, 'x');
INSTANTIATE_TEST_SUITE_P(Safetensors, TornFile, testing::Values(
    Torn{"Empty", "", "only 0 bytes"}, Torn{"SevenBytes", "1234567", "only 7 bytes"},
    Torn{"HeaderLongerThanFile", withLength(3), "cut short"}, Torn{"HeaderHuge", withLength(100'000'001), "no safetensors file"},
    Torn{"HeaderLengthWraps", withLength(~std::uint64_t{0}), "no safetensors file"}, Torn{"HeaderLengthNearlyWraps", withLength(~std::uint64_t{0} - 7), "no safetensors file"},
    Torn{"HeaderEmpty", safetensorsFile("", ""), "not valid JSON"}, Torn{"HeaderNotJson", safetensorsFile("{\"a\"", ""), "not valid JSON"},
    Torn{"HeaderList", safetensorsFile("[]", ""), "an object"}, Torn{"HeaderNotUtf8", safetensorsFile("{\"\xff\":1}", ""), "not valid JSON"},
    Torn{"DuplicateName", safetensorsFile(R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})", "xx"), "twice"},
    Torn{"DuplicateKey", safetensorsFile(R"({"a":{"dtype":"F16","dtype":"F16","shape":[1],"data_offsets":[0,2]}})", "xx"), "twice"},
    Torn{"DeepHeader", safetensorsFile("{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}", ""), "levels deep"},
    Torn{"EntryNotObject", safetensorsFile(R"({"a":7})", ""), "its entry is a number"}, Torn{"MetadataNotObject", safetensorsFile(R"({"__metadata__":7})", ""), "__metadata__"},
    Torn{"NoDtype", safetensorsFile(R"({"a":{"shape":[1],"data_offsets":[0,2]}})", "xx"), "dtype is missing"},
    Torn{"NoShape", safetensorsFile(R"({"a":{"dtype":"F16","data_offsets":[0,2]}})", "xx"), "shape is missing"},
    Torn{"NoOffsets", safetensorsFile(R"({"a":{"dtype":"F16","shape":[1]}})", "xx"), "data_offsets is missing"}));
INSTANTIATE_TEST_SUITE_P(SafetensorsEntry, TornFile, testing::Values(
    Torn{"UnknownDtype", safetensorsFile(entry("\"F7\"", "[1]", "[0,2]"), "xx"), "dtype is \"F7\""}, Torn{"DtypeNotText", safetensorsFile(entry("16", "[1]", "[0,2]"), "xx"), "dtype is 16"},
    Torn{"ShapeNotList", safetensorsFile(entry("\"F16\"", "1", "[0,2]"), "xx"), "shape is 1"}, Torn{"ShapeNegative", safetensorsFile(entry("\"F16\"", "[-1]", "[0,2]"), "xx"), "shape is [-1]"},
    Torn{"ShapeFractional", safetensorsFile(entry("\"F16\"", "[1.0]", "[0,2]"), "xx"), "shape is [1.0]"},
    Torn{"ShapeOverflows", safetensorsFile(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]"), ""), "more elements than can be counted"},
    Torn{"ShapeOverflowsToTheRightSize", safetensorsFile(entry("\"F32\"", "[9223372036854775807,2]", "[0,8]"), "01234567"), "more elements"},
    Torn{"ShapeBeyondInt64", safetensorsFile(entry("\"F32\"", "[18446744073709551615]", "[0,8]"), "01234567"), "shape is"},
    Torn{"TooManyDimensions", safetensorsFile(entry("\"F16\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,2]"), "xx"), "shape is"},
    Torn{"ShapeDisagrees", safetensorsFile(entry("\"F16\"", "[3]", "[0,2]"), "xx"), "needs 6 bytes, but data_offsets give it 2"},
    Torn{"OffsetsBackwards", safetensorsFile(entry("\"F16\"", "[1]", "[2,0]"), "xx"), "run backwards"}, Torn{"OffsetsThree", safetensorsFile(entry("\"F16\"", "[1]", "[0,2,4]"), "xx"), "data_offsets are"},
    Torn{"OffsetsNegative", safetensorsFile(entry("\"F16\"", "[1]", "[-2,0]"), "xx"), "data_offsets are"}, Torn{"OffsetsText", safetensorsFile(entry("\"F16\"", "[1]", "[\"0\",2]"), "xx"), "data_offsets are"},
    Torn{"OffsetsPastTheEnd", safetensorsFile(entry("\"F16\"", "[2]", "[0,4]"), "xx"), "only 2 bytes of data"},
    Torn{"OffsetsHuge", safetensorsFile(entry("\"F16\"", "[1]", "[18446744073709551613,18446744073709551615]"), "xx"), "only 2 bytes of data"}));
INSTANTIATE_TEST_SUITE_P(SafetensorsCoverage, TornFile, testing::Values(
    Torn{"Truncated", safetensorsFile(kGood, kData.substr(1)), "only 13 bytes"}, Torn{"Oversized", safetensorsFile(kGood, kData + "y"), "1 bytes at the end"},
    Torn{"Overlap", safetensorsFile(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"F16","shape":[2],"data_offsets":[2,6]}})", "xxxxxx"), "overlap"},
    Torn{"SameBytes", safetensorsFile(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", "xxxx"), "overlap"},
    Torn{"Hole", safetensorsFile(R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},"b":{"dtype":"F16","shape":[1],"data_offsets":[4,6]}})", "xxxxxx"), "belong to no tensor"},
    Torn{"HoleInFront", safetensorsFile(entry("\"F16\"", "[1]", "[2,4]"), "xxxx"), "belong to no tensor"}));

TEST(Safetensors, NoPrefixOfAGoodFileIsTakenOrReadBeyond) {
    const std::string file = safetensorsFile(kGood, kData);
    for (std::size_t size = 0; size < file.size(); ++size) {
        const std::vector<std::byte> cut(reinterpret_cast<const std::byte*>(file.data()), reinterpret_cast<const std::byte*>(file.data()) + size);
        EXPECT_FALSE(parseSafetensors(cut, "w.safetensors").ok()) << size;
    }
    EXPECT_TRUE(parse(file).ok());
}

}  // namespace
}  // namespace kernelscope
