// The safetensors format: 8 bytes of header length (little endian), a JSON header, then the tensors' bytes.
// Header: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, "__metadata__": {...}}; the offsets
// count from the end of the header, and the tensors cover the rest of the file without a hole.

#include "core/model/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/json_text.h"

namespace kernelscope {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMostDimensions = 16;

constexpr const char* kFetchAgain = "The file is damaged or was not fetched completely; fetch it again.";

struct StoredType {
    std::string_view code;
    std::string_view name;
    std::uint64_t bytes;
};

// Types beyond the three that a model is read from may stand in a file as tensors that nobody asks for.
constexpr std::array<StoredType, 15> kTypes = {{
    {"F32", "float32", 4}, {"F16", "float16", 2}, {"BF16", "bfloat16", 2}, {"F64", "float64", 8}, {"I64", "int64", 8},
    {"I32", "int32", 4}, {"I16", "int16", 2}, {"I8", "int8", 1}, {"U64", "uint64", 8}, {"U32", "uint32", 4},
    {"U16", "uint16", 2}, {"U8", "uint8", 1}, {"BOOL", "bool", 1}, {"F8_E4M3", "float8_e4m3", 1}, {"F8_E5M2", "float8_e5m2", 1},
}};

const StoredType* findType(const json& code) {
    if (!code.is_string()) return nullptr;
    const std::string& text = code.get_ref<const std::string&>();
    for (const StoredType& type : kTypes) {
        if (type.code == text) return &type;
    }
    return nullptr;
}

std::optional<std::uint64_t> natural(const json& value) {
    if (!value.is_number_unsigned()) return std::nullopt;
    return value.get<std::uint64_t>();
}

/// left * right, or nothing where that does not fit an int64.
std::optional<std::uint64_t> product(std::uint64_t left, std::uint64_t right) {
    if (left != 0 && right > static_cast<std::uint64_t>(INT64_MAX) / left) return std::nullopt;
    return left * right;
}

/// One entry of the header. Messages are put behind "<file>: tensor <name>: ".
class EntryReader {
public:
    EntryReader(std::span<const std::byte> data, std::string where) : m_data(data), m_where(std::move(where)) {}

