#include "core/client/trace_reader.h"

#include <nlohmann/json.hpp>

namespace kernelscope {

namespace {

using nlohmann::json;

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kStep = "ProfilerStep#";

/// Sees every value once, keeps a few fields of each event, and never builds a tree.
class Handler : public nlohmann::json_sax<json> {
public:
    explicit Handler(Trace& trace) : m_trace(trace) {}
    bool sawEvents = false;

    bool start_object(std::size_t) override {
        // A trace may also be the bare list of its events.
        if (m_depth == 0) m_rootIsObject = true;
        ++m_depth;
        if (m_depth == eventDepth() && inEvents()) m_event = {};
        return m_depth < kDeepest;
    }
    bool end_object() override {
        if (m_depth == eventDepth() && inEvents()) keep();
        --m_depth;
        return true;
    }
    bool start_array(std::size_t) override {
        ++m_depth;
        if (m_depth == 1) sawEvents = m_inEvents = true;
        if (m_rootIsObject && m_depth == 2) {
            m_inEvents = m_topKey == "traceEvents";
            sawEvents = sawEvents || m_inEvents;
        }
        return m_depth < kDeepest;
    }
    bool end_array() override {
        if (m_rootIsObject && m_depth == 2) m_inEvents = false;
        --m_depth;
        return true;
    }
    bool key(std::string& name) override {
        if (m_depth == 1) m_topKey = name;
        if (m_depth == eventDepth()) m_field = name;
        if (m_depth == eventDepth() + 1) m_argument = name;
        return true;
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(std::int64_t value) override { return number(static_cast<double>(value), value); }
    bool number_unsigned(std::uint64_t value) override { return number(static_cast<double>(value), static_cast<std::int64_t>(value)); }
    bool number_float(double value, const std::string&) override { return number(value, -1); }
    bool string(std::string& value) override {
        if (m_depth != eventDepth()) return true;
        if (inEvents()) {
            if (m_field == "ph") m_event.phase = std::move(value);
            else if (m_field == "name") m_event.name = std::move(value);
            else if (m_field == "cat") m_event.category = std::move(value);
            else if (m_field == "tid") m_event.thread = static_cast<std::int64_t>(std::hash<std::string>{}(value));
        } else if (m_topKey == "deviceProperties" && m_field == "name" && m_trace.device.empty()) {
            m_trace.device = std::move(value);
        }
        return true;
    }
    bool binary(json::binary_t&) override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    static constexpr int kDeepest = 64;
    struct Event {
        std::string phase, name, category;
        std::int64_t thread = 0, correlation = -1;
        double begin = -1, duration = -1;
    };

    [[nodiscard]] int eventDepth() const { return m_rootIsObject ? 3 : 2; }
    [[nodiscard]] bool inEvents() const { return m_inEvents; }

    bool number(double value, std::int64_t whole) {
        if (!inEvents()) return true;
        if (m_depth == eventDepth()) {
            if (m_field == "ts") m_event.begin = value;
            else if (m_field == "dur") m_event.duration = value;
            else if (m_field == "tid") m_event.thread = whole;
        } else if (m_depth == eventDepth() + 1 && m_field == "args" && m_argument == "correlation") {
            m_event.correlation = whole;
        }
        return true;
    }

    void keep() {
        const Event& event = m_event;
        if (event.phase != "X" || !(event.duration >= 0) || !(event.begin >= 0)) return;
        const bool launch = event.category == "cuda_runtime" || event.category == "cuda_driver";
        if (event.category == "kernel" || event.category == "gpu_memcpy" || event.category == "gpu_memset") add(m_trace.kernels);
        else if (launch && event.correlation >= 0) add(m_trace.launches);
        else if (event.name.starts_with(kModule)) add(m_trace.modules);
        else if (event.name.starts_with(kStep) && event.category == "user_annotation") add(m_trace.steps);
    }

    void add(std::vector<TraceEvent>& list) {
        const auto [found, isNew] = m_nameIndex.emplace(m_event.name, static_cast<std::uint32_t>(m_trace.names.size()));
        if (isNew) m_trace.names.push_back(m_event.name);
        list.push_back({found->second, m_event.thread, m_event.correlation, m_event.begin, m_event.duration});
    }

    Trace& m_trace;
    std::unordered_map<std::string, std::uint32_t> m_nameIndex;
    Event m_event;
    std::string m_topKey, m_field, m_argument;
    int m_depth = 0;
    bool m_rootIsObject = false, m_inEvents = false;
};

}  // namespace

Result<Trace> readTrace(std::istream& input) {
    Trace trace;
    Handler handler(trace);
    bool whole = false;
    try {
        whole = json::sax_parse(input, &handler);
    } catch (const std::exception&) {
        whole = false;  // the parser's own refusals; how far it came does not matter
    }
    if (!whole) return makeError(ErrorCode::badInput, "the trace is not whole JSON", "let the profiler finish writing it; unpack it if it is compressed");
    if (!handler.sawEvents) return makeError(ErrorCode::badInput, "the file has no traceEvents");
    if (trace.kernels.empty() && trace.modules.empty())
        return makeError(ErrorCode::badInput, "the trace holds no kernels and no module spans", "profile with ProfilerActivity.CUDA, and with_modules=True for module spans");
    return trace;
}

}  // namespace kernelscope
