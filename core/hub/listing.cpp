#include "core/hub/listing.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/records/json_read.h"

namespace kernelscope {

using nlohmann::json;

namespace {

/// Weights in forms that nothing here reads, often as large as the ones that are read.
constexpr std::string_view kOtherWeights[] = {".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".ot", ".gguf", ".ggml", ".onnx", ".onnx_data", ".tflite", ".mlmodel"};

bool isWanted(std::string_view name) {
    return std::none_of(std::begin(kOtherWeights), std::end(kOtherWeights), [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Plain parts between single slashes: a name from outside becomes a path on this machine.
bool isPlain(std::string_view name) {
    if (name.empty() || name.size() > 512) return false;
    for (const char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\' || c == ':' || c == '?' || c == '#' || c == '%') return false;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const std::string_view part = name.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..") return false;
        begin = end + 1;
    }
    return true;
}

bool isHex(const std::string& text, std::size_t length) {
    return text.size() == length && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string textAt(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error bad(const std::string& id, const std::string& why) {
    return makeError(ErrorCode::badInput, fmt::format("the hub's answer about {} cannot be used: {}", id, why), "another HF_ENDPOINT may answer better; or copy the model's folder by hand");
}

/// Nothing for a file that is not wanted.
Result<bool> readFile(const json& entry, const std::string& id, HubFile& file) {
    if (!entry.is_object()) return bad(id, "an entry of its list of files is no object");
    file.name = textAt(entry, "rfilename");
    if (!isPlain(file.name)) return bad(id, fmt::format("a file is called '{}'", file.name.substr(0, 80)));
    if (!isWanted(file.name)) return false;
    const json* sized = &entry;
    if (const auto lfs = entry.find("lfs"); lfs != entry.end() && lfs->is_object()) {
        file.digest = textAt(*lfs, "sha256");
        sized = &*lfs;
    } else {
        file.digest = textAt(entry, "blobId");
        file.kind = Digest::Kind::sha1;
    }
    const auto size = sized->find("size");
    const auto bytes = size == sized->end() ? std::nullopt : integerOf(*size);
    if (!bytes || *bytes < 0) return bad(id, file.name + " has no size");
    file.size = *bytes;
    if (!isHex(file.digest, file.kind == Digest::Kind::sha1 ? 40 : 64)) return bad(id, file.name + " has no digest to verify it by");
    return true;
}

}  // namespace

std::int64_t HubListing::bytes() const {
    std::int64_t sum = 0;
    for (const HubFile& file : files) sum += file.size;
    return sum;
}

Digest digestOf(const HubFile& file) {
    Digest digest(file.kind);
    if (file.kind == Digest::Kind::sha1) digest.add("blob " + std::to_string(file.size) + std::string(1, '\0'));
    return digest;
}

Result<HubListing> readListing(const std::string& text, const std::string& id) {
    const auto document = parseJson(text);
    if (!document || !document->is_object()) return bad(id, "it is no JSON object");
    HubListing listing;
    listing.commit = textAt(*document, "sha");
    if (!isHex(listing.commit, 40)) return bad(id, "it names no commit");
    const auto files = document->find("siblings");
    if (files == document->end() || !files->is_array()) return bad(id, "it lists no files");
    bool weights = false;
    for (const json& entry : *files) {
        HubFile file;
        const auto wanted = readFile(entry, id, file);
        if (!wanted) return wanted.error();
        if (!*wanted) continue;
        weights = weights || file.name.ends_with(".safetensors");
        listing.files.push_back(std::move(file));
    }
    if (!weights)
        return makeError(ErrorCode::badInput, fmt::format("{} holds no safetensors weights", id), "GGUF, GPTQ archives and PyTorch .bin files are not read; look for the model's safetensors form");
    // Small ones first: what is wrong with a model shows before its weights have been fetched.
    std::stable_sort(listing.files.begin(), listing.files.end(), [](const HubFile& a, const HubFile& b) { return a.size < b.size; });
    return listing;
}

}  // namespace kernelscope