    Result<TensorInfo> read(const std::string& name, const json& entry) {
        if (!entry.is_object()) return fail(fmt::format("its entry is {}, not an object", kindOf(entry)));
        for (const char* key : {"dtype", "shape", "data_offsets"}) {
            if (!entry.contains(key)) return fail(fmt::format("{} is missing", key));
        }
        const StoredType* type = findType(entry["dtype"]);
        if (!type) return fail(fmt::format("its dtype is {}, which is unknown", shown(entry["dtype"])), "Convert the model to bfloat16, float16 or float32.");

        TensorInfo tensor;
        tensor.name = name;
        tensor.dtype = type->name;
        const json& shape = entry["shape"];
        if (!shape.is_array() || shape.size() > kMostDimensions) return fail(fmt::format("its shape is {}", shown(shape)));
        std::uint64_t size = type->bytes;
        bool empty = false;
        for (const json& dimension : shape) {
            const std::optional<std::uint64_t> length = natural(dimension);
            if (!length || *length > static_cast<std::uint64_t>(INT64_MAX)) return fail(fmt::format("its shape is {}", shown(shape)));
            empty = empty || *length == 0;
            const std::optional<std::uint64_t> grown = product(size, std::max<std::uint64_t>(*length, 1));
            if (!grown) return fail(fmt::format("its shape {} has more elements than can be counted", shown(shape)));
            size = *grown;
            tensor.shape.push_back(static_cast<std::int64_t>(*length));
        }
        if (empty) size = 0;

        const json& offsets = entry["data_offsets"];
        const bool pair = offsets.is_array() && offsets.size() == 2 && natural(offsets[0]) && natural(offsets[1]);
        if (!pair) return fail(fmt::format("its data_offsets are {}, not two positions", shown(offsets)));
        const std::uint64_t begin = *natural(offsets[0]), end = *natural(offsets[1]);
        if (begin > end) return fail(fmt::format("its data_offsets {} run backwards", shown(offsets)));
        if (end > m_data.size()) {
            return fail(fmt::format("its data ends at byte {}, but the file has only {} bytes of data", end, m_data.size()));
        }
        if (end - begin != size) {
            return fail(fmt::format("shape {} in {} needs {} bytes, but data_offsets give it {}", shown(shape), type->name, size, end - begin));
        }
        tensor.bytes = m_data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
        return tensor;
    }

private:
    [[nodiscard]] Error fail(const std::string& words, const char* advice = kFetchAgain) const {
        return makeError(ErrorCode::badInput, m_where + words, advice);
    }
    std::span<const std::byte> m_data;
    std::string m_where;
};

/// Every byte behind the header belongs to exactly one tensor: anything else is damage, or hides something.
std::optional<Error> checkCoverage(std::vector<TensorInfo>& tensors, std::span<const std::byte> data, const std::string& fileName) {
    std::vector<const TensorInfo*> ordered;
    ordered.reserve(tensors.size());
    for (const TensorInfo& tensor : tensors) {
        if (!tensor.bytes.empty()) ordered.push_back(&tensor);
    }
    std::sort(ordered.begin(), ordered.end(), [](const TensorInfo* a, const TensorInfo* b) { return a->bytes.data() < b->bytes.data(); });
    std::size_t covered = 0;
    const TensorInfo* previous = nullptr;
    for (const TensorInfo* tensor : ordered) {
        const auto begin = static_cast<std::size_t>(tensor->bytes.data() - data.data());
        if (begin < covered) {
            return makeError(ErrorCode::badInput, fmt::format("{}: the tensors {} and {} overlap", fileName, shown(previous->name), shown(tensor->name)), kFetchAgain);
        }
        if (begin > covered) {
            return makeError(ErrorCode::badInput,
                             fmt::format("{}: {} bytes before tensor {} belong to no tensor", fileName, begin - covered, shown(tensor->name)), kFetchAgain);
        }
        covered = begin + tensor->bytes.size();
        previous = tensor;
    }
    if (covered != data.size()) {
        return makeError(ErrorCode::badInput, fmt::format("{}: {} bytes at the end belong to no tensor", fileName, data.size() - covered), kFetchAgain);
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<TensorInfo>> parseSafetensors(std::span<const std::byte> file, const std::string& fileName) {
    const auto fail = [&](const std::string& words) { return makeError(ErrorCode::badInput, fileName + ": " + words, kFetchAgain); };
    if (file.size() < kLengthBytes) {
        return fail(fmt::format("only {} bytes long, too short for a safetensors file", file.size()));
    }
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint64_t>(file[i]) << (8 * i);
    if (length > kLongestHeader) {
        return fail(fmt::format("the header claims {} bytes, more than the {} the format allows; this may be no safetensors file", length, kLongestHeader));
    }
    if (length > file.size() - kLengthBytes) {
        return fail(fmt::format("cut short: the header claims {} bytes, but only {} follow", length, file.size() - kLengthBytes));
    }
    const auto headerBytes = file.subspan(kLengthBytes, static_cast<std::size_t>(length));
    const std::string_view text(reinterpret_cast<const char*>(headerBytes.data()), headerBytes.size());
    const Result<json> header = parseJsonObject(text, "the header of " + fileName);
    if (!header) return Error{ErrorCode::badInput, header.error().message, kFetchAgain};

    const std::span<const std::byte> data = file.subspan(kLengthBytes + static_cast<std::size_t>(length));
    std::vector<TensorInfo> tensors;
    for (const auto& [name, entry] : header->items()) {
        if (name == "__metadata__") {
            if (!entry.is_object()) return fail(fmt::format("__metadata__ is {}, not an object", kindOf(entry)));
            continue;
        }
        Result<TensorInfo> tensor = EntryReader(data, fmt::format("{}: tensor {}: ", fileName, shown(name))).read(name, entry);
        if (!tensor) return tensor.error();
        tensors.push_back(std::move(*tensor));
    }
    if (const std::optional<Error> error = checkCoverage(tensors, data, fileName)) return *error;
    return tensors;
}

}  // namespace kernelscope
