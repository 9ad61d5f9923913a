#pragma once
// Errors are values at the borders between parts.

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace kernelscope {

/// What kind of failure it is. The numbers are the exit codes of the command line, so that
/// one error means the same in a script, on the wire and in the window.
enum class ErrorCode {
    regression = 1,   ///< a comparison that was asked to judge found a regression
    wrong = 2,        ///< a kernel gave a wrong result
    cantTell = 3,     ///< cells crashed, hung or were too noisy to judge
    environment = 4,  ///< no such device, engine will not start, out of memory, store not writable
    usage = 64,       ///< the request itself makes no sense
    badInput = 65,    ///< a file, folder or run that cannot be used
    cancelled = 130,  ///< the user stopped it
};

/// A failure in words: the thing and the cause in `message`, the way out in `advice` (may be empty).
struct Error {
    ErrorCode code = ErrorCode::environment;
    std::string message;
    std::string advice;

    bool operator==(const Error&) const = default;
};

inline Error makeError(ErrorCode code, std::string message, std::string advice = {}) {
    return {code, std::move(message), std::move(advice)};
}

/// A value or an Error. Converts implicitly from both, so `return value;` and `return makeError(...)` work.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { assert(ok()); return std::get<0>(m_state); }
    const T& value() const& { assert(ok()); return std::get<0>(m_state); }
    T value() && { assert(ok()); return std::get<0>(std::move(m_state)); }  // by value: `for (auto& x : *f())` must not dangle
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const { assert(!ok()); return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_state(std::move(error)) {}

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }
    const Error& error() const { assert(!ok()); return std::get<1>(m_state); }

private:
    std::variant<std::monostate, Error> m_state;
};

}  // namespace kernelscope
