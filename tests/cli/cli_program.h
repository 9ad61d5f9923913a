#pragma once
// The command line as another process, with the scripted engine behind it.

#include <nlohmann/json.hpp>

#include "core/client/file.h"
#include "core/client/process.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

struct Ended {
    int code = -1;
    std::string out, err;
};

/// The rest of what a started program says, and its end.
inline Ended finish(ChildProcess& child, Ended so_far = {}) {
    WakeUp quiet;
    child.closeInput();
    for (;;) {
        const auto said = child.wait(quiet, std::chrono::seconds(30));
        so_far.out += said.out;
        so_far.err += said.err;
        if (said.outClosed && said.errClosed) break;
    }
    const auto end = child.waitForEnd(std::chrono::seconds(30));
    so_far.code = end ? (end->signal ? 1000 + end->signal : end->exitCode) : -2;
    return so_far;
}

class Cli : public testing::Test {
protected:
    /// Runs the program with this test's store, unless the words name another.
    Ended run(Words words) {
        auto child = start(std::move(words));
        return child ? finish(*child) : Ended{};
    }

    std::unique_ptr<ChildProcess> start(Words words) {
        words.insert(words.begin(), KERNELSCOPE_CLI);
        auto child = ChildProcess::start(words);
        EXPECT_TRUE(child.ok()) << (child.ok() ? "" : child.error().message);
        return child ? std::move(*child) : nullptr;
    }

    /// `command` with the scripted engine and the store of this test.
    Ended play(const std::string& script, Words command) { return run(withEngine(script, std::move(command))); }

    Words withEngine(const std::string& script, Words command) {
        const fs::path file = folder / ("script " + std::to_string(m_scripts++));  // a space in its name, to see it quoted
        EXPECT_TRUE(writeFileAtomically(file, script).ok());
        for (const std::string& word : {std::string("--engine"), std::string(KERNELSCOPE_SCRIPTED_ENGINE) + " '" + file.string() + "'", std::string("--store"), store()})
            command.push_back(word);
        return command;
    }

    std::string store() const { return (folder / "runs.sqlite").string(); }
    std::string file(const std::string& name) const { return (folder / name).string(); }
    std::string read(const std::string& name) const {
        const auto text = readFile(folder / name);
        EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().message);
        return text ? *text : std::string();
    }
    json list() { return json::parse(run({"runs", "list", "--store", store(), "--json", "-"}).out).at("rows"); }

    TemporaryFolder folder;

private:
    int m_scripts = 0;
};

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline const std::string kProfile = kHello + kStarted + profileRow("Attention", 300) + profileRow("total", 1000) + kDone;
inline const std::string kEndless = kHello + kStarted + profileRow("Attention", 300) + "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\n";

}  // namespace kernelscope
