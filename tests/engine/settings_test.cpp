#include "core/engine/settings.h"

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

TEST(EngineSettings, DefaultsAreFilledIn) {
    SettingsReader reader(nlohmann::json{{"iterations", 7}});
    EXPECT_EQ(reader.integer("iterations", 50, 1, 100), 7);
    EXPECT_EQ(reader.integer("warmup", 10, 0, 100), 10);
    EXPECT_EQ(reader.finish().value(), (nlohmann::json{{"iterations", 7}, {"warmup", 10}}));
}

TEST(EngineSettings, AnUnknownSettingIsRefusedByName) {
    SettingsReader reader(nlohmann::json{{"iteration", 7}});
    (void)reader.integer("iterations", 50, 1, 100);
    const auto finished = reader.finish();
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, ErrorCode::usage);
    EXPECT_NE(finished.error().message.find("'iteration'"), std::string::npos);
}

TEST(EngineSettings, WrongKindsAndRangesAreRefusedByName) {
    const std::vector<nlohmann::json> wrong{{{"n", "7"}}, {{"n", 7.5}}, {{"n", 0}}, {{"n", 101}}, {{"n", 1e300}}, {{"n", true}}, {{"n", nlohmann::json::array({1})}}};
    for (const nlohmann::json& settings : wrong) {
        SettingsReader reader(settings);
        EXPECT_EQ(reader.integer("n", 5, 1, 100), 5);
        const auto finished = reader.finish();
        ASSERT_FALSE(finished) << settings.dump();
        EXPECT_NE(finished.error().message.find("n is"), std::string::npos);
    }
}

TEST(EngineSettings, NullMeansTheDefault) {
    SettingsReader reader(nlohmann::json{{"mode", nullptr}});
    EXPECT_EQ(reader.choice("mode", "eager", {"eager", "graph"}), "eager");
    EXPECT_TRUE(reader.finish());
}

TEST(EngineSettings, AChoiceThatDoesNotExistNamesThoseThatDo) {
    SettingsReader reader(nlohmann::json{{"phase", "decoding"}});
    (void)reader.choice("phase", "decode", {"decode", "prefill", "both"});
    EXPECT_EQ(reader.finish().error().message, "phase is 'decoding', but must be one of decode, prefill, both");
}

TEST(EngineSettings, AMessageDoesNotRepeatAMegabyteOfJunk) {
    const std::string junk(1'000'000, 'x');
    for (const nlohmann::json& settings : {nlohmann::json{{"mode", junk}}, nlohmann::json{{"batch", junk}}, nlohmann::json{{"batch", std::vector<int>(100'000, 7)}}, nlohmann::json{{junk, 1}}}) {
        SettingsReader reader(settings);
        (void)reader.choice("mode", "eager", {"eager", "graph"});
        (void)reader.integer("batch", 1, 1, 8);
        const auto problem = reader.finish();
        ASSERT_FALSE(problem);
        EXPECT_LT(problem.error().message.size(), 300u);
    }
}

TEST(EngineSettings, SettingsThatAreNoObjectAreRefused) { EXPECT_FALSE(SettingsReader(nlohmann::json::array({1, 2})).finish()); }

}  // namespace
}  // namespace kernelscope
