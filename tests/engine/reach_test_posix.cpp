// What the real engine reaches: which files it opens, what it leaves for others to write, who could speak to it.

#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>

#include "core/client/session.h"
#include "core/client/store.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/listening.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Names what any process opens in some folders, from now on.
class Opened {
public:
    ~Opened() { ::close(m_events); }
    void watch(const fs::path& folder) { m_folders[::inotify_add_watch(m_events, folder.c_str(), IN_OPEN)] = folder.filename().string(); }

    /// "folder/name" of what was opened since the last call.
    std::set<std::string> sinceThen() {
        std::set<std::string> names;
        alignas(inotify_event) char buffer[1 << 16];
        for (ssize_t got; (got = ::read(m_events, buffer, sizeof buffer)) > 0;) {
            for (ssize_t at = 0; at < got;) {
                const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
                names.insert(m_folders[event->wd] + "/" + (event->len > 0 ? event->name : ""));
                at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
            }
        }
        return names;
    }

private:
    int m_events = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    std::map<int, std::string> m_folders;
};

class Reach : public testing::Test {
protected:
    test::TemporaryFolder m_temporary;
    fs::path m_home = m_temporary.path() / "home";

    void SetUp() override {
        ::setenv("OMP_NUM_THREADS", "1", 0);
        fs::create_directories(m_home);
    }

    /// A model of one layer with a tokenizer and a config that names what lies beside it.
    void writeModel(const fs::path& folder, std::size_t shards = 1) {
        ModelConfig config;
        config.layers = 1;
        config.hiddenSize = 8;
        config.heads = 2;
        config.kvHeads = 1;
        config.headDim = 4;
        config.intermediateSize = 12;
        config.vocabSize = 20;
        config.eosTokenIds = {2};
        const test::PatternTensors pattern(config, "float32");
        ASSERT_TRUE(test::writeCheckpoint(folder, config, pattern.tensors(), shards).ok());
        json document = json::parse(test::readFile(folder / "config.json"));
        for (const char* key : {"_name_or_path", "tokenizer_file", "weights_file"}) document[key] = "../beside/tokenizer.json";
        document["auto_map"] = {{"AutoModelForCausalLM", "../beside/code.py"}};
        test::writeFile(folder / "config.json", document.dump());
        test::writeFile(folder / "vocab.json", R"({"a": 0, "b": 1, "c": 2})");
        test::writeFile(folder / "merges.txt", "#version: 0.2\n");
        test::writeFile(folder / "tokenizer_config.json", R"({"vocab_file": "../beside/vocab.json", "chat_template": "x"})");
    }

    /// An engine whose home and working folder are the test's, started as `shell` says.
    SessionOptions engine(const std::string& before = {}) {
        SessionOptions options;
        const std::string home = m_home.string();
        options.engine.argv = {"/bin/sh", "-c", before + "cd \"$0\" && export HOME=\"$0\" XDG_DATA_HOME=\"$0/data\" XDG_CACHE_HOME=\"$0/cache\" TMPDIR=\"$0\" && exec \"$1\"", home, KERNELSCOPE_ENGINE_PATH};
        options.telemetryIntervalMs = 0;
        return options;
    }

    static Finished run(SessionOptions options, const std::string& kind, const std::string& model, json settings, std::function<void()> atProgress = {}) {
        Finished end;
        SessionListener listener;
        listener.jobFinished = [&](const RunHeader&, const Finished& finished) { end = finished; };
        listener.progress = [&](const Progress&) { if (atProgress) atProgress(); };
        Session session(std::move(options), nullptr, std::move(listener));
        JobRequest request{.kind = kind, .model = model, .device = "cpu"};
        request.settings = std::move(settings);
        EXPECT_TRUE(session.start(std::move(request), "x").ok());
        session.wait();
        return end;
    }

    static Result<json> ask(SessionOptions options, const std::string& method, json params) {
        std::mutex mutex;
        std::condition_variable arrived;
        std::optional<Result<json>> answer;
        Session session(std::move(options), nullptr, {});
        session.call(method, std::move(params), [&](Result<json> result) {
            const std::lock_guard lock(mutex);
            answer = std::move(result);
            arrived.notify_all();
        });
        std::unique_lock lock(mutex);
        arrived.wait(lock, [&] { return answer.has_value(); });
        return std::move(*answer);
    }
};

