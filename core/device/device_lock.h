#pragma once
// One job a GPU: engines of one user take turns on it, whoever started them. Held by a process, so that it ends with it,
// however that ends. One implementation a platform (device_lock_posix.cpp).

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace kernelscope {

class DeviceLock {
public:
    virtual ~DeviceLock() = default;

    /// The lock of this name (a GPU's bus id), or null while another holds it; `holder` then gets its process number, as far as
    /// known. On a machine that has no place for locks everybody gets one.
    static std::unique_ptr<DeviceLock> tryTake(const std::string& name, std::string& holder);

    /// Waits for it. `waiting` is called at once and about once a second. Null when stopped.
    static std::unique_ptr<DeviceLock> take(const std::string& name, const std::stop_token& stop, const std::function<void(const std::string& holder)>& waiting);
};

}  // namespace kernelscope
