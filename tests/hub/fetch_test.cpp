// A model from a hub: what arrives, what is resumed, what is refused. The hub is one of this process.

#include "core/hub/fetch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "core/model/hub_cache.h"
#include "tests/hub/loopback_hub_posix.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;
using test::LoopbackHub;

class Fetch : public testing::Test {
protected:
    void SetUp() override {
        forgetEnvironment();
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<char>(i * 2654435761U >> 13);
        hub.add("config.json", R"({"model_type": "qwen2"})");
        hub.add("tokenizer.json", "{}");
        hub.add("model.safetensors", weights, true);
        hub.add("pytorch_model.bin", "not wanted", true);
        hub.add("folder/notes.md", "a file in a folder");
        place.endpoint = hub.address();
        place.cache = folder / "cache";
        options.id = "Owner/Tiny";
        options.patience.pause = std::chrono::milliseconds(1);
    }
    void TearDown() override { forgetEnvironment(); }
    /// Neither the tests' own settings nor the user's.
    static void forgetEnvironment() {
        for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "HF_HUB_CACHE", "HF_HOME", "HF_ENDPOINT", "HF_TOKEN", "HF_HUB_OFFLINE", "HF_TOKEN_PATH"})
            ::unsetenv(name);
    }

    Result<FetchedModel> fetch() { return fetchModel(place, options, stop.get_token()); }
    Error failure() {
        auto fetched = fetch();
        EXPECT_FALSE(fetched.ok());
        return fetched.ok() ? Error{} : fetched.error();
    }
    static std::string read(const fs::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// Nobody who looks for the model may find half of it.
    void expectNotFound() {
        ::setenv("HF_HUB_CACHE", place.cache.c_str(), 1);
        const auto found = findInHubCache(options.id);
        EXPECT_TRUE(!found.ok() || !found->has_value());
        EXPECT_FALSE(fs::exists(place.cache / "models--Owner--Tiny/refs"));
        EXPECT_FALSE(fs::exists(place.cache / "models--Owner--Tiny/snapshots"));
    }

    LoopbackHub hub;
    HubPlace place;
    FetchOptions options;
    std::stop_source stop;
    std::string weights = std::string(300'000, 'w');
    test::TemporaryFolder folder;
};

TEST_F(Fetch, LaysTheModelOutAsTheHubsOwnToolsDo) {
    const auto fetched = fetch();
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    const fs::path entry = place.cache / "models--Owner--Tiny";
    EXPECT_EQ(fetched->folder, entry / "snapshots" / hub.commit());
    EXPECT_EQ(read(entry / "refs/main"), hub.commit());
    EXPECT_EQ(read(fetched->folder / "model.safetensors"), weights);
    EXPECT_EQ(fs::read_symlink(fetched->folder / "config.json").parent_path(), "../../blobs");
    EXPECT_EQ(fs::read_symlink(fetched->folder / "folder/notes.md").parent_path(), "../../../blobs");
    EXPECT_EQ(fs::read_symlink(fetched->folder / "model.safetensors").filename().string().size(), 64u) << "large files under their SHA-256";
    EXPECT_EQ(fs::read_symlink(fetched->folder / "config.json").filename().string().size(), 40u) << "small ones under git's hash";
    EXPECT_FALSE(fs::exists(fetched->folder / "pytorch_model.bin"));
    EXPECT_EQ(std::distance(fs::directory_iterator(entry / "blobs"), {}), 4) << "and nothing unfinished";
    EXPECT_EQ(fetched->files, 4);
    ::setenv("HF_HUB_CACHE", place.cache.c_str(), 1);
    EXPECT_EQ(**findInHubCache("Owner/Tiny"), fetched->folder);
    const auto list = listHubCache();
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].id, "Owner/Tiny");
    EXPECT_GT(list[0].bytes, 300'000);
}

