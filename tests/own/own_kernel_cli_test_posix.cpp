// The command line with a real engine: the path of somebody who writes a kernel, from the template to the folder taken home.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/client/file.h"
#include "core/client/kernel_template.h"
#include "core/client/process.h"
#include "core/records/csv.h"
#include "core/records/kernel_rows.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Ended {
    int code = -1;
    std::string out, err;
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class OwnKernelCli : public testing::Test {
protected:
    std::string file(const std::string& name) const { return (m_folder / name).string(); }
    void write(const std::string& name, const std::string& text) const { EXPECT_TRUE(writeFileAtomically(m_folder / name, text).ok()); }
    std::string read(const std::string& name) const {
        const auto text = readFile(m_folder / name);
        EXPECT_TRUE(text.ok()) << name;
        return text ? *text : std::string();
    }

    std::unique_ptr<ChildProcess> start(Words words) const {
        // Kernels crash here on purpose: a sanitizer must leave that to the signal.
        const char* sanitizer = std::getenv("ASAN_OPTIONS");
        Words all{"env", "ASAN_OPTIONS=" + std::string(sanitizer ? sanitizer : "") + ":handle_segv=0", "KERNELSCOPE_KERNEL_CACHE=" + file("cache"),
                  "KERNELSCOPE_ENGINE=" KERNELSCOPE_ENGINE_PATH, KERNELSCOPE_CLI};
        all.insert(all.end(), words.begin(), words.end());
        for (const std::string& word : {std::string("--store"), file("runs.sqlite")}) all.push_back(word);
        auto child = ChildProcess::start(all);
        EXPECT_TRUE(child.ok());
        return std::move(*child);
    }
    /// What the child says until `part` has been said, or it ends.
    void readUntil(ChildProcess& child, Ended& soFar, const std::string& part) {
        WakeUp quiet;
        while (!holds(soFar.out + soFar.err, part)) {
            const auto said = child.wait(quiet, std::chrono::seconds(60));
            soFar.out += said.out;
            soFar.err += said.err;
            if ((said.outClosed && said.errClosed) || (said.out.empty() && said.err.empty())) return;
        }
    }
    Ended run(Words words) {
        auto child = start(std::move(words));
        child->closeInput();
        Ended ended;
        WakeUp quiet;
        for (;;) {
            const auto said = child->wait(quiet, std::chrono::seconds(60));
            ended.out += said.out;
            ended.err += said.err;
            if (said.outClosed && said.errClosed) break;
        }
        const auto end = child->waitForEnd(std::chrono::seconds(60));
        ended.code = end ? end->exitCode : -2;
        return ended;
    }
    Words onTiny(Words words) const {
        for (const char* word : {"--model", "qwen2.5-tiny", "--device", "cpu"}) words.emplace_back(word);
        return words;
    }

    TemporaryFolder m_folder;
};

