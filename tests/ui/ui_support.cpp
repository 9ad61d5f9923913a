#include "ui_support.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QDir>
#include <QTest>

#include "core/records/row_key.h"
#include "ui/models/profile_summary.h"
#include "ui/models/profile_tree.h"
#include "ui/text.h"

namespace kernelscope::ui::test {
namespace {

struct Made { const char* name; int calls; double selfUs; double gpuUs; };
constexpr Made kMade[] = {{"Attention", 24, 3152, 411}, {"RMSNorm", 49, 1379, 186}, {"MLP", 24, 868, 571}, {"Residual", 48, 369, 50},
                          {"LM head", 1, 240, 237},     {"Rotary", 1, 92, 10},      {"Embedding", 1, 55, 9}};

}  // namespace

std::vector<ProfileRow> profileRows(double scale, bool gpu) {
    std::vector<ProfileRow> rows;
    double total = 65, gpuTotal = 5;
    for (const Made& made : kMade) { total += made.selfUs; gpuTotal += made.gpuUs; }
    const auto add = [&](const std::string& name, std::optional<std::int64_t> calls, double self, double gpuUs) {
        ProfileRow row{.phase = "decode", .level = "type", .name = name, .type = name, .calls = calls};
        row.spanUs = row.selfSpanUs = self * scale;
        row.spanSharePct = 100 * self / total;
        row.spanShareCiLowPct = *row.spanSharePct * 0.98;
        row.spanShareCiHighPct = *row.spanSharePct * 1.02;
        if (gpu) {
            row.gpuUs = row.selfGpuUs = gpuUs * scale;
            row.gapUs = *row.spanUs - *row.gpuUs;
            row.gpuSharePct = 100 * gpuUs / gpuTotal;
            row.kernels = calls;
        }
        rows.push_back(row);
    };
    for (const Made& made : kMade) add(made.name, made.calls, made.selfUs, made.gpuUs);
    add("unattributed", std::nullopt, 65, 5);
    ProfileRow sum{.phase = "decode", .level = "type", .name = "total", .type = "total", .spanUs = total * scale};
    if (gpu) {
        sum.gpuUs = gpuTotal * scale;
        sum.gapUs = (total - gpuTotal) * scale;
    }
    rows.push_back(sum);
    rows.push_back({.phase = "decode", .level = "type", .name = "profiler tax", .type = "profiler tax", .spanUs = 110 * scale, .spanSharePct = 1.8});
    return rows;
}

std::vector<ProfileRow> leafRows(int layers) {
    std::vector<ProfileRow> rows;
    const auto add = [&](const std::string& name, const std::string& type, double self) {
        rows.push_back({.phase = "decode", .level = "leaf", .name = name, .type = type, .calls = 1, .spanUs = self, .selfSpanUs = self});
    };
    add("model.embed_tokens", "Embedding", 10);
    for (int layer = 0; layer < layers; ++layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        add(prefix + "input_layernorm", "RMSNorm", 5 + layer);
        add(prefix + "self_attn.q_proj", "Attention", 20);
        add(prefix + "self_attn", "Attention", 12);
        add(prefix + "residual_attention", "Residual", 2);
        add(prefix + "mlp.down_proj", "MLP", 30);
    }
    add("lm_head", "LM head", 100);
    double total = 0;
    for (const ProfileRow& row : rows) total += *row.selfSpanUs;
    for (ProfileRow& row : rows) row.spanSharePct = 100 * *row.selfSpanUs / total;
    rows.push_back({.phase = "decode", .level = "leaf", .name = "unattributed", .type = "unattributed", .selfSpanUs = 0, .spanSharePct = 0});
    rows.push_back({.phase = "decode", .level = "leaf", .name = "total", .type = "total", .spanUs = total});
    return rows;
}

std::vector<ProfileModuleRow> moduleRows(int layers) {
    std::vector<ProfileModuleRow> rows;
    for (const ProfileRow& leaf : leafRows(layers)) {
        if (isClosingRow(leaf)) continue;
        ProfileModuleRow row{.phase = leaf.phase, .path = leaf.name, .type = leaf.type, .selfSpanUs = leaf.selfSpanUs};
        if (const int layer = layerOf(leaf.name); layer >= 0) row.layer = layer;
        rows.push_back(row);
    }
    return rows;
}

std::vector<ProfileEventRow> eventRows(int layers, int kernelsAModule) {
    std::vector<ProfileEventRow> rows;
    double host = 0, device = 3, kernel = 0;
    for (const ProfileModuleRow& module : moduleRows(layers)) {
        const double span = *module.selfSpanUs;
        rows.push_back({"decode", "cpu", module.path, module.type, module.path, 2, host, span * 0.9});
        rows.push_back({"decode", "span", module.path, module.type, module.path, 2, device, span});
        for (int i = 0; i < kernelsAModule; ++i) {
            rows.push_back({"decode", "kernel", "kernel_" + std::to_string(i), module.type, module.path, 2, kernel, span / 10});
            kernel += span / 10;
        }
        host += span;
        device += span;
    }
    return rows;
}

RowRecord recordOf(const ProfileRow& row) { return {"profile", row.phase + "/" + row.level + "/" + row.name, valuesOf(row)}; }

RunHeader profileHeader(const std::string& model) {
    RunHeader header;
    header.when = "2026-01-31T12:34:56Z";
    header.kind = "profile";
    header.command = "kernelscope-cli profile --model " + model;
    header.model = model;
    header.weights = "random";
    header.device = "Test CPU";
    header.dtype = "float32";
    header.settings = {{"phase", "decode"}, {"level", "type"}, {"mode", "eager"}, {"iterations", 50}, {"prompt_tokens", 32}};
    return header;
}

std::string storeProfile(Store& store, const std::string& model, double scale, bool gpu) {
    auto created = store.createRun(profileHeader(model));
    if (!created) return {};
    std::vector<RowRecord> records;
    for (const ProfileRow& row : profileRows(scale, gpu)) records.push_back(recordOf(row));
    for (const ProfileModuleRow& row : moduleRows(24)) records.push_back({"profile_module", row.phase + "/" + row.path, valuesOf(row)});
    int event = 0;
    for (const ProfileEventRow& row : eventRows(24, gpu ? 3 : 0)) records.push_back({"profile_event", std::to_string(event++), valuesOf(row)});
    if (!store.putRows(created->id, records)) return {};
    created->status = RunStatus::done;
    created->headline = "Decode 6.22 ms a token";
    if (!store.updateRun(*created)) return {};
    return created->id;
}

std::vector<SweepRow> sweepRows() {
    std::vector<SweepRow> rows;
    for (const std::int64_t hidden : {896, 3584}) {
        for (const std::int64_t count : {1, 64}) {
            const double native = 10 + double(hidden * count) / 1e5;
            for (const bool fused : {false, true}) {
                SweepRow row{.op = "rms_norm", .variant = fused ? "fused" : "native", .dtype = "float16", .hidden = hidden, .rows = count, .cache = "cold", .status = "ok"};
                row.deviceUs = fused ? native / 4 : native;
                row.callUs = *row.deviceUs + 5;
                row.speedup = fused ? 4 : 1;
                row.speedupCiLow = *row.speedup * 0.98;
                row.speedupCiHigh = *row.speedup * 1.02;
                row.limitPct = fused ? 80 : 20;
                row.gbPerS = 100;
                row.verdict = fused ? "faster" : "same";
                rows.push_back(row);
            }
        }
    }
    return rows;
}

std::vector<ValidateRow> validateRows() {
    std::vector<ValidateRow> rows;
    for (const std::int64_t count : {7, 257}) {
        for (const char* name : {"basic", "input_unchanged"}) {
            rows.push_back({.op = "rms_norm", .variant = "fused", .dtype = "float16", .hidden = 896, .rows = count, .caseName = name, .status = "ok", .maxAbsErr = 1e-4, .maxUlp = 1});
        }
    }
    return rows;
}

std::string storeSweep(Store& store) {
    RunHeader header = profileHeader("Qwen2.5-0.5B");
    header.kind = "sweep";
    header.settings = {{"hidden", "896,3584"}, {"rows", "1,64"}, {"cache", "cold"}};
    header.dtype = "float16";
    auto created = store.createRun(header);
    if (!created) return {};
    std::vector<RowRecord> records;
    for (const SweepRow& row : sweepRows()) records.push_back({"sweep", rowKey(row), valuesOf(row)});
    const std::string key = rowKey(sweepRows().back());
    for (int pass = 0; pass < 5; ++pass) {
        records.push_back({"sample", key + "/device_us/" + std::to_string(pass), valuesOf(SampleRow{key, "device_us", pass, 1.0 + pass})});
        records.push_back({"sample", key + "/call_us/" + std::to_string(pass), valuesOf(SampleRow{key, "call_us", pass, 50.0})});
    }
    for (const ValidateRow& row : validateRows()) records.push_back({"validate", rowKey(row), valuesOf(row)});
    created->status = RunStatus::done;
    if (!store.putRows(created->id, records) || !store.updateRun(*created)) return {};
    return created->id;
}

std::vector<EndToEndRow> endToEndRows() {
    EndToEndRow native{.configuration = "native", .mode = "eager", .status = "ok", .ttftMs = 9.8, .decodeMsPerToken = 6.16, .decodeTokensPerS = 162.3, .totalMs = 311.6};
    EndToEndRow patched{.configuration = "patched", .mode = "eager", .status = "ok", .ttftMs = 7.1, .decodeMsPerToken = 4.29, .decodeTokensPerS = 233.1, .totalMs = 217.9};
    patched.speedup = 1.43;
    patched.speedupCiLow = 1.41;
    patched.speedupCiHigh = 1.45;
    patched.predictedBySpan = 1.52;
    patched.predictedByGpu = 1.40;
    patched.tokensMatch = true;
    patched.verdict = "faster";
    return {native, patched};
}

nlohmann::json endToEndResult() {
    const auto entry = [](const char* op, double removed) { return nlohmann::json{{"op", op}, {"contribution_by_gpu_pct", removed}, {"contribution_by_span_pct", nullptr}}; };
    const double whole = 100 - 100 / 1.40;
    nlohmann::json result;
    result["ledger"]["eager"]["phases"] = {{{"phase", "prefill"}, {"operators", {entry("rms_norm", 2.0)}}},
                                           {{"phase", "decode"}, {"operators", {entry("rms_norm", 18.0), entry("rope", whole - 20)}}}};
    for (const char* configuration : {"native", "patched"}) result["generated"]["eager"][configuration] = {{"token_ids", {81744, 33581, 97327}}, {"text", nullptr}};
    return result;
}

std::string storeEndToEnd(Store& store) {
    RunHeader header = profileHeader("Qwen2.5-0.5B");
    header.kind = "e2e";
    header.settings = {{"new_tokens", 50}, {"runs", 10}, {"mode", "eager"}, {"patch", "rms_norm=fused,rope=fused"}};
    header.result = endToEndResult();
    auto created = store.createRun(header);
    if (!created) return {};
    for (const EndToEndRow& row : endToEndRows()) {
        if (!store.putRow(created->id, {"e2e", rowKey(row), valuesOf(row)})) return {};
    }
    created->status = RunStatus::done;
    return store.updateRun(*created) ? created->id : std::string();
}

bool waitFor(const std::function<bool()>& condition, int milliseconds) { return QTest::qWaitFor(condition, milliseconds); }

QString builtEngine() { return QCoreApplication::applicationDirPath() + "/kernelscope-engine"; }

TestWindow::TestWindow(const QString& engine, const QString& folderName) : m_data(m_folder.path() + "/" + folderName), m_engine(engine) {
    QDir().mkpath(m_data);
    open();
}

TestWindow::~TestWindow() {
    // To look at what a test saw: KERNELSCOPE_TEST_PICTURES=folder ui_tests
    const QString folder = qEnvironmentVariable("KERNELSCOPE_TEST_PICTURES");
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    if (!folder.isEmpty() && info) m_window->grab().save(folder + "/" + info->name() + ".png");
}

void TestWindow::open() {
    m_window.reset();
    const QString engine = m_engine.contains(' ') && QFile::exists(m_engine) ? "'" + m_engine + "'" : m_engine;
    m_window = std::make_unique<MainWindow>(WindowOptions{.settingsFile = path("window.ini"), .store = storePath(), .engine = engine});
    m_window->resize(1280, 860);
    m_window->show();
    waitFor([this] { return m_window->services().engine != nullptr; });
}

QString TestWindow::path(const QString& name) const { return m_data + "/" + name; }
std::filesystem::path TestWindow::storePath() const { return path("runs.sqlite").toStdU16String(); }

}  // namespace kernelscope::ui::test
