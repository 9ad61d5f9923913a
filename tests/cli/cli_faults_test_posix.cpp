// What the command line says, and what it keeps, when something goes wrong around it: engines that die, signals, limits, streams, files that are none.

#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "core/records/csv.h"
#include "tests/cli/cli_program.h"
#include "tests/support/listening.h"

namespace kernelscope {
namespace {

TEST_F(Cli, AnEngineThatDiesExits4AndKeepsTheRows) {
    const Ended ended = play(kHello + kStarted + profileRow("A", 1) + "say out of luck\ndie SIGSEGV\n", {"profile", "--csv", file("p.csv")});
    EXPECT_EQ(ended.code, 4);
    EXPECT_TRUE(holds(ended.err, "SIGSEGV") && holds(ended.err, "out of luck")) << ended.err;
    EXPECT_TRUE(holds(ended.err, "run `doctor`")) << "the way out" << ended.err;
    EXPECT_EQ(rowsFromCsv(rowTypeOf<ProfileRow>(), read("p.csv"))->size(), 1u);
    EXPECT_EQ(list()[0].at("status"), "failed");
}

TEST_F(Cli, InterruptAndTerminateCancelWithTheRowsKept) {
    for (const int signal : {SIGINT, SIGTERM}) {
        auto child = start(withEngine(kEndless, {"profile", "--csv", file("p.csv")}));
        ASSERT_TRUE(child);
        WakeUp quiet;
        Ended said;
        while (!holds(said.err, "scripted CPU")) {  // the job has started
            const auto more = child->wait(quiet, std::chrono::seconds(30));
            said.err += more.err;
            if (more.errClosed) break;
        }
        ::kill(static_cast<pid_t>(child->pid()), signal);
        const Ended ended = finish(*child, said);
        EXPECT_EQ(ended.code, 130) << ended.err;
        EXPECT_EQ(list()[0].at("status"), "cancelled");
        EXPECT_EQ(rowsFromCsv(rowTypeOf<ProfileRow>(), read("p.csv"))->size(), 1u);
    }
}

/// A program under a shell that does something first, and has then taken its place.
std::unique_ptr<ChildProcess> underShell(const std::string& before, Words words) {
    words.insert(words.begin(), {"/bin/sh", "-c", before + "; exec \"$0\" \"$@\"", KERNELSCOPE_CLI});
    auto child = ChildProcess::start(words);
    EXPECT_TRUE(child.ok());
    return std::move(*child);
}

TEST_F(Cli, ASignalThatItWasStartedToIgnoreDoesNotStopIt) {
    // `nohup` does this with SIGHUP, a shell that runs a script with SIGINT of its background jobs.
    auto child = underShell("trap '' HUP INT", withEngine(kEndless, {"profile"}));
    WakeUp quiet;
    Ended said;
    while (!holds(said.err, "scripted CPU")) {
        const auto more = child->wait(quiet, std::chrono::seconds(30));
        said.err += more.err;
        if (more.errClosed) break;
    }
    for (const int ignored : {SIGHUP, SIGINT}) ::kill(static_cast<pid_t>(child->pid()), ignored);
    EXPECT_FALSE(child->waitForEnd(std::chrono::milliseconds(500)));
    EXPECT_EQ(test::listeningSockets(child->pid()), "") << "and nobody can connect to it while it works";
    EXPECT_EQ(list()[0].at("status"), "running");
    ::kill(static_cast<pid_t>(child->pid()), SIGTERM);
    EXPECT_EQ(finish(*child, said).code, 130);
}

TEST_F(Cli, TheLimitsOfAShellAreErrorsInWords) {
    const auto ended = [&](const std::string& limit, Words words) { return finish(*underShell("ulimit " + limit, std::move(words))); };
    const Ended small = ended("-f 0", withEngine(kProfile, {"profile"}));
    EXPECT_TRUE(small.code == 4 && holds(small.err, "cannot be read or written")) << small.code << small.err;
    for (int descriptors = 5; descriptors <= 16; ++descriptors) {
        const Ended few = ended("-n " + std::to_string(descriptors), withEngine(kProfile, {"profile"}));
        EXPECT_TRUE(few.code == 4 ? !few.err.empty() : few.code == 0) << descriptors << ": " << few.code << few.err;
    }
    const Ended few = ended("-n 8", withEngine(kProfile, {"profile"}));
    EXPECT_TRUE(few.code == 4 && holds(few.err, "ulimit")) << few.code << few.err;
}

TEST_F(Cli, WhatNeverEndsIsRefused) {
    for (const char* endless : {"/dev/zero", "/dev/urandom"}) {
        const Ended ended = run({"runs", "import", endless, "--store", store()});
        EXPECT_TRUE(ended.code == 65 && holds(ended.err, std::string(endless) + ": it is no regular file")) << ended.code << ended.err;
    }
    ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
    EXPECT_EQ(run({"runs", "import", file("pipe"), "--store", store()}).code, 65);
    for (const std::string& place : {file("pipe"), std::string("/dev/zero")}) {
        const Ended ended = run({"runs", "list", "--store", place});
        EXPECT_TRUE(ended.code == 4 && holds(ended.err, "is no regular file")) << ended.code << ended.err;
    }
    const Ended text = finish(*underShell("exec < /dev/zero", {"tokenize", "-", "--store", store()}));
    EXPECT_TRUE(text.code == 65 && holds(text.err, "standard input holds more than the 4.00 MiB")) << text.code << text.err;
}

TEST_F(Cli, APathThatIsNoTextIsSaidAndNotTakenForAnother) {
    const std::string folder_ = file("bad\xFF name");
    fs::create_directories(folder_);
    for (const Words& words : {Words{"profile", "--model", folder_}, Words{"inspect", "--model", folder_}, Words{"validate", "--kernel", folder_ + "/k.cpp"}, Words{"profile", "--patch", "rms_norm=\xFF"}}) {
        const Ended ended = play(kProfile, words);
        EXPECT_TRUE(ended.code == 64 && holds(ended.err, "is not UTF-8")) << testing::PrintToString(words) << ended.code << ended.err;
    }
    EXPECT_EQ(run({"runs", "list", "--store", folder_ + "/runs.sqlite"}).code, 0) << "what the engine never hears of may have any name";
}

TEST_F(Cli, KilledInTheMiddleTheStoreHoldsEveryRowAndSaysInterrupted) {
    auto child = start(withEngine(kHello + kStarted + profileRow("A", 1) + "hang\n", {"profile"}));
    ASSERT_TRUE(child);
    for (int i = 0; i < 3000; ++i) {
        const auto store = Store::open(this->store());
        if (store && !(*store)->runs()->empty() && (*store)->run("last")->rows == 1) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(list()[0].at("status"), "running") << "another program sees it at work";
    ::kill(static_cast<pid_t>(child->pid()), SIGKILL);
    finish(*child);
    const json runs = list();
    EXPECT_EQ(runs[0].at("status"), "interrupted");
    EXPECT_EQ(runs[0].at("rows"), 1);
}

TEST_F(Cli, WhatCannotBeWrittenIsSaidBeforeTheWork) {
    ASSERT_TRUE(writeFileAtomically(folder / "file", "x").ok());
    const Ended ended = play(kProfile, {"profile", "--csv", file("file/below.csv")});
    EXPECT_EQ(ended.code, 4);
    EXPECT_TRUE(list().empty()) << "no work was done";
    EXPECT_EQ(play(kProfile, {"profile", "--csv", "/dev/full"}).code, 4);
    EXPECT_EQ(list().size(), 1u) << "the run is kept when its CSV finds no room";
    play(kProfile, {"profile", "--csv", "/proc/none/p.csv"});
    play(kProfile, {"profile", "--json", "/proc/p.json"});
    EXPECT_EQ(list().size(), 1u) << "not even root writes there, and that is found out first";
    const Ended compared = run({"compare", "a", "b", "--output", "/proc/none/c.csv", "--store", store()});
    EXPECT_TRUE(compared.code == 4 && holds(compared.err, "the folder /proc/none cannot be made")) << compared.err;
    ASSERT_TRUE(writeFileAtomically(folder / "text", std::string(5000, 'x')).ok());
    const Ended store = run({"runs", "list", "--store", file("text")});
    EXPECT_EQ(store.code, 4);
    EXPECT_TRUE(holds(store.err, "is not a Kernelscope store")) << store.err;
}

TEST_F(Cli, WhatDoesNotReachStandardOutputIsAFailure) {
    play(kProfile, {"profile"});
    const auto through = [&](const std::string& redirection, const std::string& words) {
        auto child = ChildProcess::start({"/bin/sh", "-c", std::string("'") + KERNELSCOPE_CLI + "' " + words + " --store '" + store() + "' " + redirection});
        EXPECT_TRUE(child.ok());
        return finish(**child);
    };
    for (const char* words : {"runs list", "runs list --csv -", "runs show last", "runs export last", "runs list --help"}) {
        const Ended full = through("> /dev/full", words);
        EXPECT_TRUE(full.code == 4 && holds(full.err, "cannot write to standard output: No space left")) << words << ": " << full.code << full.err;
        const Ended closed = through(">&-", words);
        EXPECT_TRUE(closed.code == 4 && holds(closed.err, "cannot write to standard output: Bad file descriptor")) << words << ": " << closed.code << closed.err;
    }
    EXPECT_EQ(through(">&-", "runs note last text").code, 0) << "nothing was to be written";
    EXPECT_EQ(through(">&- 2>&- <&-", "runs list --quiet").code, 0);
    EXPECT_EQ(list().size(), 1u) << "no closed stream became the store's";
    EXPECT_EQ(through("| true", "runs list").code, 0) << "a reader that goes away is no failure";
}

TEST_F(Cli, AStoreThatCannotBeIsAnErrorAndNoEmptyList) {
    ASSERT_TRUE(writeFileAtomically(folder / "file", "x").ok());
    for (const std::string& place : {file("file/runs.sqlite"), std::string("/proc/none/runs.sqlite"), std::string("/dev/null/runs.sqlite")}) {
        const Ended ended = run({"runs", "list", "--store", place});
        EXPECT_EQ(ended.code, 4) << place << ended.out;
        EXPECT_TRUE(holds(ended.err, place)) << ended.err;
    }
    EXPECT_EQ(run({"runs", "list", "--store", file("new/folder/runs.sqlite")}).code, 0);
    EXPECT_FALSE(fs::exists(folder / "new"));
}

TEST_F(Cli, AnOutputWhoseEndingNamesNoFormatIsRefusedNamingTheFormats) {
    play(kProfile, {"profile"});
    const Ended exported = run({"runs", "export", "last", "--output", file("ex.foo"), "--store", store()});
    EXPECT_EQ(exported.code, 64);
    EXPECT_TRUE(holds(exported.err, ".csv, .json, .md, .html or .trace.json")) << exported.err;
    EXPECT_FALSE(fs::exists(folder / "ex.foo"));
    EXPECT_EQ(run({"runs", "export", "last", "--output", file("ex.foo"), "--format", "csv", "--store", store()}).code, 0);
    EXPECT_EQ(run({"runs", "export", "last", "--output", file("plain"), "--store", store()}).code, 0) << "no ending: CSV";
    const Ended compared = run({"compare", "last", "last", "--output", file("c.trace.json"), "--store", store()});
    EXPECT_TRUE(compared.code == 64 && holds(compared.err, ".csv, .json, .md or .html")) << compared.err;
}

TEST_F(Cli, APromptIsTextOrRefusedInWords) {
    const Ended empty = run({"generate", "--prompt", ""});
    EXPECT_TRUE(empty.code == 64 && holds(empty.err, "the prompt is empty")) << empty.err;
    const Ended broken = run({"generate", "--prompt", "ab\xff" "cd"});
    EXPECT_TRUE(broken.code == 64 && holds(broken.err, "the prompt is not UTF-8 (byte 3 of 5)")) << broken.err;
    EXPECT_EQ(run({"tokenize", "\xc3"}).code, 64);
}

TEST_F(Cli, AProgramThatIsNoEngineIsGivenUpAfterTenSecondsWithAWordBefore) {
    const Ended ended = run({"inspect", "x", "--engine", "/bin/cat"});
    EXPECT_EQ(ended.code, 4);
    EXPECT_TRUE(holds(ended.err, "waiting for the engine to say hello, 10 s at most: /bin/cat") && holds(ended.err, "did not say hello")) << ended.err;
}

TEST_F(Cli, OutputIsTheSameUnderAGermanLocale) {
    play(kProfile, {"profile"});
    const Ended plain = run({"runs", "export", "last", "--store", store()});
    ::setenv("LANG", "de_DE.UTF-8", 1);
    ::setenv("LC_ALL", "de_DE.UTF-8", 1);
    const Ended german = run({"runs", "export", "last", "--store", store()});
    ::unsetenv("LANG");
    ::unsetenv("LC_ALL");
    EXPECT_EQ(german.code, 0);
    EXPECT_EQ(german.out, plain.out);
}

}  // namespace
}  // namespace kernelscope