TEST_F(OwnKernelCli, FromTheTemplateToTheGain) {
    const std::string kernel = file("my_norm.cpp");
    const Ended fresh = run({"kernel", "new", "rms_norm", kernel});
    ASSERT_EQ(fresh.code, 0) << fresh.err;
    EXPECT_EQ(run({"kernel", "new", "rms_norm", kernel}).code, 64) << "a file that is there is left alone";
    EXPECT_TRUE(holds(run({"kernel", "new", "rmsnorm", file("x.cpp")}).err, "did you mean"));

    const Ended valid = run(onTiny({"validate", "--kernel", kernel, "--hidden", "112", "--rows", "1,33", "--csv", file("v.csv")}));
    EXPECT_EQ(valid.code, 0) << valid.err << valid.out;
    const auto rows = rowsFromCsv(rowTypeOf<ValidateRow>(), read("v.csv"));
    ASSERT_TRUE(rows.ok());
    EXPECT_FALSE(rows->empty());

    // An edit that is wrong, and one that does not compile.
    std::string text = read("my_norm.cpp");
    const std::string right = text;
    const std::string what = "static_cast<float>(hidden) + eps";
    text.replace(text.find(what), what.size(), "static_cast<float>(hidden + 1) + eps");
    write("my_norm.cpp", text);
    const Ended wrong = run(onTiny({"validate", "--kernel", kernel, "--hidden", "112", "--rows", "1,33"}));
    EXPECT_EQ(wrong.code, 2) << wrong.err << wrong.out;
    EXPECT_TRUE(holds(wrong.out, "my_norm")) << wrong.out;
    write("my_norm.cpp", "int x = ;\n");
    const Ended broken = run(onTiny({"sweep", "--kernel", kernel}));
    EXPECT_EQ(broken.code, 65) << broken.err;
    EXPECT_TRUE(holds(broken.err, kernel + ":1:")) << broken.err;

    write("my_norm.cpp", right);
    const Ended swept = run(onTiny({"sweep", "--kernel", kernel, "--rows", "1,16", "--repeats", "20"}));
    EXPECT_EQ(swept.code, 0) << swept.err;
    EXPECT_TRUE(holds(swept.out, "my_norm") && holds(swept.out, "fused") && holds(swept.out, "native")) << swept.out;
    const Ended bought = run(onTiny({"e2e", "--kernel", kernel, "--patch", "rms_norm=my_norm", "--new-tokens", "3", "--prompt-tokens", "4", "--runs", "2", "--warmup", "0", "--csv", file("e.csv")}));
    EXPECT_EQ(bought.code, 0) << bought.err;
    EXPECT_TRUE(holds(bought.out, "patched")) << bought.out;
    const auto figures = rowsFromCsv(rowTypeOf<EndToEndRow>(), read("e.csv"));
    ASSERT_TRUE(figures.ok());
    ASSERT_EQ(figures->size(), 2u);
    const auto patched = rowFrom<EndToEndRow>((*figures)[1]);
    ASSERT_TRUE(patched);
    EXPECT_EQ(patched->configuration, "patched");
    EXPECT_GT(patched->speedup.value_or(0), 0) << "a gain figure";
    EXPECT_TRUE(patched->tokensMatch.value_or(false)) << "the same text";
}

TEST_F(OwnKernelCli, AKernelThatTakesTheEngineAlongInTheModelIsNamed) {
    const std::string kernel = file("my_norm.cpp");
    const auto misbehaving = [&](const std::string& how) {
        std::string text = *kernelTemplate("rms_norm", kernel);
        const std::string at = "    switch (dtype) {";
        write("my_norm.cpp", text.replace(text.find(at), at.size(), how + "\n" + at));
    };
    misbehaving("    volatile int* volatile nowhere = nullptr; *nowhere = 1;");
    const std::vector<Words> commands{{"e2e", "--new-tokens", "2", "--runs", "1"}, {"generate", "--prompt-ids", "1,2", "--new-tokens", "2"}, {"profile", "--iterations", "2"}, {"context", "--context", "8", "--batch", "1"}};
    for (Words words : commands) {
        const std::string name = words.front();
        for (const std::string& word : {std::string("--kernel"), kernel}) words.push_back(word);
        const Ended ended = run(onTiny(words));
        EXPECT_EQ(ended.code, 3) << name << ended.err;
        EXPECT_TRUE(holds(ended.err, "rms_norm=my_norm crashes at this model's shapes (signal 11, SIGSEGV)")) << name << ended.err;
        EXPECT_TRUE(holds(ended.err, "validate --kernel '" + kernel + "'")) << name << ended.err;
    }
    // Right in validation, and no longer so later: what was measured until then is kept, as failed.
    misbehaving("    static int calls = 0; if (++calls > 2000) { volatile int* volatile nowhere = nullptr; *nowhere = 1; }");
    const Ended late = run(onTiny({"e2e", "--kernel", kernel, "--new-tokens", "20", "--prompt-tokens", "4", "--runs", "50", "--warmup", "0", "--csv", file("late.csv")}));
    EXPECT_EQ(late.code, 3) << late.err;
    EXPECT_TRUE(holds(late.err, "rms_norm=my_norm crashes at this model's shapes")) << late.err;
    const auto rows = rowsFromCsv(rowTypeOf<EndToEndRow>(), read("late.csv"));
    ASSERT_TRUE(rows.ok() && !rows->empty());
    for (const Values& values : *rows) EXPECT_EQ(rowFrom<EndToEndRow>(values)->status, "failed");

    misbehaving("    throw 1;");
    EXPECT_EQ(run(onTiny({"e2e", "--kernel", kernel, "--new-tokens", "2", "--runs", "1"})).code, 3);
    write("my_norm.cpp", *kernelTemplate("rms_norm", kernel) + "\nstatic const int atLoad = [] { volatile int* volatile nowhere = nullptr; return *nowhere; }();\n");
    const Ended loading = run(onTiny({"validate", "--kernel", kernel}));
    EXPECT_EQ(loading.code, 3) << loading.err;
    EXPECT_TRUE(holds(loading.err, "crashes when it is loaded")) << loading.err;
}

