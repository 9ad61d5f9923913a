#include "core/engine/server.h"

#include <atomic>
#include <new>
#include <thread>

#include <ATen/Version.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include "core/device/cuda_support.h"
#include "core/device/device.h"
#include "core/device/device_lock.h"
#include "core/device/telemetry.h"
#include "core/engine/doctor.h"
#include "core/engine/job.h"
#include "core/engine/job_kernel.h"
#include "core/engine/model_setup.h"
#include "core/engine/protocol_stream.h"
#include "core/model/files.h"
#include "core/model/folder_list.h"
#include "core/model/inspect.h"
#include "core/model/tokenize.h"
#include "core/own/launcher_source.h"
#include "core/own/side_file.h"
#include "core/records/kernel_fault.h"
#include "core/records/protocol.h"
#include "core/records/version.h"

namespace kernelscope {
namespace {

// JSON-RPC 2.0's own numbers.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kOurError = -32000;

/// c10 errors carry a C++ backtrace after their first line; people want the first line.
std::string firstLine(std::string text) {
    if (const auto end = text.find('\n'); end != std::string::npos) text.resize(end);
    return text;
}

class Server {
public:
    explicit Server(ProtocolStream& stream) : m_stream(stream) {}

    int run() {
        while (const std::optional<std::string> line = m_stream.readLine()) handle(*line);
        leaveNow(0);
    }

private:
    using Answer = Result<nlohmann::json>;

    void handle(const std::string& line) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) return;
        const Result<RpcMessage> message = parseLine(line);
        if (!message) {
            const bool unreadable = message.error().message.find("parse") != std::string::npos;
            m_stream.writeLine(errorLine(nullptr, unreadable ? kParseError : kInvalidRequest, message.error()));
            return;
        }
        if (message->method.empty()) {
            m_stream.writeLine(errorLine(message->id, kInvalidRequest, makeError(ErrorCode::usage, "A response arrived, but this side sends no requests")));
            return;
        }
        int rpcCode = kOurError;
        Answer answer = makeError(ErrorCode::usage, "not answered");
        try {
            answer = dispatch(*message, rpcCode);
        } catch (const std::exception& error) {
            answer = makeError(ErrorCode::environment, firstLine(error.what()));
        }
        if (message->id.is_null()) return;  // a notification is not answered
        m_stream.writeLine(answer ? responseLine(message->id, *answer) : errorLine(message->id, rpcCode, answer.error()));
        if (m_startWhenAnswered) startThread();
    }

    Answer dispatch(const RpcMessage& message, int& rpcCode) {
        const std::string& method = message.method;
        if (method == "engine.hello") return toJson(hello());
        if (method == "device.list") return listed();
        if (method == "model.inspect") return inspect(message.params, rpcCode);
        if (method == "model.list") return listModels();
        if (method == "model.tokenize") return tokenizeText(message.params, rpcCode);
        if (method == "folder.list") return folders(message.params, rpcCode);
        if (method == "engine.doctor") return examine();
        if (method == "kernel.version") return kernelVersion(message.params, rpcCode);
        if (method == "kernel.launcher") return kernelLauncher(message.params, rpcCode);
        if (method == "kernel.inspect") return inspectKernel(message.params, rpcCode);
        if (method == "job.start") return start(message.params, rpcCode);
        if (method == "job.cancel") { m_stop.request_stop(); return nlohmann::json::object(); }
        if (method == "telemetry.start") return startTelemetry(message.params, rpcCode);
        rpcCode = kMethodNotFound;
        return makeError(ErrorCode::usage, fmt::format("There is no method called '{}'", method));
    }

    static Hello hello() {
        Hello hello;
        hello.version = kVersion;
        hello.build = fmt::format("libtorch {}, {}", TORCH_VERSION, cuda::buildText());
        hello.devices = listDevices();
        return hello;
    }

    Answer examine() const {
        if (m_running) return makeError(ErrorCode::usage, "A job is running; the examination would disturb its figures", "Cancel it or wait.");
        return examineMachine();
    }

    static nlohmann::json listed() {
        nlohmann::json devices = nlohmann::json::array();
        for (const DeviceInfo& device : listDevices()) devices.push_back(toJson(device));
        return {{"devices", devices}};
    }

