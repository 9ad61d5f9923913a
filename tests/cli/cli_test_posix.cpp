// The command line as a script sees it: exit codes, what stands on which stream, files. The engine is scripted.

#include <sys/stat.h>

#include "core/records/csv.h"
#include "tests/cli/cli_program.h"

namespace kernelscope {
namespace {

TEST_F(Cli, VersionIsOneLineAndHelpNamesEveryCommand) {
    const Ended version = run({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_EQ(version.out.rfind("kernelscope-cli ", 0), 0u);
    EXPECT_EQ(version.out.find('\n'), version.out.size() - 1);
    const Ended help = run({"--help"});
    EXPECT_EQ(help.code, 0);
    for (const char* command : {"profile", "validate", "sweep", "generate", "e2e", "context", "compare", "runs", "inspect", "tokenize", "tune", "doctor"}) {
        EXPECT_TRUE(holds(help.out, command));
        const Ended own = run({command, "--help"});
        EXPECT_EQ(own.code, 0) << command;
        for (const char* option : {"--model", "--device", "--dtype", "--seed", "--store", "--csv", "--json", "--engine", "--quiet", "--no-progress"})
            EXPECT_TRUE(holds(own.out, option)) << command << " " << option;
    }
    EXPECT_TRUE(holds(run({"runs", "list", "--help"}).out, "kernelscope-cli runs --help")) << "where the options are that go there too";
}

TEST_F(Cli, NoFileCanBeWrittenByEverybodyWhateverTheUmask) {
    const Words command = withEngine(kProfile, {"profile", "--csv", file("made/p.csv"), "--json", file("made/p.json")});
    std::string line = "umask 0; exec " KERNELSCOPE_CLI;
    for (const std::string& word : command) line += " \"" + word + "\"";
    auto child = ChildProcess::start({"/bin/sh", "-c", line});
    ASSERT_TRUE(child.ok());
    ASSERT_EQ(finish(**child).code, 0);
    int seen = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("script")) continue;  // the scripted engine's own notes
        ++seen;
        EXPECT_EQ(entry.status().permissions() & fs::perms::others_write, fs::perms::none) << entry.path();
    }
    EXPECT_GE(seen, 4) << "a store, a folder and two documents";
}

TEST_F(Cli, ATypoSuggestsTheNearestWord) {
    const Ended option = run({"profile", "--iteratons", "5"});
    EXPECT_EQ(option.code, 64);
    EXPECT_TRUE(holds(option.err, "there is no option --iteratons") && holds(option.err, "did you mean --iterations?")) << option.err;
    const Ended command = run({"porfile"});
    EXPECT_EQ(command.code, 64);
    EXPECT_TRUE(holds(command.err, "did you mean profile?")) << command.err;
    EXPECT_TRUE(holds(run({"runs", "lsit"}).err, "did you mean list?"));
    EXPECT_TRUE(option.out.empty() && command.out.empty());
}

TEST_F(Cli, UsageErrorsExit64AndStartNoEngine) {
    for (const Words& words : {Words{}, Words{"profile", "--level", "molecule"}, Words{"profile", "--batch", "0"}, Words{"profile", "--batch", "many"}, Words{"profile", "--seed", "99999999999999999999"}, Words{"profile", "--seed", "1e3"}, Words{"profile", "--csv", "-", "--json", "-"},
                               Words{"generate"}, Words{"generate", "--prompt", "a", "--prompt-ids", "1"}, Words{"generate", "--prompt-ids", "1,,2"}, Words{"generate", "--prompt-ids", "-5"},
                               Words{"generate", "--raw", "--prompt-ids", "1"}, Words{"profile", "--dtype", "float8"}, Words{"profile", "stray"}, Words{"runs"}, Words{"runs", "show"}, Words{"compare", "a"},
                               Words{"profile", "--engine", "'open"}, Words{"profile", "--engine", ""}}) {
        if (words == Words{"profile", "--engine", ""}) continue;  // empty means the default
        const Ended ended = run(words);
        EXPECT_EQ(ended.code, 64) << testing::PrintToString(words) << ended.err;
        EXPECT_TRUE(ended.out.empty());
        EXPECT_FALSE(ended.err.empty());
    }
}

TEST_F(Cli, AnOptionThatTakesANumberTakesNothingElse) {
    for (const auto& [command, option] : {std::pair{"profile", "--iterations"}, {"profile", "--seed"}, {"validate", "--deadline"}, {"sweep", "--budget"}, {"generate", "--temperature"},
                                          {"generate", "--top-p"}, {"compare", "--fail-on-regression"}, {"e2e", "--runs"}, {"context", "--warmup"}})
        for (const char* value : {"nan", "-nan", "1e400", "-1e400", "0x10", "1_0", "1,5", " 3", "+5", "٣", "18446744073709551616000"}) {
            const Ended ended = run({command, std::string(option) + "=" + value});
            EXPECT_TRUE(ended.code == 64 && holds(ended.err, std::string(option) + ": takes a ") && holds(ended.err, std::string("not '") + value + "'"))
                << command << " " << option << " " << value << ": " << ended.code << ended.err;
        }
    const Ended fraction = run({"profile", "--batch", "1.5"});
    EXPECT_TRUE(holds(fraction.err, "--batch: takes a whole number from 1 to 4096, not '1.5'")) << fraction.err;
    const Ended none = run({"profile", "--batch="});
    EXPECT_TRUE(none.code == 64 && holds(none.err, "--batch needs a value")) << none.err;
    play(kProfile, {"profile", "--iterations", "010"});
    EXPECT_TRUE(holds(read("script 0.received"), "\"iterations\":10,")) << "no digit makes a number octal";
}

TEST_F(Cli, AnEnginesWordsCannotCommandTheTerminal) {
    const Ended ended = play("say \x1b]0;title\x07 and \xC2\x9B" "31m\n" + kHello + "await job.start\nrefuse 4 no \x1b[2Jdevice\n", {"profile"});
    EXPECT_EQ(ended.code, 4);
    EXPECT_TRUE(holds(ended.err, "no ?[2Jdevice")) << ended.err;
    EXPECT_TRUE(holds(ended.err, "engine: ?]0;title? and ?31m")) << ended.err;
    for (const char c : ended.err) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
    const Ended long_word = run({"runs", "show", std::string(100'000, 'x'), "--store", store()});
    EXPECT_EQ(long_word.code, 65);
    EXPECT_LT(long_word.err.size(), 20'000U);
}

TEST_F(Cli, AProfileShowsATableAndLeavesOneRunAndItsFiles) {
    const Ended ended = play(kProfile, {"profile", "--model", "qwen2.5-tiny", "--csv", file("new/folder/p.csv"), "--json", file("p.json")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(holds(ended.out, "Attention") && holds(ended.out, "300 µs")) << ended.out;
    EXPECT_TRUE(holds(ended.err, "Qwen2.5-tiny (random weights) on scripted CPU, float32")) << ended.err;
    const auto rows = rowsFromCsv(rowTypeOf<ProfileRow>(), read("new/folder/p.csv"));
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(rows->size(), 2u);
    const json document = json::parse(read("p.json"));
    EXPECT_EQ(document.at("rows").size(), 2u);
    EXPECT_EQ(document.at("run").at("status"), "done");
    EXPECT_EQ(document.at("run").at("command").get<std::string>().rfind("kernelscope-cli profile --model qwen2.5-tiny --csv ", 0), 0u);
    EXPECT_TRUE(holds(document.at("run").at("command"), "'\\''")) << "words with quotes are quoted";
    const json runs = list();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].at("rows"), 2);
    EXPECT_EQ(runs[0].at("headline"), "all well");
}

TEST_F(Cli, ADocumentOnStandardOutputStandsThereAlone) {
    const Ended csv = play(kProfile, {"profile", "--csv", "-"});
    EXPECT_EQ(csv.code, 0);
    EXPECT_EQ(rowsFromCsv(rowTypeOf<ProfileRow>(), csv.out)->size(), 2u);
    const Ended both = play(kProfile, {"profile", "--json", "-", "--csv", file("p.csv")});
    EXPECT_EQ(json::parse(both.out).at("kind"), "profile");
    EXPECT_EQ(read("p.csv"), csv.out);
}

TEST_F(Cli, QuietSaysNothingAndProgressIsOnlyForTerminals) {
    const std::string chatty = kHello + kStarted + R"(send job.progress {"phase": "Decode passes", "done": 3, "total": 50, "seconds_left": 3})" "\n" + profileRow("A", 1) + kDone;
    const Ended plain = play(chatty, {"profile"});
    EXPECT_FALSE(holds(plain.err, "Decode passes")) << "standard error is no terminal here";
    const Ended forced = play(chatty, {"profile", "--progress"});
    EXPECT_TRUE(holds(forced.err, "Decode passes 3/50, 3 s left\n")) << forced.err;
    EXPECT_FALSE(holds(play(chatty, {"profile", "--progress", "--no-progress"}).err, "Decode passes"));
    const Ended quiet = play(chatty, {"profile", "--quiet"});
    EXPECT_EQ(quiet.out + quiet.err, "");
    EXPECT_EQ(quiet.code, 0);
}

TEST_F(Cli, SettingsTravelAsTheyWereGiven) {
    play(kProfile, {"profile", "--phase", "both", "--prompt-tokens", "7", "--batch", "2", "--iterations", "9", "--warmup", "0", "--level", "leaf", "--mode", "graph", "--patch", "rms_norm=fast",
                    "--seed", "5", "--device", "cuda:1", "--dtype", "bfloat16", "--model", "a folder/ä"});
    const auto received = read("script 0.received");
    const auto request = jobRequestFromJson(parseLine(received.substr(received.find('\n') + 1, received.find('\n', received.find('\n') + 1) - received.find('\n') - 1))->params);
    ASSERT_TRUE(request.ok());
    EXPECT_EQ(request->settings, json({{"phase", "both"}, {"prompt_tokens", 7}, {"batch", 2}, {"iterations", 9}, {"warmup", 0}, {"level", "leaf"}, {"mode", "graph"}, {"patch", "rms_norm=fast"}}));
    EXPECT_EQ(request->seed, 5);
    EXPECT_EQ(request->device, "cuda:1");
    EXPECT_EQ(request->dtype, "bfloat16");
    EXPECT_EQ(request->model, "a folder/ä");
}

TEST_F(Cli, GenerateStreamsTextAndPutsItsFiguresBesideTheRun) {
    const auto token = [](int position, const std::string& text) {
        return R"(send job.row {"type": "generate", "key": ")" + std::to_string(position) + R"(", "row": {"position": )" + std::to_string(position) + R"(, "token_id": 5, "text": ")" + text +
               R"(", "elapsed_ms": 1.5}})" "\n";
    };
    const std::string script = kHello + kStarted + token(0, "Hello") + token(1, " world") +
                               R"(send job.finished {"status": "done", "result": {"token_ids": [5, 5], "text": "Hello world", "finish_reason": "length", "ttft_ms": 4.5, "total_ms": 9}})" "\n";
    const Ended text = play(script, {"generate", "--prompt", "Hi", "--new-tokens", "2"});
    EXPECT_EQ(text.code, 0);
    EXPECT_EQ(text.out, "Hello world\n");
    EXPECT_TRUE(holds(text.err, "first token 4.50 ms") && holds(text.err, "finish: length")) << text.err;
    const json document = json::parse(play(script, {"generate", "--prompt-ids", "1-3", "--json", "-"}).out);
    EXPECT_EQ(document.at("token_ids"), json({5, 5}));
    EXPECT_FALSE(document.contains("rows"));
    EXPECT_TRUE(holds(read("script 1.received"), R"("prompt_ids":[1,2,3])"));
}

TEST_F(Cli, TheEnginesErrorsBecomeExitCodes) {
    for (const int code : {4, 64, 65}) {
        const Ended ended = play(kHello + "await job.start\nrefuse " + std::to_string(code) + " it does not work\n", {"profile"});
        EXPECT_EQ(ended.code, code);
        EXPECT_TRUE(holds(ended.err, "it does not work") && holds(ended.err, "try another")) << ended.err;
    }
    EXPECT_TRUE(list().empty()) << "what never started leaves no run";
    EXPECT_EQ(run({"profile", "--engine", "/nowhere/engine", "--store", store()}).code, 4);
    EXPECT_EQ(play("exit 1\n", {"profile"}).code, 4);
    EXPECT_EQ(play("await engine.hello\nhello 77\n", {"profile"}).code, 4);
}

TEST_F(Cli, RunsAreListedShownExportedChangedAndDeleted) {
    const Ended none = run({"runs", "list", "--store", store()});
    EXPECT_EQ(none.code, 0);
    EXPECT_FALSE(fs::exists(store())) << "looking makes no store";
    EXPECT_EQ(run({"runs", "show", "last", "--store", store()}).code, 65);

    play(kProfile, {"profile"});
    const auto runs = [&](Words words) {
        words.insert(words.begin(), "runs");
        words.push_back("--store");
        words.push_back(store());
        return run(words);
    };
    EXPECT_EQ(runs({"rename", "last", "before"}).code, 0);
    EXPECT_EQ(runs({"tag", "before", "nightly", "slow"}).code, 0);
    EXPECT_EQ(runs({"note", "before", "a note"}).code, 0);
    EXPECT_EQ(runs({"pin", "before"}).code, 0);
    const Ended listed = runs({"list", "--csv", "-"});
    EXPECT_EQ(listed.out.substr(0, listed.out.find('\r')), "id,when,kind,model,weights,device,dtype,status,rows,headline,tags,note,pinned");
    EXPECT_TRUE(holds(listed.out, "before,") && holds(listed.out, "\"nightly,slow\",a note,true")) << listed.out;
    EXPECT_TRUE(holds(runs({"show", "bef"}).out, "Attention"));
    EXPECT_EQ(json::parse(runs({"show", "before", "--json", "-"}).out).at("rows").size(), 2u);
    for (const char* format : {"csv", "json", "markdown", "html"}) EXPECT_TRUE(holds(runs({"export", "before", "--format", format}).out, "Attention")) << format;
    EXPECT_EQ(runs({"export", "before", "--format", "trace"}).code, 65) << "this one kept no timeline";
    EXPECT_EQ(runs({"export", "before", "--format", "pdf"}).code, 64);
    EXPECT_EQ(runs({"export", "before", "--format", "html", "--output", folder.path().string()}).code, 0);
    EXPECT_TRUE(fs::exists(folder / "profile-before.html"));
    EXPECT_EQ(runs({"export", "before", "--output", file("full.json"), "--samples"}).code, 0);

    EXPECT_EQ(runs({"delete", "before"}).code, 0);
    EXPECT_TRUE(list().empty());
    EXPECT_EQ(runs({"show", "before"}).code, 65);
    const Ended imported = runs({"import", file("full.json")});
    EXPECT_EQ(imported.code, 0) << imported.err;
    EXPECT_EQ(list().size(), 1u);
    EXPECT_EQ(runs({"restore", "before"}).code, 0);
    EXPECT_EQ(list().size(), 2u);
    EXPECT_EQ(runs({"import", store()}).code, 65) << "a store is no exported run";
}

TEST_F(Cli, ASavedProfileIsShownWithTheSentencesItEndedWith) {
    const std::string end = R"(send job.finished {"status": "done", "headline": "", "result": {"limits": {"copy_gb_per_s": 1, "matmul_tflops": 1}, )"
                            R"("work": {"decode": [{"type": "Attention", "bytes": 100000, "flops": 0}]}}})" "\n";
    const Ended live = play(kHello + kStarted + profileRow("Attention", 300) + profileRow("total", 1000) + end, {"profile"});
    ASSERT_EQ(live.code, 0) << live.err;
    EXPECT_TRUE(holds(live.out, "latency-bound (its bytes take 100 µs at the copy rate)")) << live.out;
    const Ended saved = run({"runs", "show", "last", "--store", store()});
    EXPECT_TRUE(holds(saved.out, live.out)) << saved.out << "\nlive:\n" << live.out;
}

TEST_F(Cli, TheTimeAModuleSpendsOutsideTheModulesInItHasAColumn) {
    const std::string leaf = R"(send job.row {"type": "profile", "key": "leaf", "row": {"phase": "decode", "level": "leaf", "name": "model.layers.0.self_attn", "type": "Attention", "calls": 1, )"
                             R"("self_span_us": 123}})" "\n";
    const Ended ended = play(kHello + kStarted + leaf + profileRow("total", 1000) + kDone, {"profile", "--level", "leaf"});
    EXPECT_TRUE(holds(ended.out, "self") && holds(ended.out, "123 µs")) << ended.out;
}

TEST_F(Cli, CompareJudgesForScripts) {
    const auto measured = [](double total) {
        std::string script = kHello + kStarted + profileRow("total", total);
        for (int pass = 0; pass < 20; ++pass)
            script += R"(send job.row {"type": "sample", "key": ")" + std::to_string(pass) + R"(", "row": {"row_key": "total", "metric": "span_us", "pass": )" + std::to_string(pass) + R"(, "value": )" +
                      std::to_string(total * (1 + 0.0005 * (pass % 5))) + "}}\n";
        return script + kDone;
    };
    play(measured(1000), {"profile"});
    run({"runs", "rename", "last", "base", "--store", store()});
    play(measured(1200), {"profile"});
    run({"runs", "rename", "last", "slow", "--store", store()});
    const auto compare = [&](Words words) {
        words.insert(words.begin(), "compare");
        words.push_back("--store");
        words.push_back(store());
        return run(words);
    };
    const Ended table = compare({"base", "slow"});
    EXPECT_EQ(table.code, 0);
    EXPECT_TRUE(holds(table.out, "slower") && holds(table.out, "0.83x")) << table.out;
    EXPECT_TRUE(holds(table.err, "1 row: 1 slower")) << table.err;
    EXPECT_EQ(compare({"base", "slow", "--fail-on-regression", "5"}).code, 1);
    EXPECT_EQ(compare({"base", "slow", "--fail-on-regression", "25"}).code, 0);
    EXPECT_EQ(compare({"slow", "base", "--fail-on-regression", "5"}).code, 0);
    const Ended csv = compare({"base", "slow", "--csv", "-"});
    EXPECT_EQ(csv.out.substr(0, csv.out.find('\r')), "kind,key,metric,unit,baseline,candidate,candidate_run,ratio,ratio_ci_low,ratio_ci_high,verdict,reason");
    EXPECT_EQ(compare({"base", "nobody"}).code, 65);
    EXPECT_EQ(compare({"base", "slow", "--output", file("new/c.html")}).code, 0);
    EXPECT_TRUE(holds(read("new/c.html"), "<!DOCTYPE html>") && holds(read("new/c.html"), "slower"));
    EXPECT_TRUE(holds(compare({"base", "slow", "--format", "markdown", "--output", "-"}).out, "| decode\\|type\\|total |"));
    EXPECT_EQ(json::parse(compare({"base", "slow", "--json", "-"}).out).at("runs").size(), 2u);
}

TEST_F(Cli, InspectShowsWhatTheEngineFound) {
    const std::string script = kHello + "await model.inspect\n" R"(answer {"architecture": "Qwen2ForCausalLM", "parameters": 494032768, "bytes": 988065536, "tied": true, "files": ["a", "b"], "tensors": [1, 2, 3]})" "\n";
    const Ended table = play(script, {"inspect", "qwen2.5-0.5b"});
    EXPECT_EQ(table.code, 0);
    EXPECT_TRUE(holds(table.out, "494,032,768") && holds(table.out, "942 MiB")) << table.out;
    const json document = json::parse(play(script, {"inspect", "--model", "x", "--json", "-"}).out);
    EXPECT_EQ(document.at("parameters"), 494032768);
    EXPECT_EQ(document.at("kind"), "inspect");
    EXPECT_EQ(document.at("run").at("model"), "x");
    EXPECT_EQ(play(kHello + "await model.inspect\nrefuse 65 there is no model 'x'\n", {"inspect", "x"}).code, 65);
    EXPECT_FALSE(fs::exists(store())) << "inspecting leaves no run";
}

std::string validateRow(const std::string& variant, int rows, const std::string& status) {
    const std::string key = "rms_norm|" + variant + "|float16|896|" + std::to_string(rows) + "|basic";
    return R"(send job.row {"type": "validate", "key": ")" + key + R"(", "row": {"op": "rms_norm", "variant": ")" + variant + R"(", "dtype": "float16", "hidden": 896, "rows": )" +
           std::to_string(rows) + R"(, "case": "basic", "status": ")" + status + R"(", "max_ulp": 2, "reason": "because"}})" "\n";
}

TEST_F(Cli, ValidateExits2ForWrongResultsAnd3ForCrashes) {
    const auto codeOf = [&](const std::string& rows) { return play(kHello + kStarted + rows + kDone, {"validate"}).code; };
    EXPECT_EQ(codeOf(validateRow("native", 1, "ok") + validateRow("fast", 1, "other_order") + validateRow("odd", 1, "refused") + validateRow("cuda", 1, "skipped")), 0);
    EXPECT_EQ(codeOf(validateRow("native", 1, "ok") + validateRow("fast", 1, "wrong") + validateRow("fast", 2, "crashed")), 2);
    EXPECT_EQ(codeOf(validateRow("fast", 1, "hung")), 3);
    const Ended ended = play(kHello + kStarted + cellProgress(kCell) + "say misaligned address\ndie SIGSEGV\nrestart\n" + kHello + kStarted + validateRow("native", 1, "ok") + kDone,
                             {"validate", "--op", "rms_norm", "--variant", "fast,native", "--hidden", "896,3584", "--rows", "1-4", "--dtypes", "float16", "--cases", "all", "--deadline", "7"});
    EXPECT_EQ(ended.code, 3);
    EXPECT_TRUE(holds(ended.out, "1 crashed") && holds(ended.out, "misaligned address")) << ended.out;
    const std::string received = read("script 3.received");
    for (const char* part : {R"("op":"rms_norm")", R"("variant":"fast,native")", R"("hidden":[896,3584])", R"("rows":[1,2,3,4])", R"("dtypes":"float16")", R"("cases":"all")", R"("deadline":7.0)"})
        EXPECT_TRUE(holds(received, part)) << part << received;
    EXPECT_EQ(run({"validate", "--rows", "4-1"}).code, 64);
}

TEST_F(Cli, SweepResumesWithTheRunsOwnSettings) {
    const auto row = [](int rows) {
        return R"(send job.row {"type": "sweep", "key": "rms_norm|fast|float16|896|)" + std::to_string(rows) + R"(|cold", "row": {"op": "rms_norm", "variant": "fast", "dtype": "float16", "hidden": 896, "rows": )" +
               std::to_string(rows) + R"(, "cache": "cold", "status": "ok", "device_us": 8.5, "speedup": 1.25, "verdict": "faster"}})" "\n";
    };
    const Ended first = play(kHello + kStarted + row(1) + "exit 3\n", {"sweep", "--model", "qwen2.5-tiny", "--device", "cpu"});
    EXPECT_EQ(first.code, 4) << "an engine that dies at once every time ends the job";
    const Ended second = play(kHello + kStarted + row(8) + kDone, {"sweep", "--resume", "last", "--csv", "-"});
    EXPECT_EQ(second.code, 0) << second.err;
    const auto rows = rowsFromCsv(rowTypeOf<SweepRow>(), second.out);
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(rows->size(), 2u) << "all rows, old and new";
    const std::string received = read("script 1.received");
    for (const char* part : {R"("skip":["rms_norm|fast|float16|896|1|cold"])", R"("model":"qwen2.5-tiny")", R"("device":"cpu")", R"("settings":{"iterations":3})"})
        EXPECT_TRUE(holds(received, part)) << part << received;
    EXPECT_EQ(list().size(), 1u) << "still one run";
    // What would be ignored is refused, by name.
    const Ended both = run({"sweep", "--resume", "last", "--rows", "1,8", "--cache", "warm", "--model", "qwen2.5-0.5b"});
    EXPECT_EQ(both.code, 64);
    EXPECT_TRUE(holds(both.err, "--rows, --cache, --model would be ignored") && holds(both.err, "--devices, --store, --csv")) << both.err;
    for (const char* option : {"--device", "--dtype", "--kernel", "--op", "--budget"}) EXPECT_EQ(run({"sweep", "--resume", "last", option, "1"}).code, 64) << option;
    EXPECT_EQ(list()[0].at("status"), "done");
    EXPECT_EQ(play(kHello, {"sweep", "--resume", "nobody"}).code, 65);
}

TEST_F(Cli, EndToEndShowsBothConfigurations) {
    const auto row = [](const std::string& configuration, double total) {
        return R"(send job.row {"type": "e2e", "key": ")" + configuration + R"(|eager", "row": {"configuration": ")" + configuration + R"(", "mode": "eager", "status": "ok", "total_ms": )" + std::to_string(total) +
               R"(, "tokens_match": true}})" "\n";
    };
    const Ended ended = play(kHello + kStarted + row("native", 300) + row("patched", 250) + kDone, {"e2e", "--runs", "3"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(holds(ended.out, "patched") && holds(ended.out, "250 ms") && holds(ended.out, "the same")) << ended.out;
    EXPECT_TRUE(holds(read("script 0.received"), R"("runs":3)"));
}

TEST_F(Cli, TokenizeGoesBothWays) {
    const std::string script = kHello + "await model.tokenize\n" R"(answer {"ids": [1, 2], "tokens": ["a", " b\n"], "text": "a b\n"})" "\n";
    const Ended table = play(script, {"tokenize", "a b"});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_TRUE(holds(table.out, R"(" b\n")")) << table.out;
    EXPECT_EQ(json::parse(play(script, {"tokenize", "x", "--chat", "--json", "-"}).out).at("ids"), json({1, 2}));
    EXPECT_TRUE(holds(read("script 1.received"), R"("chat":true)"));
    EXPECT_EQ(play(script, {"tokenize", "--decode", "1,2"}).out, "a b\n\n");
    EXPECT_TRUE(holds(read("script 2.received"), R"("ids":[1,2])"));
    auto child = start(withEngine(script, {"tokenize", "-"}));
    ASSERT_TRUE(child);
    child->write("from the pipe\n");
    EXPECT_EQ(finish(*child).code, 0);
    EXPECT_TRUE(holds(read("script 3.received"), R"("text":"from the pipe\n")"));
    EXPECT_EQ(run({"tokenize"}).code, 64);
    EXPECT_EQ(run({"tokenize", "a", "--decode", "1"}).code, 64);
}

TEST_F(Cli, DoctorSaysWhatWorksAndWhatToDo) {
    const std::string script = kHello + "await engine.doctor\nrefuse 64 no such method\n" R"(send telemetry {"device": "cpu", "available": false, "reason": "NVML is not installed"})" "\n";
    const Ended ended = play(script, {"doctor"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_TRUE(holds(ended.out, "engine: ok") && holds(ended.out, "NVML is not installed") && holds(ended.out, "device cuda: unavailable") && holds(ended.out, "store: ok")) << ended.out;
    const Ended csv = play(script, {"doctor", "--csv", "-"});
    EXPECT_EQ(csv.out.substr(0, csv.out.find('\r')), "check,status,finding,why,fix");
    const Ended broken = run({"doctor", "--engine", "/nowhere/engine", "--store", store()});
    EXPECT_EQ(broken.code, 4);
    EXPECT_TRUE(holds(broken.out, "engine: failed")) << broken.out;
}

}  // namespace
}  // namespace kernelscope