TEST_F(OwnKernelCli, ALongLogOfErrorsIsShortAndKeptWhole) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "int a" + std::to_string(i) + " = nonsense" + std::to_string(i) + ";\n";
    write("my_norm.cpp", text);
    const Ended broken = run(onTiny({"validate", "--kernel", file("my_norm.cpp")}));
    EXPECT_EQ(broken.code, 65);
    EXPECT_TRUE(holds(broken.err, file("my_norm.cpp") + ":10:") && !holds(broken.err, "my_norm.cpp:11:")) << broken.err;
    const std::string mark = " more lines, in ";
    ASSERT_TRUE(holds(broken.err, mark)) << broken.err;
    const std::size_t at = broken.err.find(mark) + mark.size();
    const auto log = readFile(broken.err.substr(at, broken.err.find('\n', at) - at));
    ASSERT_TRUE(log.ok()) << log.error().message;
    EXPECT_TRUE(holds(*log, "my_norm.cpp:40:"));
}

TEST_F(OwnKernelCli, AWatchSaysWhatEverySaveChanged) {
    const std::string kernel = file("my_gate.cpp");
    const std::string right = "#include \"tiles.h\"\n" + *kernelTemplate("silu_mul", kernel);
    write("tiles.h", "// nothing yet\n");
    write("my_gate.cpp", right);
    auto child = start(onTiny({"validate", "--watch", "--kernel", kernel, "--hidden", "112", "--rows", "1", "--dtypes", "float32", "--no-progress"}));
    Ended said;
    readUntil(*child, said, "waiting for the next save");
    EXPECT_TRUE(holds(said.out, "version 1: compiles, right in")) << said.out << said.err;

    write("my_gate.cpp", "#error not yet\n" + right);
    readUntil(*child, said, "version 2: ");
    EXPECT_TRUE(holds(said.err, kernel + ":1:")) << said.err;
    readUntil(*child, said, "against version 1: does not compile any more");

    std::string wrong = right;
    const std::string what = "1.0f + std::exp(-x)";
    wrong.replace(wrong.find(what), what.size(), "2.0f + std::exp(-x)");
    // As some editors save: another file takes the place of the first.
    write("draft", wrong);
    fs::rename(m_folder / "draft", kernel);
    readUntil(*child, said, "against version 2: compiles again");
    write("my_gate.cpp", right);
    readUntil(*child, said, "against version 3: right now, wrong before");
    EXPECT_TRUE(holds(said.out, "against version 3: right now, wrong before")) << said.out << said.err;
    // What it includes is a part of it.
    write("tiles.h", "#error a broken header\n");
    readUntil(*child, said, "version 5: ");
    readUntil(*child, said, "against version 4: does not compile any more");
    EXPECT_TRUE(holds(said.err, file("tiles.h") + ":1:")) << said.err;
    ::kill(static_cast<pid_t>(child->pid()), SIGINT);
    const auto end = child->waitForEnd(std::chrono::seconds(30));
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exitCode, 130);
    EXPECT_EQ(run({"validate", "--watch"}).code, 64) << "there is nothing to watch";
}