    static Answer inspect(const nlohmann::json& params, int& rpcCode) {
        const auto model = params.find("model");
        if (model == params.end() || !model->is_string()) {
            rpcCode = kInvalidParams;
            return makeError(ErrorCode::usage, "model.inspect needs {\"model\": text}");
        }
        const Result<ModelSource> source = resolveModel(model->get<std::string>());
        if (!source) return source.error();
        return inspectModel(*source);
    }

    static Answer folders(const nlohmann::json& params, int& rpcCode) {
        const auto path = params.find("path");
        if (path == params.end() || !path->is_string()) {
            rpcCode = kInvalidParams;
            return makeError(ErrorCode::usage, "folder.list needs {\"path\": text}");
        }
        return listFolders(path->get<std::string>());
    }

    static Answer tokenizeText(const nlohmann::json& params, int& rpcCode) {
        const auto model = params.find("model");
        if (model == params.end() || !model->is_string()) {
            rpcCode = kInvalidParams;
            return makeError(ErrorCode::usage, "model.tokenize needs {\"model\": text}");
        }
        const Result<ModelSource> source = resolveModel(model->get<std::string>());
        if (!source) return source.error();
        return tokenize(*source, params);
    }

    static std::string textOf(const nlohmann::json& params, const char* key) {
        const auto found = params.find(key);
        return found != params.end() && found->is_string() ? found->get<std::string>() : std::string();
    }

    static Answer kernelVersion(const nlohmann::json& params, int& rpcCode) {
        const std::string file = textOf(params, "file");
        if (file.empty()) {
            rpcCode = kInvalidParams;
            return makeError(ErrorCode::usage, "kernel.version needs {\"file\": text}");
        }
        const Result<KernelFile> read = readKernelFile(file);
        if (!read) return read.error();
        return nlohmann::json{{"file", toUtf8(read->path)}, {"variant", read->variant}, {"version", read->version}};
    }

    static Answer kernelLauncher(const nlohmann::json& params, int& rpcCode) {
        const std::string file = textOf(params, "file");
        if (file.empty()) {
            rpcCode = kInvalidParams;
            return makeError(ErrorCode::usage, "kernel.launcher needs {\"file\": text}");
        }
        const Result<KernelFile> read = readKernelFile(file);
        if (!read) return read.error();
        const Result<std::string> text = read->kind == KernelFileKind::cuda ? launcherSource(*read) : Result<std::string>(std::string());
        if (!text) return text.error();
        const Result<std::vector<std::string>> options = optionsOf(*read);
        if (!options) return options.error();
        return nlohmann::json{{"text", *text}, {"version", read->version}, {"options", *options}};
    }

    Answer inspectKernel(const nlohmann::json& params, int& rpcCode) const {
        const std::string file = textOf(params, "file"), device = textOf(params, "device");
        if (file.empty()) {
            rpcCode = kInvalidParams;
            return makeError(ErrorCode::usage, "kernel.inspect needs {\"file\": text, \"device\": text}");
        }
        if (m_running) return makeError(ErrorCode::usage, "A job is running; compiling would disturb its figures", "Cancel it or wait.");
        const Result<Device> opened = openDevice(device.empty() ? "auto" : device);
        if (!opened) return opened.error();
        if (opened->isCuda()) {
            if (const Result<void> active = activate(*opened); !active) return active.error();
        }
        const Result<OwnKernel> kernel = OwnKernel::load(file, *opened);
        if (!kernel) return kernel.error();
        return kernel->describe();
    }

    Answer start(const nlohmann::json& params, int& rpcCode) {
        if (m_running) return makeError(ErrorCode::usage, "A job is running; one runs at a time", "Cancel it or wait.");
        const Result<JobRequest> request = jobRequestFromJson(params);
        if (!request) {
            rpcCode = kInvalidParams;
            return request.error();
        }
        if (m_thread.joinable()) m_thread.join();
        for (const JobKind& kind : jobKinds()) {
            if (kind.name != request->kind) continue;
            m_job = kind.make(*request);
            Result<JobStarted> started = m_job->prepare(m_models);
            if (!started) return started.error();
            m_stop = std::stop_source();
            m_device = request->device;
            m_settings = request->settings;
            m_running = true;
            m_startWhenAnswered = true;  // the answer goes out before the first row
            return toJson(*started);
        }
        rpcCode = kInvalidParams;
        return makeError(ErrorCode::usage, fmt::format("This engine knows no job of kind '{}'", request->kind));
    }

