#pragma once
// HTTP by libcurl, which is opened at run time: an engine on a machine without it starts all the same. Proxies as libcurl takes
// them from the environment.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

struct HttpRequest {
    std::string url;
    std::string bearer;             ///< a token; it is never sent on to another host
    std::int64_t from = 0;          ///< first byte wanted
};

struct HttpAnswer {
    int status = 0;                 ///< of the last answer, after redirects
    std::map<std::string, std::string> headers;  ///< of the last answer, names in lower case
    std::string cut;                ///< why the connection ended before the body did; empty when it did not
};

class Http {
public:
    /// Errors: environment, when libcurl is not there.
    static Result<std::unique_ptr<Http>> open();
    ~Http();

    /// Called for each piece of the body of the last answer; the answer's status and headers are known. False: stop, as a cut.
    using Body = std::function<bool(const HttpAnswer&, std::string_view)>;
    /// Called several times a second, also while nothing arrives.
    using Tick = std::function<void()>;

    /// Follows redirects. An answer that came, whatever its status, is a value; a connection that broke within the body is one
    /// with `cut`. Errors: environment (no such host, nothing listens, no secure connection), cancelled.
    Result<HttpAnswer> get(const HttpRequest& request, const Body& body, const std::stop_token& stop, const Tick& tick = {});

private:
    class Impl;
    explicit Http(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace kernelscope
