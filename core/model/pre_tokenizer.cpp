#include "core/model/pre_tokenizer.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <utf8proc.h>

#include "core/model/json_text.h"

namespace kernelscope {
namespace {

using nlohmann::json;

constexpr std::size_t kMostSteps = 16;

// The published pattern of the family: contractions, words with one leading sign, single digits, runs of signs, line
// ends, and spaces up to the one that belongs to the next word.
constexpr const char* kQwenPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// What ByteLevel itself cuts by when it is told to.
constexpr const char* kByteLevelPattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Error refused(const std::string& words) {
    return makeError(ErrorCode::badInput, "tokenizer.json: " + words,
                     "Only byte-level tokenizers in the way of the Qwen2 family are implemented; token ids work without a tokenizer.");
}

std::string typeOf(const json& description) {
    const auto type = description.is_object() ? description.find("type") : description.end();
    return description.is_object() && type != description.end() && type->is_string() ? type->get<std::string>() : std::string();
}

bool flag(const json& description, const char* key, bool otherwise) {
    const auto found = description.find(key);
    return found != description.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

bool isAscii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Normaliser Normaliser::qwen() {
    Normaliser normaliser;
    normaliser.m_steps.push_back(Normalisation::nfc);
    return normaliser;
}

Result<Normaliser> Normaliser::fromJson(const json& description) {
    Normaliser normaliser;
    if (description.is_null()) return normaliser;
    const std::string type = typeOf(description);
    if (type == "NFC") normaliser.m_steps = {Normalisation::nfc};
    else if (type == "NFD") normaliser.m_steps = {Normalisation::nfd};
    else if (type == "NFKC") normaliser.m_steps = {Normalisation::nfkc};
    else if (type == "NFKD") normaliser.m_steps = {Normalisation::nfkd};
    else if (type == "Sequence" && description.contains("normalizers") && description["normalizers"].is_array()) {
        for (const json& part : description["normalizers"]) {
            const Result<Normaliser> inner = fromJson(part);
            if (!inner) return inner.error();
            normaliser.m_steps.insert(normaliser.m_steps.end(), inner->m_steps.begin(), inner->m_steps.end());
            if (normaliser.m_steps.size() > kMostSteps) return refused("the normalizer has too many steps");
        }
    } else {
        return refused(fmt::format("the normalizer {} is not implemented", shown(description)));
    }
    return normaliser;
}

bool Normaliser::changes(std::string_view text) const { return !m_steps.empty() && !isAscii(text); }

Result<std::string> Normaliser::apply(std::string_view text) const {
    std::string current(text);
    if (!changes(text)) return current;
    for (const Normalisation step : m_steps) {
        int options = UTF8PROC_STABLE;
        if (step == Normalisation::nfc || step == Normalisation::nfkc) options |= UTF8PROC_COMPOSE;
        else options |= UTF8PROC_DECOMPOSE;
        if (step == Normalisation::nfkc || step == Normalisation::nfkd) options |= UTF8PROC_COMPAT;
        utf8proc_uint8_t* mapped = nullptr;
        const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(current.data()), static_cast<utf8proc_ssize_t>(current.size()),
                                                   &mapped, static_cast<utf8proc_option_t>(options));
        const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
        if (size < 0) {
            return makeError(ErrorCode::badInput, fmt::format("the text cannot be normalised: {}", utf8proc_errmsg(size)), "Shorten the text.");
        }
        current.assign(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
    }
    return current;
}

Result<PreTokenizer> PreTokenizer::qwen() {
    PreTokenizer result;
    Result<Pattern> pattern = Pattern::compile(kQwenPattern);
    if (!pattern) return pattern.error();
    result.m_steps.push_back({std::move(*pattern)});
    result.m_byteLevel = true;
    return result;
}

Result<PreTokenizer> PreTokenizer::fromJson(const json& description) {
    PreTokenizer result;
    if (Result<void> appended = result.append(description); !appended) return appended.error();
    if (!result.m_byteLevel) return refused("the pre_tokenizer has no ByteLevel step, so this is no byte-level tokenizer");
    return result;
}

Result<void> PreTokenizer::append(const json& description) {
    const std::string type = typeOf(description);
    if (type == "Sequence" && description.contains("pretokenizers") && description["pretokenizers"].is_array()) {
        for (const json& part : description["pretokenizers"]) {
            if (Result<void> appended = append(part); !appended) return appended;
        }
        return {};
    }
    if (m_steps.size() >= kMostSteps) return refused("the pre_tokenizer has too many steps");
    if (m_byteLevel) return refused(fmt::format("the pre_tokenizer has a step behind ByteLevel, {}, which is not implemented", shown(description)));
    if (type == "Split") return appendSplit(description);
    if (type == "Digits") {
        Result<Pattern> pattern = Pattern::compile(flag(description, "individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)");
        if (!pattern) return pattern.error();
        m_steps.push_back({std::move(*pattern)});
        return {};
    }
    if (type == "ByteLevel") {
        Step step;
        step.addPrefixSpace = flag(description, "add_prefix_space", true);
        if (flag(description, "use_regex", true)) {
            Result<Pattern> pattern = Pattern::compile(kByteLevelPattern);
            if (!pattern) return pattern.error();
            step.pattern = std::move(*pattern);
        }
        m_byteLevel = true;
        if (step.pattern || step.addPrefixSpace) m_steps.push_back(std::move(step));
        return {};
    }
    return refused(fmt::format("the pre_tokenizer {} is not implemented", shown(description)));
}

Result<void> PreTokenizer::appendSplit(const json& description) {
    const auto pattern = description.find("pattern");
    const bool regex = pattern != description.end() && pattern->is_object() && pattern->contains("Regex") && (*pattern)["Regex"].is_string();
    const bool literal = pattern != description.end() && pattern->is_object() && pattern->contains("String") && (*pattern)["String"].is_string();
    if (!regex && !literal) return refused(fmt::format("Split without a pattern: {}", shown(description)));
    const auto behavior = description.find("behavior");
    const std::string kind = behavior != description.end() && behavior->is_string() ? behavior->get<std::string>() : "";
    if (kind != "Isolated" && kind != "Removed") return refused(fmt::format("Split with the behavior {} is not implemented", shown(kind)));

    Step step;
    Result<Pattern> compiled = Pattern::compile((*pattern)[regex ? "Regex" : "String"].get<std::string>(), literal && !regex);
    if (!compiled) return compiled.error();
    step.pattern = std::move(*compiled);
    if (kind == "Removed") {  // what the pattern finds is dropped; inverted, everything else is
        const bool invert = flag(description, "invert", false);
        step.keepMatches = invert;
        step.keepGaps = !invert;
    }
    m_steps.push_back(std::move(step));
    return {};
}

Result<void> PreTokenizer::split(std::string_view text, const Sink& sink) const { return text.empty() ? Result<void>() : run(0, text, sink); }

Result<void> PreTokenizer::run(std::size_t index, std::string_view text, const Sink& sink) const {
    if (index == m_steps.size()) return sink(text);
    const Step& step = m_steps[index];
    std::string prefixed;
    if (step.addPrefixSpace && text.front() != ' ') {
        prefixed.reserve(text.size() + 1);
        prefixed.append(" ").append(text);
        text = prefixed;
    }
    if (!step.pattern) return run(index + 1, text, sink);
    Result<void> outcome;
    const Result<void> matched = step.pattern->split(text, [&](std::string_view piece, bool isMatch) {
        if (isMatch ? step.keepMatches : step.keepGaps) outcome = run(index + 1, piece, sink);
        return outcome.ok();
    });
    return outcome.ok() ? matched : outcome;
}

}  // namespace kernelscope