TEST_F(Fetch, ASecondTimeFetchesNothingAndMendsWhatWasDamaged) {
    const auto first = fetch();
    ASSERT_TRUE(first.ok());
    const auto second = fetch();
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(second->fetchedBytes, 0);
    const fs::path blob = fs::canonical(first->folder / "model.safetensors");
    { std::fstream(blob, std::ios::in | std::ios::out | std::ios::binary) << "X"; }
    const auto third = fetch();
    ASSERT_TRUE(third.ok()) << third.error().message;
    EXPECT_EQ(third->fetchedBytes, 300'000);
    EXPECT_EQ(read(first->folder / "model.safetensors"), weights);
}

TEST_F(Fetch, GoesOnWhereTheConnectionBroke) {
    hub.cutAfter(100'000, 2);
    const auto fetched = fetch();
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_EQ(read(fetched->folder / "model.safetensors"), weights);
    EXPECT_LT(fetched->fetchedBytes, 300'200) << "no byte twice";
    std::vector<std::string> ranges;
    for (const auto& request : hub.received())
        if (request.target.starts_with("/storage/")) ranges.push_back(request.headers.contains("range") ? request.headers.at("range") : "");
    EXPECT_EQ(ranges, (std::vector<std::string>{"", "bytes=100000-", "bytes=200000-"}));
}

TEST_F(Fetch, AnInterruptedFetchIsInvisibleAndResumedLater) {
    hub.cutAfter(120'000, 1, 503);
    const Error broken = failure();
    EXPECT_EQ(broken.code, ErrorCode::environment);
    EXPECT_NE(broken.message.find("503"), std::string::npos) << broken.message;
    expectNotFound();
    hub.answer(0, 0);
    const auto fetched = fetch();
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_EQ(read(fetched->folder / "model.safetensors"), weights);
    EXPECT_LT(fetched->fetchedBytes, 181'000) << "what had arrived was kept";
}

TEST_F(Fetch, AHubWithoutRangesSendsItAllAgain) {
    hub.ignoreRanges();
    hub.cutAfter(100'000, 1);
    const auto fetched = fetch();
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_EQ(read(fetched->folder / "model.safetensors"), weights);
}

TEST_F(Fetch, AConnectionThatAlwaysBreaksIsGivenUpAndSaysWhere) {
    hub.cutAfter(0, 1000);
    EXPECT_NE(failure().message.find("breaks again and again at byte 0 of 300000 of model.safetensors"), std::string::npos);
    expectNotFound();
}

TEST_F(Fetch, OneWrongByteIsFetchedAgainAndTwoWrongCopiesAreRefused) {
    hub.spoil(1);
    const auto fetched = fetch();
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_EQ(read(fetched->folder / "model.safetensors"), weights);
    fs::remove_all(place.cache);
    hub.spoil(2);
    const Error wrong = failure();
    EXPECT_EQ(wrong.code, ErrorCode::environment);
    EXPECT_NE(wrong.message.find("model.safetensors does not have the SHA-256"), std::string::npos) << wrong.message;
    expectNotFound();
    EXPECT_TRUE(std::none_of(fs::directory_iterator(place.cache / "models--Owner--Tiny/blobs"), {}, [](const fs::directory_entry& entry) { return entry.file_size() == 300'000; }))
        << "the wrong copy is not kept";
}

TEST_F(Fetch, TheTokenGoesToTheHubAndNotBeyond) {
    hub.requireToken("secret");
    EXPECT_NE(failure().message.find("401"), std::string::npos);
    place.token = "secret";
    ASSERT_TRUE(fetch().ok());
    for (const auto& request : hub.received()) {
        if (!request.target.starts_with("/storage/")) continue;
        EXPECT_FALSE(request.headers.contains("authorization")) << "another host";
    }
    place.token = "wrong";
    EXPECT_NE(failure().message.find("does not accept the token"), std::string::npos);
}

TEST_F(Fetch, WhatTheHubRefusesIsSaidInWords) {
    hub.answer(403);
    EXPECT_NE(failure().message.find("does not let Owner/Tiny be read (403)"), std::string::npos);
    hub.answer(401, 1, "X-Error-Code: GatedRepo\r\n");
    const Error gated = failure();
    EXPECT_EQ(gated.code, ErrorCode::badInput);
    EXPECT_NE(gated.advice.find(hub.address() + "/Owner/Tiny"), std::string::npos) << gated.advice;
    options.revision = "v9";
    EXPECT_EQ(failure().message, "Owner/Tiny has no revision 'v9' (404)");
    options.revision = "main";
    options.id = "Owner/Nothing";
    const Error missing = failure();
    EXPECT_EQ(missing.message, "the hub has no model Owner/Nothing (404)");
    EXPECT_EQ(missing.code, ErrorCode::badInput);
}

TEST_F(Fetch, WaitsAsLongAsTheHubAsksToAndNotLonger) {
    hub.answer(429, 2, "Retry-After: 0\r\n");
    EXPECT_TRUE(fetch().ok());
    hub.answer(429, 1, "Retry-After: -9223372036854775808\r\n");
    EXPECT_TRUE(fetch().ok());
    hub.answer(500, 2);
    EXPECT_TRUE(fetch().ok());
    hub.answer(429, 1, "Retry-After: 4000\r\n");
    const Error busy = failure();
    EXPECT_EQ(busy.message, "the hub refuses more requests for now (429); it asks to wait 4000 s");
    hub.answer(429, 100);
    options.patience.attempts = 3;
    EXPECT_NE(failure().message.find("429"), std::string::npos);
}

TEST_F(Fetch, WithoutANetworkSaysWhatToLookAt) {
    {
        LoopbackHub gone;
        place.endpoint = gone.address();
    }
    const Error offline = failure();
    EXPECT_EQ(offline.code, ErrorCode::environment);
    EXPECT_NE(offline.message.find("cannot be reached"), std::string::npos) << offline.message;
    EXPECT_NE(offline.advice.find("proxy"), std::string::npos);
    place.offline = true;
    EXPECT_EQ(failure().message, "HF_HUB_OFFLINE is set: nothing is fetched");
}

TEST_F(Fetch, GoesThroughAProxy) {
    ::setenv("http_proxy", hub.address().c_str(), 1);
    place.endpoint = "http://hub.invalid";
    const auto fetched = fetch();
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_EQ(hub.requestsFor("http://hub.invalid/api/models/"), 1);
    EXPECT_EQ(hub.requestsFor("http://storage.invalid/storage/"), 1);
}

TEST_F(Fetch, WithoutSpaceSaysHowMuchIsNeededAndFetchesNothing) {
    options.freeBytes = [](const fs::path&) { return std::uintmax_t{1000}; };
    const Error full = failure();
    EXPECT_EQ(full.code, ErrorCode::environment);
    EXPECT_NE(full.message.find("needs 293 KiB more in " + place.cache.string() + ", where 1000 B are free"), std::string::npos) << full.message;
    EXPECT_EQ(hub.requestsFor("resolve"), 0);
}

TEST_F(Fetch, ANameThatLeadsOutOfTheCacheIsRefused) {
    for (const char* name : {"../evil", "/etc/evil", "a/../../evil", "a//b", "..", "a\\b", "C:evil", "a/./b"}) {
        hub.nameFile(name);
        EXPECT_EQ(failure().code, ErrorCode::badInput) << name;
    }
    EXPECT_FALSE(fs::exists(place.cache)) << "nothing was written";
    for (const char* id : {"", "../x", "a/b/c", "a b/c", "-x/..", "a--b/c"}) {
        options.id = id;
        EXPECT_EQ(failure().code, ErrorCode::usage) << id;
    }
    options.id = "Owner/Tiny";
    options.revision = "../main";
    EXPECT_EQ(failure().code, ErrorCode::usage);
}

TEST_F(Fetch, IsCancelledInTheMiddle) {
    options.progress = [&](const FetchProgress&) { stop.request_stop(); };
    EXPECT_EQ(failure().code, ErrorCode::cancelled);
    expectNotFound();
}

TEST_F(Fetch, TwoAtOnceFetchOnce) {
    Result<FetchedModel> other = makeError(ErrorCode::environment, "not run");
    std::thread thread([&] {
        FetchOptions same = options;
        other = fetchModel(place, same, {});
    });
    const auto mine = fetch();
    thread.join();
    ASSERT_TRUE(mine.ok() && other.ok());
    EXPECT_EQ(read(mine->folder / "model.safetensors"), weights);
    EXPECT_EQ(mine->folder, other->folder);
}

TEST_F(Fetch, TheHubsEnvironmentIsHonoured) {
    ::setenv("HF_HOME", (folder / "home").c_str(), 1);
    EXPECT_EQ(hubPlace().cache, folder / "home/hub");
    fs::create_directories(folder / "home");
    std::ofstream(folder / "home/token") << "from-the-file\n";
    EXPECT_EQ(hubPlace().token, "from-the-file");
    ::setenv("HF_TOKEN", " given ", 1);
    EXPECT_EQ(hubPlace().token, "given");
    ::setenv("HF_HUB_CACHE", (folder / "elsewhere").c_str(), 1);
    EXPECT_EQ(hubPlace().cache, folder / "elsewhere");
    EXPECT_TRUE(hubPlace().endpoint.starts_with("https://"));
    ::setenv("HF_ENDPOINT", "http://mirror/", 1);
    EXPECT_EQ(hubPlace().endpoint, "http://mirror");
    EXPECT_FALSE(hubPlace().offline);
    ::setenv("HF_HUB_OFFLINE", "1", 1);
    EXPECT_TRUE(hubPlace().offline);
}

}  // namespace
}  // namespace kernelscope