    void startThread() {
        m_startWhenAnswered = false;
        m_thread = std::thread([this] {
            Finished finished = runInTurn();
            const bool fault = deviceFault(finished);
            if (fault && !m_kernel.empty()) finished.error = kernelFault(m_kernel, "faults the GPU", finished.error.message, m_settings);  // no fault of the machine
            m_running = false;
            notify("job.finished", toJson(finished));
            if (fault) leaveNow(kExitDeviceFault);  // its context is dead for good; the client starts a fresh engine
        });
    }

    /// Two jobs on one GPU would disturb each other's times, be it from another window or a sweep spread over engines.
    Finished runInTurn() {
        const Result<Device> device = openDevice(m_device);
        if (!device || !device->isCuda()) return runJob();
        const auto turn = DeviceLock::take(cuda::pciBusId(device->torch.index()), m_stop.get_token(), [&](const std::string& holder) {
            notify("job.progress", toJson(Progress{fmt::format("Waiting for {}: another job{} runs on it", device->info.id, holder.empty() ? "" : " (process " + holder + ")"), 0, 0, {}, {}}));
        });
        return turn ? runJob() : cancelled();
    }

    Finished runJob() {
        JobContext context{m_stop.get_token(), {}, [this](const RowRecord& row) { notify("job.row", toJson(row)); }, m_models};
        context.progress = [this, &context](const Progress& progress) { notify("job.progress", progressWithKernel(progress, context.kernel)); };
        Finished finished = tried(context);
        m_kernel = context.kernel;
        return finished;
    }

    Finished tried(JobContext& context) {
        try {
            return m_job->run(context);
        } catch (const PassCancelled&) {
            return cancelled();
        } catch (const c10::OutOfMemoryError& error) {
            m_models.drop();
            return failed(makeError(ErrorCode::environment, "The GPU ran out of memory: " + firstLine(error.what_without_backtrace()),
                                    "Use a smaller model, batch or prompt; close what else uses the GPU."));
        } catch (const std::bad_alloc&) {
            m_models.drop();
            return failed(makeError(ErrorCode::environment, "The machine ran out of memory", "Use a smaller model, batch or prompt."));
        } catch (const c10::Error& error) {
            return failed(makeError(ErrorCode::environment, "libtorch: " + firstLine(error.what_without_backtrace())));
        } catch (const std::exception& error) {
            const std::string words = firstLine(error.what());
            return failed(context.kernel.empty() ? makeError(ErrorCode::environment, words) : kernelFault(context.kernel, "throws an exception", words, m_settings));
        }
    }

    /// A kernel that faulted takes the whole CUDA context with it.
    static bool deviceFault(const Finished& finished) {
        return finished.status == RunStatus::failed && !cuda::synchronize();
    }

    Answer startTelemetry(const nlohmann::json& params, int& rpcCode) {
        const auto device = params.find("device");
        const auto interval = params.find("interval_ms");
        if (device == params.end() || !device->is_string() || interval == params.end() || !interval->is_number_integer()) {
            rpcCode = kInvalidParams;
            return makeError(ErrorCode::usage, "telemetry.start needs {\"device\": text, \"interval_ms\": whole number}");
        }
        const Result<Device> opened = openDevice(device->get<std::string>());
        if (!opened) return opened.error();
        const auto period = std::chrono::milliseconds(std::max<std::int64_t>(100, interval->get<std::int64_t>()));
        m_telemetry = std::jthread([this, device = *opened, period](const std::stop_token& stop) {
            std::mutex mutex;
            std::condition_variable_any wakes;
            std::unique_lock lock(mutex);
            while (!stop.stop_requested()) {
                notify("telemetry", toJson(sampleTelemetry(device)));
                wakes.wait_for(lock, stop, period, [] { return false; });
            }
        });
        return nlohmann::json::object();
    }

    void notify(const std::string& method, const nlohmann::json& params) { m_stream.writeLine(notificationLine(method, params)); }

    ProtocolStream& m_stream;
    ModelHolder m_models;
    std::unique_ptr<Job> m_job;
    std::string m_device;  ///< that it was asked to run on
    std::stop_source m_stop;
    std::thread m_thread;
    nlohmann::json m_settings;  ///< of the job
    std::string m_kernel;       ///< what of a patch ran when the job ended
    std::jthread m_telemetry;
    std::atomic<bool> m_running = false;
    bool m_startWhenAnswered = false;
};

}  // namespace

int serve(ProtocolStream& stream) { return Server(stream).run(); }

}  // namespace kernelscope