TEST_F(Reach, OpensTheModelFolderThatItWasToldAndNothingBesideIt) {
    const fs::path model = m_home / "model", beside = m_home / "beside";
    writeModel(model);
    writeModel(beside);
    Opened opened;
    for (const fs::path& folder : {m_home, model, beside}) opened.watch(folder);
    opened.sinceThen();

    const Finished generated = run(engine(), "generate", model.string(), {{"prompt_ids", {1, 2}}, {"new_tokens", 2}});
    EXPECT_EQ(generated.status, RunStatus::done) << generated.error.message;
    const auto inspected = ask(engine(), "model.inspect", {{"model", model.string()}});
    EXPECT_TRUE(inspected.ok()) << inspected.error().message;
    const auto tokenized = ask(engine(), "model.tokenize", {{"model", model.string()}, {"text", "abc"}});
    EXPECT_TRUE(tokenized.ok()) << tokenized.error().message;

    const std::set<std::string> names = opened.sinceThen();
    for (const char* expected : {"model/config.json", "model/model.safetensors", "model/vocab.json"}) EXPECT_TRUE(names.contains(expected)) << expected << " was not seen: the watch is blind";
    for (const std::string& name : names) EXPECT_TRUE(name.starts_with("model/") || name == "home/model") << name << " is none of its business";
}

TEST_F(Reach, AnIndexCannotLeadItOutOfTheFolder) {
    const fs::path model = m_home / "model", beside = m_home / "beside";
    writeModel(model, 2);
    writeModel(beside, 2);
    const std::string second = "model-00002-of-00002.safetensors";
    fs::remove(model / second);
    const std::string index = test::readFile(model / "model.safetensors.index.json");
    Opened opened;
    opened.watch(beside);
    for (const std::string& name : {"../beside/" + second, (beside / second).string(), "./../beside/" + second, "x/../../beside/" + second}) {
        std::string changed = index;
        for (auto at = changed.find(second); at != std::string::npos; at = changed.find(second, at + name.size())) changed.replace(at, second.size(), name);
        test::writeFile(model / "model.safetensors.index.json", changed);
        const Finished refused = run(engine(), "generate", model.string(), {{"prompt_ids", {1, 2}}, {"new_tokens", 1}});
        EXPECT_EQ(refused.error.code, ErrorCode::badInput) << name;
        EXPECT_NE(refused.error.message.find("only the plain name of a file in the same folder"), std::string::npos) << refused.error.message;
        EXPECT_EQ(opened.sinceThen(), std::set<std::string>{}) << name;
    }
    // A link that somebody put into the folder is followed, as a hub's snapshots need it.
    test::writeFile(model / "model.safetensors.index.json", index);
    fs::create_symlink("../beside/" + second, model / second);
    const Finished linked = run(engine(), "generate", model.string(), {{"prompt_ids", {1, 2}}, {"new_tokens", 1}});
    EXPECT_EQ(linked.status, RunStatus::done) << linked.error.message;
    EXPECT_TRUE(opened.sinceThen().contains("beside/" + second));
}

TEST_F(Reach, NothingThatItMakesCanBeWrittenByEverybodyWhateverTheUmask) {
    const fs::path kernel = m_temporary.path() / "mine.cpp";
    test::writeFile(kernel, "#include \"kernelscope/kernels.h\"\n"
                            "extern \"C\" int ks_cpu_rms_norm(void*, const void*, const void*, int64_t, int64_t, int64_t, int64_t, float, int, void*) { return 0; }\n");
    const Finished end = run(engine("umask 0; "), "validate", "qwen2.5-tiny", {{"op", "rms_norm"}, {"kernel", kernel.string()}, {"hidden", {64}}, {"rows", {1}}, {"dtypes", "float32"}});
    EXPECT_EQ(end.status, RunStatus::done) << end.error.message;
    int seen = 0;
    for (const auto& entry : fs::recursive_directory_iterator(m_home)) {
        ++seen;
        EXPECT_EQ(entry.symlink_status().permissions() & fs::perms::others_write, fs::perms::none) << entry.path();
    }
    EXPECT_GE(seen, 4) << "a cache with a compiled kernel in it";
}

TEST_F(Reach, NobodyCanConnectToItWhileItWorks) {
    const int tcp = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::listen(tcp, 1), 0);  // on any free port of its own choice
    EXPECT_TRUE(test::listeningSockets(::getpid()).starts_with("tcp:")) << "what listens is seen: " << test::listeningSockets(::getpid());
    ::close(tcp);

    std::string sockets;
    int looked = 0;
    const auto look = [&] {
        if (looked++ > 3) return;
        sockets += test::listeningSockets(::getpid());
        for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(::getpid()) + "/task")) {
            std::ifstream children(entry.path() / "children");
            for (long child; children >> child;) sockets += test::listeningSockets(child);
        }
    };
    const Finished end = run(engine(), "profile", "qwen2.5-tiny", {{"iterations", 3}, {"warmup", 1}}, look);
    EXPECT_EQ(end.status, RunStatus::done) << end.error.message;
    EXPECT_GT(looked, 0);
    EXPECT_EQ(sockets, "");
}

}  // namespace
}  // namespace kernelscope
