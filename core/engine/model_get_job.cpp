// Fetches a model from the hub into the cache of this machine. Measures nothing and needs no torch.

#include <fmt/format.h>

#include "core/engine/model_get_job.h"
#include "core/engine/settings.h"
#include "core/hub/fetch.h"
#include "core/model/files.h"
#include "core/records/format.h"

namespace kernelscope {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

class ModelGetJob final : public Job {
public:
    explicit ModelGetJob(const JobRequest& request) : m_request(request) {}

    Result<JobStarted> prepare(ModelHolder&) override {
        SettingsReader reader(m_request.settings);
        m_options.id = m_request.model;
        m_options.revision = reader.text("revision", "main");
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();
        if (const Result<void> named = checkHubName(m_options.id, m_options.revision); !named) return named.error();
        m_place = hubPlace();
        JobStarted started;
        started.environment = {{"hub", m_place.endpoint}, {"cache", toUtf8(m_place.cache)}};
        started.model = m_options.id;
        started.weights = "file";
        started.device = m_place.endpoint;
        started.settings = std::move(*complete);
        return started;
    }

    Finished run(JobContext& context) override {
        m_options.progress = [&](const FetchProgress& now) {
            // MiB: a bar of thousands is as smooth as one of billions, and people read its figures.
            context.progress({now.totalBytes > 0 ? now.phase + ", MiB" : now.phase, now.bytes / kMebibyte, (now.totalBytes + kMebibyte - 1) / kMebibyte, now.secondsLeft, {}});
        };
        const Result<FetchedModel> fetched = fetchModel(m_place, m_options, context.stop);
        if (!fetched) return failed(fetched.error());
        Finished finished;
        finished.headline = fmt::format("{}: {} files, {}", m_options.id, fetched->files, formatBytes(static_cast<double>(fetched->bytes)));
        finished.result = {{"model", m_options.id},       {"revision", m_options.revision}, {"commit", fetched->commit},           {"folder", toUtf8(fetched->folder)},
                           {"files", fetched->files},     {"bytes", fetched->bytes},        {"fetched_bytes", fetched->fetchedBytes}};
        return finished;
    }

private:
    JobRequest m_request;
    FetchOptions m_options;
    HubPlace m_place;
};

}  // namespace

std::unique_ptr<Job> makeModelGetJob(const JobRequest& request) { return std::make_unique<ModelGetJob>(request); }

}  // namespace kernelscope
