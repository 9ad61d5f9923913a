#include <iostream>

#include "app/cli/engine_call.h"
#include "app/cli/kernel_options.h"
#include "core/client/export.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/json_read.h"
#include "core/records/plain_table.h"

namespace kernelscope::cli {

namespace {

using nlohmann::json;

/// What comes back is several times as long, and a message of the engine has an end.
constexpr std::size_t kLongestText = std::size_t{4} << 20;

class TokenizeCommand : public Command {
public:
    std::string name() const override { return "tokenize"; }
    std::string summary() const override { return "Text to token ids and back"; }

    void define(CLI::App& app) override {
        m_textOption = app.add_option("text", m_text, "Text, taken as it stands; - reads standard input, its last newline included")->type_name("TEXT");
        auto* chat = app.add_flag("--chat", m_chat, "Apply the model's chat template first");
        auto* decode = app.add_option("--decode", m_decode, "Token ids to turn into text")->type_name("LIST");
        decode->excludes(m_textOption);
        decode->excludes(chat);
    }

    int run(const CommonOptions& common) override {
        if (m_textOption->count() == 0 && m_decode.empty())
            return report(makeError(ErrorCode::usage, "tokenize needs a text or --decode LIST", "for example: kernelscope-cli tokenize \"Hello\""));
        if (const auto ready = prepareDocuments(common); !ready) return report(ready.error());
        json request = {{"model", common.model}};
        if (!m_decode.empty()) {
            if (const auto put = putList(request, "ids", "--decode", m_decode); !put) return report(put.error());
        } else {
            std::string text = m_text;
            if (m_text == "-") {
                text.assign(kLongestText + 1, '\0');  // one more than may be, to tell that there is more: what is read need not end
                std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
                text.resize(static_cast<std::size_t>(std::cin.gcount()));
                if (text.size() > kLongestText)
                    return report(makeError(ErrorCode::badInput, "standard input holds more than the " + formatBytes(kLongestText) + " of text that can be taken at once", "give it in pieces"));
            }
            if (const auto valid = mustBeUtf8("the text", text); !valid) return report(valid.error());
            request["text"] = text;
            if (m_chat) request["chat"] = true;
        }
        const auto answer = askEngine(common, "model.tokenize", request);
        if (!answer) return report(answer.error());
        if (!answer->is_object()) return report(makeError(ErrorCode::environment, "the engine's answer to model.tokenize is no document"));

        const json ids = answer->value("ids", json::array()), tokens = answer->value("tokens", json::array());
        std::string csv = "id,token\r\n";
        PlainTable table;
        table.addColumn("id", PlainTable::Align::right);
        table.addColumn("token");
        for (std::size_t i = 0; ids.is_array() && i < ids.size(); ++i) {
            const bool known = tokens.is_array() && i < tokens.size() && tokens[i].is_string();
            const std::string cells[] = {dumpJson(ids[i]), known ? tokens[i].get<std::string>() : std::string()};
            csv += csvLine(cells);
            table.addRow({cells[0], dumpJson(json(cells[1]))});  // quoted: blanks and newlines are what tokens are made of
        }
        if (!common.documentOnOutput() && !common.quiet) {
            const json text = answer->value("text", json());
            print(m_decode.empty() ? table.text() : (text.is_string() ? text.get<std::string>() : std::string()) + "\n");
        }
        if (const int code = writeDocument(common.csv, csv)) return code;
        if (common.json.empty()) return 0;
        RunHeader header = headerWithoutRun(common, "tokenize");
        header.model = common.model;
        header.result = *answer;
        return writeDocument(common.json, jsonDocument(header));
    }

private:
    std::string m_text, m_decode;
    bool m_chat = false;
    CLI::Option* m_textOption = nullptr;
};

}  // namespace

std::unique_ptr<Command> makeTokenizeCommand() { return std::make_unique<TokenizeCommand>(); }

}  // namespace kernelscope::cli
