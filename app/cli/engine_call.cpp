#include "app/cli/engine_call.h"

#include <condition_variable>
#include <mutex>

#include "app/cli/engine_wait.h"
#include "app/cli/terminal.h"

namespace kernelscope::cli {

Result<nlohmann::json> askEngine(const CommonOptions& common, const std::string& method, nlohmann::json params) {
    if (const auto valid = mustBeUtf8(params); !valid) return valid.error();
    auto options = sessionOptions(common);
    if (!options) return options.error();
    std::mutex mutex;
    std::condition_variable answered;
    std::optional<Result<nlohmann::json>> answer;
    const auto give = [&](Result<nlohmann::json> result) {
        const std::lock_guard lock(mutex);
        if (!answer) answer = std::move(result);
        answered.notify_all();
    };
    StopSignals signals([&] { give(makeError(ErrorCode::cancelled, "cancelled")); });
    EngineWait waiting(common, *options);
    SessionListener listener;
    listener.hello = [&](const Hello&) { waiting.over(); };
    listener.log = [&](const std::string& line) { say(common, "engine: " + line); };
    Session session(*options, nullptr, std::move(listener));
    session.call(method, std::move(params), give);
    std::unique_lock lock(mutex);
    answered.wait(lock, [&] { return answer.has_value(); });
    auto result = std::move(*answer);
    lock.unlock();  // the session's end may still call `give`
    return result;
}

}  // namespace kernelscope::cli
