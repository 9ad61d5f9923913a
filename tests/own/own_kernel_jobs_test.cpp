// A kernel of one's own through the jobs of a real engine: template, edit, wrong version caught, right version measured, its gain in
// generate(); and what happens when it does not compile, crashes, hangs or writes where it must not.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "core/client/kernel_versions.h"
#include "tests/own/own_kernel_fixture.h"

namespace kernelscope::test {
namespace {

class OwnKernelTemplate : public OwnKernel, public testing::WithParamInterface<std::string> {};

TEST_P(OwnKernelTemplate, PassesEveryCaseOfValidation) {
    const RunHeader header = validate(fromTemplate(GetParam(), "my_kernel.cpp"));
    ASSERT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    int ok = 0;
    for (const ValidateRow& row : rowsOf<ValidateRow>(header)) {
        EXPECT_EQ(row.op, GetParam());
        EXPECT_EQ(row.variant, "my_kernel");
        if (row.status == "ok") ++ok;
        else EXPECT_TRUE(row.status == "skipped" || row.caseName == "last_stride") << row.status << " " << row.dtype << " " << row.rows << " " << row.caseName << ": " << row.reason;
    }
    EXPECT_GT(ok, 60);
    EXPECT_EQ(header.environment.at("own_kernel").at("log"), "") << "no warnings";
    EXPECT_EQ(header.environment.at("own_kernel").at("version"), header.settings.at("kernel_version"));
}

INSTANTIATE_TEST_SUITE_P(EachOperator, OwnKernelTemplate, testing::Values("rms_norm", "add_rms_norm", "silu_mul", "rope"), [](const auto& info) { return info.param; });

TEST_F(OwnKernel, AWrongVersionIsCaughtWithTheCellAndTheReason) {
    const RunHeader header = validate(fromTemplate("rms_norm", "my_norm.cpp", "static_cast<float>(hidden) + eps", "static_cast<float>(hidden)"), {{"cases", "standard"}});
    ASSERT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    EXPECT_GT(statusesOf(header)["wrong"], 0);
    const KernelVersion version = versionOf(header, m_finished, *m_store->rows(header.id, "validate"), "my_norm");
    EXPECT_EQ(version.state, "wrong");
    EXPECT_NE(version.firstWrong.find("rms_norm"), std::string::npos) << version.firstWrong;
}

TEST_F(OwnKernel, AnotherRoundingOrderIsToldApart) {
    const RunHeader header = validate(fromTemplate("rms_norm", "my_norm.cpp", "const T normalised = fromFloat<T>(toFloat(x[column]) * scale);\n        out[column] = fromFloat<T>(toFloat(normalised) * toFloat(weight[column]));",
                                                   "out[column] = fromFloat<T>(toFloat(x[column]) * scale * toFloat(weight[column]));"),
                                      {{"cases", "standard"}, {"dtypes", "bfloat16"}});
    EXPECT_EQ(statusesOf(header)["wrong"], 0);
    EXPECT_GT(statusesOf(header)["other_order"], 0);
}

TEST_F(OwnKernel, ASweepHoldsItAgainstNativeAndOurs) {
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cpp");
    const RunHeader header = run("sweep", {{"kernel", kernel}, {"hidden", {112}}, {"rows", {1, 16}}, {"repeats", 20}});
    ASSERT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    std::set<std::string> variants;
    for (const SweepRow& row : rowsOf<SweepRow>(header)) {
        variants.insert(row.variant);
        EXPECT_EQ(row.op, "rms_norm");
        if (row.variant != "my_norm") continue;
        EXPECT_TRUE(row.deviceUs && row.speedup) << row.status << " " << row.reason;
    }
    EXPECT_EQ(variants, (std::set<std::string>{"native", "aten", "fused", "my_norm"}));
    const KernelVersion version = versionOf(header, m_finished, *m_store->rows(header.id, "sweep"), "my_norm");
    EXPECT_TRUE(version.speedup && *version.speedup > 0);
    EXPECT_EQ(version.cells.size(), 2U);
}

TEST_F(OwnKernel, ItRunsInsideTheModelAndItsGainIsMeasured) {
    const std::string kernel = fromTemplate("silu_mul", "my_gate.cpp");
    const RunHeader ended = run("e2e", {{"kernel", kernel}, {"new_tokens", 4}, {"prompt_tokens", 4}, {"runs", 3}, {"warmup", 1}});
    ASSERT_EQ(ended.status, RunStatus::done) << m_finished.error.message;
    EXPECT_EQ(ended.settings.at("patch"), "silu_mul=my_gate");
    EXPECT_GT(ended.result.at("patch").at(0).at("launches").get<std::int64_t>(), 0);
    for (const EndToEndRow& row : rowsOf<EndToEndRow>(ended)) {
        if (row.configuration == "patched") {
            EXPECT_TRUE(row.speedup && row.tokensMatch);
        }
    }
    const RunHeader profiled = run("profile", {{"kernel", kernel}, {"patch", "silu_mul=my_gate,rms_norm=fused"}, {"iterations", 2}, {"warmup", 0}, {"prompt_tokens", 4}});
    EXPECT_EQ(profiled.status, RunStatus::done) << m_finished.error.message;
    const RunHeader generated = run("generate", {{"kernel", kernel}, {"prompt_ids", {1, 2, 3}}, {"new_tokens", 2}});
    EXPECT_EQ(generated.status, RunStatus::done) << m_finished.error.message;
    EXPECT_EQ(generated.settings.at("patch"), "silu_mul=my_gate");
}

TEST_F(OwnKernel, AWrongOneIsNotPutIntoTheModel) {
    const std::string kernel = fromTemplate("silu_mul", "my_gate.cpp", "1.0f + std::exp(-x)", "2.0f + std::exp(-x)");
    EXPECT_EQ(run("e2e", {{"kernel", kernel}, {"new_tokens", 2}, {"prompt_tokens", 2}, {"runs", 1}}).status, RunStatus::failed);
    EXPECT_EQ(m_finished.error.code, ErrorCode::wrong);
}

TEST_F(OwnKernel, WhatDoesNotCompileIsSaidWithFileAndLine) {
    const std::string kernel = write("my_norm.cpp", "#include \"kernelscope/kernels.h\"\n\nint helper() { return nonsense; }\n");
    const RunHeader header = validate(kernel);
    EXPECT_EQ(header.status, RunStatus::failed);
    EXPECT_EQ(m_finished.error.code, ErrorCode::badInput);
    EXPECT_TRUE(says("my_norm.cpp does not compile")) << m_finished.error.message;
    EXPECT_TRUE(says(kernel + ":3:")) << m_finished.error.message;
    EXPECT_TRUE(says("nonsense")) << m_finished.error.message;
    EXPECT_TRUE(m_store->runs()->empty()) << "what never began leaves no run";
}

TEST_F(OwnKernel, AnotherSignatureIsRefusedWithItsLine) {
    const std::string with = write("my_norm.cpp", "extern \"C\" int ks_cpu_rms_norm(void* out, const void* x, int rows) { return out == x ? rows : 0; }\n");
    validate(with);
    EXPECT_EQ(m_finished.error.code, ErrorCode::badInput);
    EXPECT_TRUE(says(with + ":1:")) << m_finished.error.message;
    const std::string without = write("your_norm.cpp", "\nint ks_cpu_rms_norm(float* out, const float* x, int rows) { return out == x ? rows : 0; }\n");
    validate(without);
    EXPECT_TRUE(says(without + ":2: ks_cpu_rms_norm is named here")) << m_finished.error.message;
    const std::string none = write("no_norm.cpp", "int other() { return 1; }\n");
    validate(none);
    EXPECT_TRUE(says("no_norm.cpp defines no kernel")) << m_finished.error.message;
    const std::string lacking = write("lacking.cpp", "extern \"C\" void not_there();\n" + *kernelTemplate("silu_mul", "x.cpp") + "\nvoid (*keep)() = &not_there;\n");
    validate(lacking);
    EXPECT_TRUE(says("not_there")) << m_finished.error.message;
}

TEST_F(OwnKernel, ALibraryIsTakenAsItIsAndRefusedInWords) {
    const std::string source = fromTemplate("rms_norm", "lib_norm.cpp");
    const std::string library = (m_folder / "lib_norm.so").string(), include = "-I" KERNELSCOPE_KERNEL_HEADERS;
    ASSERT_EQ(std::system(("c++ -std=c++20 -O2 -ffp-contract=off -fPIC -shared " + include + " -o '" + library + "' '" + source + "'").c_str()), 0);
    const RunHeader right = validate(library, {{"cases", "standard"}});
    EXPECT_EQ(right.status, RunStatus::done) << m_finished.error.message;
    EXPECT_EQ(statusesOf(right)["wrong"], 0);
    EXPECT_GT(statusesOf(right)["ok"], 20);
    EXPECT_EQ(right.environment.at("own_kernel").at("kind"), "library");

    std::string bytes = *readFile(library);
    bytes[18] = static_cast<char>(183);  // e_machine: 64-bit ARM
    validate(write("arm.so", bytes));
    EXPECT_EQ(m_finished.error.code, ErrorCode::badInput);
#if defined(__x86_64__)
    EXPECT_TRUE(says("arm.so is built for 64-bit ARM, and this machine is x86-64")) << m_finished.error.message;
#endif
    validate(write("text.so", "no library at all, but more than sixty-four bytes long, so that it could be one"));
    EXPECT_TRUE(says("text.so is no shared library")) << m_finished.error.message;
    const std::string old = write("old.cpp", "extern \"C\" int ks_abi_version(void) { return 99; }\n" +
                                                 *kernelTemplate("rms_norm", "x.cpp"));
    ASSERT_EQ(std::system(("c++ -std=c++20 -fPIC -shared " + include + " -o '" + (m_folder / "old.so").string() + "' '" + old + "'").c_str()), 0);
    validate((m_folder / "old.so").string());
    EXPECT_TRUE(says("speaks version 99")) << m_finished.error.message;
}

TEST_F(OwnKernel, ACudaSourceOnACpuAndAnUnknownFileAreRefusedInWords) {
    validate(fromTemplate("rms_norm", "my_norm.cu"));
    EXPECT_EQ(m_finished.error.code, ErrorCode::environment);
    EXPECT_TRUE(says("my_norm.cu holds CUDA kernels")) << m_finished.error.message;
    EXPECT_TRUE(says("--device cuda") || says("kernels in .cpp or .so run")) << "what can be done here: " << m_finished.error.advice;
    validate((m_folder / "absent.cpp").string());
    EXPECT_EQ(m_finished.error.code, ErrorCode::badInput);
    validate(write("my_norm.txt", "x"));
    EXPECT_EQ(m_finished.error.code, ErrorCode::usage);
    validate(fromTemplate("rms_norm", "native.cpp"));
    EXPECT_TRUE(says("there is a variant of that name")) << m_finished.error.message;
}

TEST_F(OwnKernel, AKernelThatCrashesOrHangsCostsItsCellsOnly) {
    const std::string crash = fromTemplate("rms_norm", "my_norm.cpp", "    switch (dtype) {", "    if (rows == 33 && dtype == KS_FLOAT16) __builtin_trap();\n    switch (dtype) {");
    const RunHeader crashed = validate(crash, {{"cases", "standard"}});
    EXPECT_EQ(crashed.status, RunStatus::done) << m_finished.error.message;
    std::map<std::string, int> statuses = statusesOf(crashed);
    EXPECT_EQ(statuses["crashed"], 2) << "basic and rounding_order at 33 rows of float16";
    EXPECT_GT(statuses["ok"], 20);

    const std::string hang = fromTemplate("rms_norm", "my_norm.cpp", "    switch (dtype) {", "    for (volatile bool always = rows == 33; always;) {}\n    switch (dtype) {");
    const RunHeader hung = validate(hang, {{"cases", "standard"}, {"dtypes", "float32"}, {"rows", {33}}, {"deadline", 1.5}});
    EXPECT_EQ(hung.status, RunStatus::done) << m_finished.error.message;
    EXPECT_EQ(statusesOf(hung)["hung"], 2);
}

TEST_F(OwnKernel, WritingOutOfBoundsIsSeenAndSaidWhere) {
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cpp", "column < hidden; ++column", "column <= hidden; ++column");
    const RunHeader header = validate(kernel, {{"cases", "standard"}, {"rows", {1}}});
    EXPECT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    // One beyond, computed from what stands one beyond in the input: in every type it is seen, also where a NaN only passes through.
    for (const ValidateRow& row : rowsOf<ValidateRow>(header)) {
        if (row.caseName != "basic" || row.rows != 1) continue;
        EXPECT_EQ(row.status, "wrong") << row.dtype;
        EXPECT_NE(row.reason.find("out of bounds"), std::string::npos) << row.dtype << ": " << row.reason;
    }
}

TEST_F(OwnKernel, RowsOfOneRunAreOfOneVersion) {
    // The kernel crashes, and another version is saved before the next engine looks.
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cpp", "    switch (dtype) {", "    if (rows == 33) __builtin_trap();\n    switch (dtype) {");
    bool saved = false;
    const RunHeader header = run("validate", {{"kernel", kernel}, {"hidden", {112}}, {"rows", {1, 33}}, {"dtypes", "float32"}}, [&](const RowRecord&) {
        if (!saved) fromTemplate("rms_norm", "my_norm.cpp");
        saved = true;
    });
    EXPECT_EQ(header.status, RunStatus::failed);
    EXPECT_TRUE(says("has changed")) << m_finished.error.message;
}

TEST_F(OwnKernel, TheCompilersWarningsAndTheSourcesOwnOptionsCount) {
    const std::string kernel = write("my_norm.cpp", "// kernelscope: options = -DEXTRA=1\n#if EXTRA != 1\n#error no option\n#endif\nstatic int unused_here() { return 1; }\n" + *kernelTemplate("rms_norm", "x.cpp"));
    const RunHeader header = validate(kernel, {{"cases", "standard"}, {"dtypes", "float32"}});
    ASSERT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    const std::string log = header.environment.at("own_kernel").at("log");
    EXPECT_NE(log.find(kernel + ":5:"), std::string::npos) << log;
    const RunHeader again = validate(kernel, {{"cases", "standard"}, {"dtypes", "float32"}});
    EXPECT_EQ(again.environment.at("own_kernel").at("log"), log) << "also when it comes from the cache";
}

}  // namespace
}  // namespace kernelscope::test
