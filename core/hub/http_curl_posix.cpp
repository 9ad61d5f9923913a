#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <mutex>

#include <curl/curl.h>
#include <fmt/format.h>

#include "core/hub/http.h"

namespace kernelscope {

namespace {

/// The functions we use. Their types come from curl's header, the library from the machine.
struct Library {
    std::string problem;
    decltype(&curl_global_init) globalInit = nullptr;
    decltype(&curl_easy_init) init = nullptr;
    decltype(&curl_easy_cleanup) cleanup = nullptr;
    decltype(&curl_easy_setopt) setopt = nullptr;
    decltype(&curl_easy_getinfo) getinfo = nullptr;
    decltype(&curl_easy_perform) perform = nullptr;
    decltype(&curl_easy_reset) reset = nullptr;
    decltype(&curl_easy_strerror) words = nullptr;

    Library() {
        void* handle = nullptr;
        for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
            if (!handle) handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            problem = "libcurl is not installed on the engine's machine (libcurl.so.4 not found)";
            return;
        }
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
            if (!function) problem = fmt::format("libcurl has no function {}", name);
        };
        find(globalInit, "curl_global_init");
        find(init, "curl_easy_init");
        find(cleanup, "curl_easy_cleanup");
        find(setopt, "curl_easy_setopt");
        find(getinfo, "curl_easy_getinfo");
        find(perform, "curl_easy_perform");
        find(reset, "curl_easy_reset");
        find(words, "curl_easy_strerror");
        if (problem.empty() && globalInit(CURL_GLOBAL_DEFAULT) != CURLE_OK) problem = "libcurl does not start";
    }
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    return text;
}

bool isRedirect(int status) { return status == 301 || status == 302 || status == 303 || status == 307 || status == 308; }

/// One call's state, as curl's C functions get it.
struct Call {
    HttpAnswer answer;
    const Http::Body& body;
    const Http::Tick& tick;
    const std::stop_token& stop;

    static std::size_t header(char* bytes, std::size_t, std::size_t count, void* self) {
        HttpAnswer& answer = static_cast<Call*>(self)->answer;
        const std::string_view line = trimmed({bytes, count});
        if (line.starts_with("HTTP/")) {  // one more answer: a redirect's, or the one that counts
            answer = {};
            if (const auto space = line.find(' '); space != std::string_view::npos) answer.status = std::atoi(std::string(line.substr(space + 1, 3)).c_str());
        } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
            answer.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
        }
        return count;
    }
    static std::size_t write(char* bytes, std::size_t, std::size_t count, void* self) {
        Call& call = *static_cast<Call*>(self);
        if (isRedirect(call.answer.status)) return count;
        return call.body(call.answer, {bytes, count}) ? count : 0;
    }
    static int progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        Call& call = *static_cast<Call*>(self);
        if (call.tick) call.tick();
        return call.stop.stop_requested() ? 1 : 0;
    }
};

}  // namespace

class Http::Impl {
public:
    explicit Impl(CURL* handle) : m_handle(handle) {}
    ~Impl() { library().cleanup(m_handle); }

    Result<HttpAnswer> get(const HttpRequest& request, const Body& body, const std::stop_token& stop, const Tick& tick) {
        const Library& curl = library();
        Call call{{}, body, tick, stop};
        char words[CURL_ERROR_SIZE] = "";
        curl.reset(m_handle);
        curl.setopt(m_handle, CURLOPT_URL, request.url.c_str());
        curl.setopt(m_handle, CURLOPT_ERRORBUFFER, words);
        curl.setopt(m_handle, CURLOPT_NOSIGNAL, 1L);
        curl.setopt(m_handle, CURLOPT_USERAGENT, "kernelscope");
        curl.setopt(m_handle, CURLOPT_FOLLOWLOCATION, 1L);
        curl.setopt(m_handle, CURLOPT_MAXREDIRS, 10L);
        curl.setopt(m_handle, CURLOPT_PROTOCOLS_STR, "http,https");
        curl.setopt(m_handle, CURLOPT_REDIR_PROTOCOLS_STR, request.url.starts_with("https:") ? "https" : "http,https");
        curl.setopt(m_handle, CURLOPT_CONNECTTIMEOUT, 20L);
        curl.setopt(m_handle, CURLOPT_LOW_SPEED_LIMIT, 1L);  // a silent minute is a cut
        curl.setopt(m_handle, CURLOPT_LOW_SPEED_TIME, 60L);
        curl.setopt(m_handle, CURLOPT_BUFFERSIZE, 512L * 1024);
        curl.setopt(m_handle, CURLOPT_HEADERFUNCTION, &Call::header);
        curl.setopt(m_handle, CURLOPT_HEADERDATA, &call);
        curl.setopt(m_handle, CURLOPT_WRITEFUNCTION, &Call::write);
        curl.setopt(m_handle, CURLOPT_WRITEDATA, &call);
        curl.setopt(m_handle, CURLOPT_NOPROGRESS, 0L);
        curl.setopt(m_handle, CURLOPT_XFERINFOFUNCTION, &Call::progress);
        curl.setopt(m_handle, CURLOPT_XFERINFODATA, &call);
        const std::string range = std::to_string(request.from) + "-";
        if (request.from > 0) curl.setopt(m_handle, CURLOPT_RANGE, range.c_str());
        if (!request.bearer.empty()) {
            curl.setopt(m_handle, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
            curl.setopt(m_handle, CURLOPT_XOAUTH2_BEARER, request.bearer.c_str());  // curl keeps it from other hosts
        }
        const CURLcode code = curl.perform(m_handle);
        if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
        if (code == CURLE_OK) return std::move(call.answer);
        const std::string why = *words ? words : curl.words(code);
        const bool began = call.answer.status != 0 && !isRedirect(call.answer.status);
        if (began) {
            call.answer.cut = why;
            return std::move(call.answer);
        }
        return makeError(ErrorCode::environment, why, code == CURLE_PEER_FAILED_VERIFICATION ? "the machine's certificates (ca-certificates) may be missing or old, or a proxy may stand between" : "");
    }

private:
    CURL* m_handle;
};

Http::Http(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Http::~Http() = default;

Result<std::unique_ptr<Http>> Http::open() {
    if (!library().problem.empty()) return makeError(ErrorCode::environment, library().problem, "install libcurl4 (Debian, Ubuntu) there, or copy the model's folder by hand");
    CURL* handle = library().init();
    if (!handle) return makeError(ErrorCode::environment, "libcurl makes no handle");
    return std::unique_ptr<Http>(new Http(std::make_unique<Impl>(handle)));
}

Result<HttpAnswer> Http::get(const HttpRequest& request, const Body& body, const std::stop_token& stop, const Tick& tick) { return m_impl->get(request, body, stop, tick); }

}  // namespace kernelscope
