#include "ui/services/machines.h"

#include <string_view>

#include <QFileInfo>

#include "core/client/session.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

constexpr const char* kEngine = "kernelscope-engine";

std::vector<std::string> wordsOf(const QString& command) {
    const auto parsed = parseEngineCommand(fromQt(command));
    return parsed ? parsed->argv : std::vector<std::string>();
}

QString programOf(const std::vector<std::string>& words) { return words.empty() ? QString() : QFileInfo(toQt(words.front())).fileName(); }

}  // namespace

bool isElsewhere(const QString& command) {
    const auto words = wordsOf(command);
    return words.size() > 1 && programOf(words) != kEngine && !QFileInfo(toQt(words.front())).fileName().endsWith("engine");
}

QString machineName(const QString& command) {
    if (!isElsewhere(command)) return "This machine";
    const auto words = wordsOf(command);
    if (programOf(words) == "ssh") {
        // Options that take a value, as ssh(1) has them.
        constexpr std::string_view kWithValue = "BbcDEeFIiJLlmOopQRSWw";
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::string& word = words[i];
            if (word.size() > 1 && word[0] == '-') i += word.size() == 2 && kWithValue.find(word[1]) != std::string_view::npos;
            else return toQt(word);
        }
    }
    constexpr int kLongest = 32;
    QString name;
    for (const std::string& word : words)
        if (QFileInfo(toQt(word)).fileName() != kEngine) name += (name.isEmpty() ? "" : " ") + toQt(word);
    return name.size() > kLongest ? name.left(kLongest - 1) + "…" : name;
}

}  // namespace kernelscope::ui
