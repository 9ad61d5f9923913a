#pragma once
// How a text is normalised and cut into pieces before byte-pair encoding, as tokenizer.json says.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/model/pattern.h"
#include "core/records/result.h"

namespace kernelscope {

enum class Normalisation { nfc, nfd, nfkc, nfkd };

class Normaliser {
public:
    /// null, NFC, NFD, NFKC, NFKD or a Sequence of those. Errors: badInput, naming another type.
    static Result<Normaliser> fromJson(const nlohmann::json& description);
    static Normaliser qwen();

    /// `text` must be valid UTF-8. Pure ASCII stays as it is.
    [[nodiscard]] Result<std::string> apply(std::string_view text) const;
    [[nodiscard]] bool changes(std::string_view text) const;  ///< false: apply would give the text itself

private:
    std::vector<Normalisation> m_steps;
};

class PreTokenizer {
public:
    using Sink = std::function<Result<void>(std::string_view piece)>;

    /// Split (isolated or removed), Digits, ByteLevel (last) or a Sequence of those. Errors: badInput, naming another.
    static Result<PreTokenizer> fromJson(const nlohmann::json& description);
    /// What the Qwen2 family has when only vocab.json and merges.txt are there.
    static Result<PreTokenizer> qwen();

    /// `text` must be valid UTF-8. The first error of a pattern or of the sink ends it.
    Result<void> split(std::string_view text, const Sink& sink) const;

private:
    struct Step {
        std::optional<Pattern> pattern;
        bool keepMatches = true;
        bool keepGaps = true;
        bool addPrefixSpace = false;
    };
    Result<void> append(const nlohmann::json& description);
    Result<void> appendSplit(const nlohmann::json& description);
    Result<void> run(std::size_t step, std::string_view text, const Sink& sink) const;

    std::vector<Step> m_steps;
    bool m_byteLevel = false;
};

}  // namespace kernelscope
