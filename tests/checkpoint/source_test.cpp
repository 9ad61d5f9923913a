#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "core/model/config.h"
#include "core/model/files.h"
#include "core/model/hub_cache.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;
using test::writeFile;

/// The hub's variables, all unset but those a test sets; put back afterwards.
class HubEnvironment {
public:
    explicit HubEnvironment(const fs::path& home) {
        for (const char* name : kNames) {
            const char* value = std::getenv(name);
            m_before.emplace_back(value ? std::optional<std::string>(value) : std::nullopt);
            ::unsetenv(name);
        }
        set("HOME", home.string());
    }
    ~HubEnvironment() {
        for (std::size_t i = 0; i < std::size(kNames); ++i) {
            if (m_before[i]) ::setenv(kNames[i], m_before[i]->c_str(), 1);
            else ::unsetenv(kNames[i]);
        }
    }
    void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

private:
    static constexpr const char* kNames[] = {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"};
    std::vector<std::optional<std::string>> m_before;
};

class Source : public testing::Test {
protected:
    test::TemporaryFolder m_folder;
    HubEnvironment m_environment{m_folder.path()};

    fs::path addToCache(const fs::path& cache, const std::string& id, const std::string& commit) {
        const fs::path entry = cache / hubFolderName(id);
        fs::create_directories(entry / "snapshots" / commit);
        fs::create_directories(entry / "blobs");
        writeFile(entry / "blobs" / "c0ffee", "{}");
        fs::create_symlink("../../blobs/c0ffee", entry / "snapshots" / commit / "config.json");
        return entry;
    }
    void expectRefused(const std::string& argument, const std::string& says, const std::string& advises) {
        const Result<ModelSource> source = resolveModel(argument);
        ASSERT_FALSE(source.ok()) << argument;
        EXPECT_EQ(source.error().code, ErrorCode::badInput);
        EXPECT_NE(source.error().message.find(says), std::string::npos) << source.error().message;
        EXPECT_NE(source.error().advice.find(advises), std::string::npos) << source.error().advice;
    }
};

TEST_F(Source, APresetComesFirst) {
    const Result<ModelSource> source = resolveModel("qwen2.5-0.5b");
    ASSERT_TRUE(source.ok());
    EXPECT_EQ(source->preset, findPreset("qwen2.5-0.5b"));
    EXPECT_TRUE(source->folder.empty());
}

TEST_F(Source, ThenAFolder) {
    ASSERT_TRUE(writeFile(m_folder.path() / "config.json", "{}"));
    const Result<ModelSource> source = resolveModel(toUtf8(m_folder.path()));
    ASSERT_TRUE(source.ok()) << source.error().message;
    EXPECT_EQ(source->preset, nullptr);
    EXPECT_EQ(source->folder, m_folder.path());
}

TEST_F(Source, ThenTheHubCacheAtItsUsualPlace) {
    const fs::path entry = addToCache(m_folder.path() / ".cache/huggingface/hub", "Qwen/Qwen2.5-0.5B", "abc123");
    fs::create_directories(entry / "refs");
    ASSERT_TRUE(writeFile(entry / "refs/main", "abc123\n"));
    const Result<ModelSource> source = resolveModel("Qwen/Qwen2.5-0.5B");
    ASSERT_TRUE(source.ok()) << source.error().message;
    EXPECT_EQ(source->folder, entry / "snapshots/abc123");
}

TEST_F(Source, TheHubVariablesHaveTheirOrder) {
    m_environment.set("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(hubCacheFolder(), fs::path("/x/huggingface/hub"));
    m_environment.set("HF_HOME", "~/h");
    EXPECT_EQ(hubCacheFolder(), m_folder.path() / "h/hub");
    m_environment.set("HF_HUB_CACHE", "/c");
    EXPECT_EQ(hubCacheFolder(), fs::path("/c"));
    m_environment.set("HF_HUB_CACHE", "");
    EXPECT_EQ(hubCacheFolder(), m_folder.path() / "h/hub");
}

TEST_F(Source, TheMainBranchChoosesAmongSnapshots) {
    m_environment.set("HF_HUB_CACHE", m_folder.path().string());
    addToCache(m_folder.path(), "a/b", "first");
    const fs::path entry = m_folder.path() / hubFolderName("a/b");
    EXPECT_EQ(resolveModel("a/b")->folder, entry / "snapshots/first");  // the only one

    fs::create_directories(entry / "snapshots/second");
    ASSERT_TRUE(writeFile(entry / "snapshots/second/config.json", "{}"));
    expectRefused("a/b", "2 snapshots", "Fetch");

    fs::create_directories(entry / "refs");
    ASSERT_TRUE(writeFile(entry / "refs/main", "second"));
    EXPECT_EQ(resolveModel("a/b")->folder, entry / "snapshots/second");

    ASSERT_TRUE(writeFile(entry / "refs/main", "third"));
    expectRefused("a/b", "third", "Fetch");
    ASSERT_TRUE(writeFile(entry / "refs/main", "../../.."));
    expectRefused("a/b", "does not name a snapshot", "Fetch");
}

TEST_F(Source, ATypoSuggestsTheNearestPreset) {
    expectRefused("qwen2.5-0.5", "no model called", "Did you mean the preset qwen2.5-0.5b?");
    expectRefused("Qwen2.5-7B", "no model called", "Did you mean the preset qwen2.5-7b?");
    expectRefused("qwen25-tiny", "no model called", "Did you mean the preset qwen2.5-tiny?");
}

TEST_F(Source, AnUnknownHubIdSaysHowToGetIt) { expectRefused("some/model", "no model called", "model get some/model"); }

TEST_F(Source, AnEmptyOrOddNameIsNoCrash) {
    expectRefused("", "empty", "qwen2.5-tiny");
    expectRefused(std::string("a\0b", 3), "zero byte", "qwen2.5-tiny");
    expectRefused("../..//x", "no model called", "qwen2.5-tiny");
    expectRefused(std::string(100000, 'x'), "x", "");
}

TEST_F(Source, AFileIsNotAFolder) {
    ASSERT_TRUE(writeFile(m_folder.path() / "model.safetensors", "x"));
    expectRefused(toUtf8(m_folder.path() / "model.safetensors"), "is a file", toUtf8(m_folder.path()));
}

TEST_F(Source, AFolderWithoutAConfigSaysWhatItHoldsInstead) {
    const fs::path folder = m_folder.path() / "m";
    fs::create_directories(folder);
    expectRefused(toUtf8(folder), "config.json is missing", "The folder is empty");
    ASSERT_TRUE(writeFile(folder / "x.gguf", "x"));
    expectRefused(toUtf8(folder), "config.json is missing", "GGUF");
    ASSERT_TRUE(writeFile(folder / "pytorch_model.bin", "x"));
    expectRefused(toUtf8(folder), "config.json is missing", "convert the model to safetensors");
    fs::create_directories(folder / "inner");
    ASSERT_TRUE(writeFile(folder / "inner/config.json", "{}"));
    expectRefused(toUtf8(folder), "config.json is missing", "Did you mean " + toUtf8(folder / "inner"));
}

}  // namespace
}  // namespace kernelscope
