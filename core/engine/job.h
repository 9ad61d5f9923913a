#pragma once
// A job: prepared quickly (settings, model folder, device, memory), then run on a thread of its own.

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/records/protocol.h"
#include "core/records/result.h"
#include "core/records/row.h"

namespace kernelscope {

class ModelHolder;

/// What a running job may use. Its functions may be called from the job's thread only.
struct JobContext {
    std::stop_token stop;
    std::function<void(const Progress&)> progress;
    std::function<void(const RowRecord&)> record;
    ModelHolder& models;
    /// "rms_norm=my_norm": what of a patch runs now. Every progress says so, and a fault meanwhile is laid at its door.
    std::string kernel = {};

    template <typename Row>
    void row(const std::string& key, const Row& row) const {
        record({std::string(RowSchema<Row>::kName), key, valuesOf(row)});
    }
};

class Job {
public:
    virtual ~Job() = default;
    /// Checks everything that can be checked before work begins. Fast; no weights are read.
    virtual Result<JobStarted> prepare(ModelHolder& models) = 0;
    /// Runs to the end, to a failure, or to `context.stop`. May throw; the server turns that into a failed job.
    virtual Finished run(JobContext& context) = 0;
};

struct JobKind {
    std::string_view name;
    std::unique_ptr<Job> (*make)(const JobRequest& request);
};

/// Every kind of job there is. Adding one: its file, and its line here.
std::span<const JobKind> jobKinds();

std::unique_ptr<Job> makeProfileJob(const JobRequest& request);
std::unique_ptr<Job> makeGenerateJob(const JobRequest& request);
std::unique_ptr<Job> makeEndToEndJob(const JobRequest& request);
std::unique_ptr<Job> makeValidateJob(const JobRequest& request);
std::unique_ptr<Job> makeSweepJob(const JobRequest& request);
std::unique_ptr<Job> makeTuneJob(const JobRequest& request);
std::unique_ptr<Job> makeContextJob(const JobRequest& request);

/// Finished with status cancelled or failed.
Finished cancelled();
Finished failed(Error error);

}  // namespace kernelscope
