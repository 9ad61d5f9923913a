#pragma once
// A sweep spread over several engines, one a device, whose rows make one run.

#include <memory>
#include <string>
#include <vector>

#include "core/client/session.h"

namespace kernelscope {

/// "cuda:0,cuda:1" -> its parts. Errors: usage; a GPU may stand in the list once, since two jobs on one would disturb each other.
Result<std::vector<std::string>> parseDevices(const std::string& text);

/// Begins once every engine has said hello and has its device: a list with a device that is not there is refused, and nothing is written.
/// Deals the shapes of a sweep out to one engine a device: variants of a shape stay together, for they share rounds and a baseline.
/// The first device that fails for good ends the others; what they measured stays, and the run can be resumed.
class SpreadSession {
public:
    /// As Session's; every engine is started by the same command.
    SpreadSession(const SessionOptions& options, std::vector<std::string> devices, Store* store, SessionListener listener);
    ~SpreadSession();  ///< cancels, stops the engines, joins
    SpreadSession(const SpreadSession&) = delete;
    SpreadSession& operator=(const SpreadSession&) = delete;

    /// Once. jobStarted and jobFinished are reported once for all; progress is that of all together.
    Result<void> start(JobRequest request, std::string command);
    Result<void> resume(std::string runId, JobRequest request);
    void cancel();
    void wait();

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace kernelscope
