// What a hub's answers mean, in words.

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include <fmt/format.h>

#include "core/hub/blob.h"

namespace kernelscope {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::string headerOf(const HttpAnswer& answer, const char* name) {
    const auto found = answer.headers.find(name);
    return found == answer.headers.end() ? std::string() : found->second;
}

/// 401, 403, 404 and what else is final.
Error refusal(const HttpAnswer& answer, const HubModel& model) {
    const std::string code = headerOf(answer, "x-error-code"), page = model.place.endpoint + "/" + model.id;
    const bool gated = code == "GatedRepo";
    const bool hasToken = !model.place.token.empty();
    switch (answer.status) {
        case 401:
            if (gated) return makeError(ErrorCode::badInput, fmt::format("the hub gives {} only to those who accepted its terms (401)", model.id), fmt::format("accept them at {}, and set HF_TOKEN", page));
            if (hasToken) return makeError(ErrorCode::badInput, fmt::format("the hub does not accept the token for {} (401)", model.id), "look at HF_TOKEN: it may have expired; and at the model's name");
            return makeError(ErrorCode::badInput, fmt::format("the hub has no model {}, or shows it only to those who are logged in (401)", model.id), "check the name; a private or gated model needs a token in HF_TOKEN");
        case 403:
            return makeError(ErrorCode::badInput, fmt::format("the hub does not let {} be read{} (403)", model.id, hasToken ? " with this token" : ""),
                             fmt::format("accept the model's terms at {}{}", page, hasToken ? ", or take a token that may read it" : ", and set HF_TOKEN"));
        case 404:
            if (code == "RevisionNotFound") return makeError(ErrorCode::badInput, fmt::format("{} has no revision '{}' (404)", model.id, model.revision), "leave --revision out for the newest");
            return makeError(ErrorCode::badInput, fmt::format("the hub has no model {} (404)", model.id), "check the name: an owner, a slash, the model, as its page shows it");
        case 429:
            return makeError(ErrorCode::environment, "the hub refuses more requests for now (429)", "try again later; what has arrived is kept. A token in HF_TOKEN raises the limit");
        default:
            return makeError(ErrorCode::environment, fmt::format("the hub answers {} with status {}", model.id, answer.status), answer.status >= 500 ? "it is out of order; try again later. What has arrived is kept" : "");
    }
}

std::string hostOf(const std::string& url) {
    const auto begin = url.find("://");
    const std::string rest = begin == std::string::npos ? url : url.substr(begin + 3);
    return rest.substr(0, rest.find_first_of("/?"));
}

/// False when told to stop.
bool wait(milliseconds time, const std::stop_token& stop, const std::function<void(milliseconds left)>& tick) {
    std::mutex mutex;
    std::condition_variable_any woken;
    std::unique_lock lock(mutex);
    const auto until = Clock::now() + time;
    while (Clock::now() < until && !stop.stop_requested()) {
        const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
        tick(left);
        woken.wait_for(lock, stop, std::min(left, milliseconds(200)), [] { return false; });
    }
    return !stop.stop_requested();
}

}  // namespace

Result<HttpAnswer> askHub(Http& http, const HubModel& model, const HttpRequest& request, const Http::Body& body, const std::stop_token& stop, const FetchPatience& patience,
                          const FetchListener& listener) {
    const auto say = [&](const std::string& phase) { if (listener.moved) listener.moved(phase, -1); };
    milliseconds pause = patience.pause;
    for (int attempt = 1;; ++attempt, pause *= 2) {
        auto answer = http.get(request, body, stop, [&] { say({}); });
        if (!answer && answer.error().code == ErrorCode::cancelled) return answer;
        const bool last = attempt >= patience.attempts;
        std::string phase = "Asking again";
        milliseconds time = pause;
        if (!answer) {
            if (last || attempt >= 3) {  // a host that is not there seldom comes back within the minute
                return makeError(ErrorCode::environment, fmt::format("the hub {} cannot be reached: {}", hostOf(model.place.endpoint), answer.error().message),
                                 answer.error().advice.empty() ? "check the network, and the proxy if one is needed (https_proxy); HF_ENDPOINT names another hub; `model list` shows what is here already" : answer.error().advice);
            }
        } else if (answer->status < 400) {
            return answer;
        } else if (answer->status == 429 || answer->status >= 500) {
            const std::string asked = headerOf(*answer, "retry-after");
            if (!asked.empty()) time = std::chrono::seconds(std::clamp(std::atol(asked.c_str()), 0L, 86'400L));
            if (last || time > patience.longestWait) {
                Error error = refusal(*answer, model);
                if (!asked.empty()) error.message += fmt::format("; it asks to wait {} s", time.count() / 1000);
                return error;
            }
            phase = answer->status == 429 ? "The hub asks to wait" : "The hub is out of order, asking again";
        } else {
            return refusal(*answer, model);
        }
        if (!wait(time, stop, [&](milliseconds left) { say(fmt::format("{}, {} s", phase, (left.count() + 999) / 1000)); })) return makeError(ErrorCode::cancelled, "Cancelled");
    }
}

}  // namespace kernelscope
