#pragma once
// The worker side of the protocol: answers requests on the thread that reads them, runs one job on another.

namespace kernelscope {

class ProtocolStream;

/// Serves until standard input closes. Never returns while a job runs: the process leaves at once then.
int serve(ProtocolStream& stream);

}  // namespace kernelscope