TEST_F(OwnKernelCli, WhatIsProvenIsTakenHomeAndWorksThere) {
    const std::string kernel = file("my_norm.cpp"), home = file("home");
    write("tiles.h", "#pragma once\n");
    write("my_norm.cpp", "#include \"tiles.h\"\n" + *kernelTemplate("rms_norm", kernel));
    const Ended early = run({"kernel", "export", kernel, "--out", home});
    EXPECT_EQ(early.code, 65);
    EXPECT_TRUE(holds(early.err, "has not passed validation")) << early.err;
    EXPECT_FALSE(fs::exists(home));
    ASSERT_EQ(run(onTiny({"validate", "--kernel", kernel, "--hidden", "112", "--rows", "1,7"})).code, 0);
    const Ended taken = run({"kernel", "export", kernel, "--out", home});
    ASSERT_EQ(taken.code, 0) << taken.err;
    for (const char* name : {"my_norm.cpp", "kernelscope/kernels.h", "my_norm_torch.py", "tiles.h", "README.md", "report.md", "report.csv"}) EXPECT_TRUE(fs::exists(fs::path(home) / name)) << name;

    write("tiles.h", "#pragma once\n// edited\n");
    EXPECT_EQ(run({"kernel", "export", kernel, "--out", file("elsewhere")}).code, 65) << "another version is not proven by this one's run";

    const std::string program =
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "try:\n    import torch\nexcept ImportError:\n    print('no torch'); sys.exit(0)\n"
        "import my_norm_torch as mine\n"
        "for dtype in (torch.float32, torch.bfloat16):\n"
        "    x, w = torch.randn(3, 5, 112, dtype=torch.float32).to(dtype), torch.ones(112, dtype=dtype)\n"
        "    wide = x.float(); native = w * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(dtype)\n"
        "    assert torch.allclose(mine.rms_norm(x, w, 1e-6).float(), native.float(), rtol=1e-2, atol=1e-5)\n"
        "    assert torch.equal(torch.ops.my_norm.rms_norm(x, w, 1e-6), mine.rms_norm(x, w, 1e-6))\n"
        "print('works')\n";
    write("try.py", program);
    auto child = ChildProcess::start({KERNELSCOPE_PYTHON, file("try.py"), home});
    ASSERT_TRUE(child.ok());
    Ended said;
    WakeUp quiet;
    for (;;) {
        const auto part = (*child)->wait(quiet, std::chrono::seconds(60));
        said.out += part.out;
        said.err += part.err;
        if (part.outClosed && part.errClosed) break;
    }
    if (holds(said.out, "no torch")) GTEST_SKIP() << "the Python beside this libtorch has no torch module";
    EXPECT_TRUE(holds(said.out, "works")) << said.out << said.err;
}

TEST_F(OwnKernelCli, ATuneThatMakesNoSenseIsRefusedBeforeTheGpuIsLookedFor) { EXPECT_EQ(run({"tune", "--op", "nonsense"}).code, 64); }

TEST_F(OwnKernelCli, AWrongKernelIsNotTakenHome) {
    std::string text = *kernelTemplate("silu_mul", "x.cpp");
    const std::string what = "1.0f + std::exp(-x)";
    text.replace(text.find(what), what.size(), "2.0f + std::exp(-x)");
    write("my_gate.cpp", text);
    ASSERT_EQ(run(onTiny({"validate", "--kernel", file("my_gate.cpp"), "--hidden", "112", "--rows", "1", "--dtypes", "float32"})).code, 2);
    const Ended refused = run({"kernel", "export", file("my_gate.cpp"), "--out", file("home")});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(holds(refused.err, "is wrong")) << refused.err;
}

}  // namespace
}  // namespace kernelscope::test
