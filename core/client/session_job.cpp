#include <algorithm>

#include "core/client/session_impl.h"
#include "core/client/store.h"
#include "core/records/kernel_fault.h"
#include "core/records/row_key.h"
#include "core/records/rows.h"

namespace kernelscope {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {
/// A variant that took three engines with it in a row would take the next one too.
constexpr int kCrashesToGiveUp = 3;
/// Engines that die at once, with no row and no cell to blame: the machine is at fault, not a kernel.
constexpr int kFruitlessDeaths = 3;
/// Pauses of 1, 2, 4, 8, 10, 10, ... s: a minute of no network, or of a machine that starts again, costs nothing but time.
constexpr int kReconnects = 10;
}  // namespace

void Session::Impl::beginJob(JobRequest request, std::string command, std::string resumes, std::shared_ptr<RunWriter> writer) {
    m_job.emplace();
    m_job->writer = writer ? std::move(writer) : std::make_shared<RunWriter>(m_store);
    m_job->header.kind = request.kind;
    m_job->header.command = command;
    m_job->header.model = request.model;
    m_job->header.device = request.device;
    m_job->header.dtype = request.dtype;
    m_job->header.settings = request.settings;
    m_job->header.seed = request.seed;
    if (request.device == "cpu" || request.device.starts_with("cuda:")) m_job->device = request.device;
    m_job->request = std::move(request);
    m_job->resumes = std::move(resumes);
    if (m_stop) return cancelJob();
    if (!m_job->resumes.empty()) {
        // Known before the engine is asked: what is there need not be measured.
        const auto run = m_store ? m_store->run(m_job->resumes) : Result<RunSummary>(makeError(ErrorCode::badInput, "there is no store to resume a run from"));
        const auto rows = run ? m_store->rows(run->header.id, m_job->header.kind) : Result<std::vector<RowRecord>>(run.error());
        if (!rows || run->header.kind != m_job->header.kind) {
            Finished refused;
            refused.status = RunStatus::failed;
            refused.error = rows ? makeError(ErrorCode::badInput, "run " + run->header.id + " is a " + run->header.kind + ", not a " + m_job->header.kind) : rows.error();
            return endJob(std::move(refused));
        }
        for (const RowRecord& row : *rows) m_job->measured.insert(row.key);
    }
    if (ensureEngine() && m_link->ready()) sendJob();
}

/// The engines of a spread job are sessions of their own; what they report comes back to this session's thread.
void Session::Impl::beginSpread(JobRequest request, std::string command, std::string resumes) {
    auto devices = parseDevices(request.device);
    if (devices && request.kind != "sweep") devices = makeError(ErrorCode::usage, "a " + request.kind + " runs on one device, not on " + request.device, "only a sweep can be spread");
    const auto refuse = [&](const Error& why) {
        m_spread.reset();
        Finished refused;
        refused.status = RunStatus::failed;
        refused.error = why;
        RunHeader header;
        header.kind = request.kind;
        header.status = refused.status;
        header.reason = why.message;
        tellEnd(header, refused);
    };
    if (!devices) return refuse(devices.error());
    const auto here = [this](auto member) {
        return [this, member](const auto&... event) {
            post([this, member, event...] { if (m_listener.*member) (m_listener.*member)(event...); });
        };
    };
    SessionListener listener;
    listener.jobStarted = here(&SessionListener::jobStarted);
    listener.progress = here(&SessionListener::progress);
    listener.row = here(&SessionListener::row);
    listener.log = here(&SessionListener::log);
    listener.jobFinished = [this](const RunHeader& run, const Finished& finished) {
        post([this, run, finished] {
            m_spread.reset();
            tellEnd(run, finished);
        });
    };
    SessionOptions options = m_options;
    options.telemetryIntervalMs = 0;
    m_spread = std::make_unique<SpreadSession>(options, std::move(*devices), m_store, std::move(listener));
    const auto started = resumes.empty() ? m_spread->start(request, std::move(command)) : m_spread->resume(std::move(resumes), request);
    if (!started) return refuse(started.error());
    if (m_stop) m_spread->cancel();
}

void Session::Impl::sendJob() {
    setState(EngineState::busy);
    m_job->sent = true;
    m_job->started = false;
    m_job->cell.clear();
    m_job->kernel.clear();
    m_job->lastKernel.clear();
    m_job->lastSign = Clock::now();
    JobRequest request = m_job->request;
    request.skip.insert(request.skip.end(), m_job->measured.begin(), m_job->measured.end());
    for (const auto& [variant, crashes] : m_job->crashesInARow)
        if (crashes >= kCrashesToGiveUp) request.giveUp.push_back(variant);
    m_link->request("job.start", toJson(request), [this](Result<json> answer) { onStarted(std::move(answer)); });
}

void Session::Impl::onStarted(Result<json> answer) {
    if (!m_job || !m_link) return;  // lost meanwhile; the job was told so
    if (!answer) {
        Finished refused;
        refused.status = m_job->cancelling ? RunStatus::cancelled : RunStatus::failed;
        refused.error = m_job->abandoned.value_or(answer.error());
        return endJob(std::move(refused));
    }
    const auto started = jobStartedFromJson(*answer);
    if (!started) return giveUpBroken(started.error());
    m_job->started = true;
    m_job->lastSign = Clock::now();
    if (m_job->everStarted) return;  // a restart: the run's header says all of it already
    m_job->everStarted = true;
    RunHeader& header = m_job->header;
    header.environment = started->environment;
    header.model = started->model;
    header.weights = started->weights;
    header.device = started->device;
    header.dtype = started->dtype;
    header.settings = started->settings;
    // Rows of one run are of one version of a kernel that is being worked on: another engine has to find the same.
    if (const auto version = started->settings.find("kernel_version"); version != started->settings.end()) m_job->request.settings["kernel_version"] = *version;
    header.status = RunStatus::running;
    header.when = timeStamp();
    auto opened = m_job->writer->open(header, m_job->resumes);
    if (!opened) return abandon(opened.error());
    header = std::move(*opened);
    if (m_listener.jobStarted) m_listener.jobStarted(header);
}

void Session::Impl::onProgress(const json& params) {
    auto progress = progressFromJson(params);
    if (!progress) return log("not understood: " + progress.error().message);
    m_job->lastSign = Clock::now();
    // Counts are the engine's word; a bar cannot show -3 of 2.
    progress->total = std::max<std::int64_t>(progress->total, 0);
    progress->done = std::max<std::int64_t>(progress->done, 0);
    if (progress->total > 0) progress->done = std::min(progress->done, progress->total);
    m_job->phase = progress->phase;
    m_job->cell = progress->cell;
    m_job->kernel = kernelOf(params);
    if (!m_job->kernel.empty()) m_job->lastKernel = m_job->kernel;
    flushRows();
    if (m_listener.progress) m_listener.progress(*progress);
}

void Session::Impl::onRow(const json& params) {
    auto row = rowRecordFromJson(params);
    if (!row) return log("not understood: " + row.error().message);
    m_job->lastSign = Clock::now();
    if (row->type == m_job->header.kind && isResumable(row->type)) {
        // Only a new row is progress: an engine that measures the same one and dies, again and again, gets nowhere.
        if (m_job->measured.insert(row->key).second) m_job->fruitlessDeaths = m_job->lostConnections = 0;
        m_job->crashesInARow.erase(keyPrefix(row->key, 2));
        if (row->key == m_job->cell) m_job->cell.clear();
        if (std::string device = deviceOf(*row); !device.empty()) m_job->device = std::move(device);
    }
    m_job->noteProgressOf(*row);
    m_job->pending.push_back(std::move(*row));
    // A batch is what one read of the pipe held; a flood of rows is written piece by piece.
    constexpr std::size_t kBatch = 4096;
    if (m_job->pending.size() >= kBatch) flushRows();
}

void Session::Impl::flushRows() {
    if (!m_job || m_job->pending.empty()) return;
    const auto rows = std::exchange(m_job->pending, {});
    if (const auto stored = m_job->writer->put(m_job->header, rows); !stored) return abandon(stored.error());
    if (m_listener.row)
        for (const RowRecord& row : rows) m_listener.row(row);
}

void Session::Impl::onFinished(const json& params) {
    auto finished = finishedFromJson(params);
    if (!finished) return giveUpBroken(finished.error());
    // A cell that faulted the device fails the whole job in the engine's eyes; to us it is one cell of many.
    if (finished->status == RunStatus::failed && !m_job->cell.empty() && isResumable(m_job->header.kind) && !m_job->stopping())
        return m_link->giveUp(finished->error);
    endJob(std::move(*finished));
}

void Session::Impl::cancelJob() {
    if (m_spread) return m_spread->cancel();
    if (!m_job || m_job->cancelling) return;
    m_job->cancelling = true;
    if (!m_job->sent) {
        Finished cancelled;
        cancelled.status = RunStatus::cancelled;
        return endJob(std::move(cancelled));
    }
    askToStop();
}

void Session::Impl::abandon(Error why) {
    if (!m_job || m_job->abandoned) return;
    m_job->abandoned = std::move(why);
    askToStop();
}

void Session::Impl::askToStop() {
    m_job->stopBy = Clock::now() + m_options.cancelGrace;
    if (m_link) m_link->request("job.cancel", json::object(), [](Result<json>) {});
}

void Session::Impl::jobLostItsEngine(const Error& why, const std::string& diedOf, bool hung, bool cut) {
    RunningJob& job = *m_job;
    const std::string cell = std::exchange(job.cell, {});
    const bool wasSent = job.sent;
    const auto blamed = wasSent && (hung || !diedOf.empty()) ? kernelToBlame(job, diedOf, hung ? std::optional(silenceDeadline()) : std::nullopt) : std::nullopt;
    job.sent = job.started = false;
    Finished finished;
    finished.status = job.cancelling ? RunStatus::cancelled : RunStatus::failed;
    finished.error = job.abandoned.value_or(why);
    if (finished.status == RunStatus::failed && !job.abandoned && wasSent && !job.phase.empty())
        finished.error.message += " (during: " + job.phase + (cell.empty() ? "" : ", " + cell) + ")";
    if (blamed && finished.status == RunStatus::failed && !job.abandoned) finished.error = *blamed;
    if (job.cancelling) finished.error = {};
    if (job.stopping() || !job.everStarted || !isResumable(job.header.kind)) return endJob(std::move(finished));

    if (cut && ++job.lostConnections <= kReconnects) return connectLater(why);  // the cell is not to blame, and is measured again
    if (cut) return endJob(std::move(finished));
    if (auto row = rowOfLostCell(job, cell, hung ? "hung" : "crashed", why.message)) {
        job.fruitlessDeaths = 0;
        job.measured.insert(cell);
        ++job.crashesInARow[keyPrefix(cell, 2)];
        job.pending.push_back(std::move(*row));
        flushRows();
        if (job.abandoned) return endJob(std::move(finished));
    } else if (++job.fruitlessDeaths >= kFruitlessDeaths) {
        return endJob(std::move(finished));
    }
    log("starting the engine again: " + why.message);
    ensureEngine();
}

void Session::Impl::connectLater(const Error& why) {
    const auto pause = m_options.reconnectPause * std::min(1 << (m_job->lostConnections - 1), 10);
    m_connectAt = Clock::now() + pause;
    log(why.message + "; trying again in " + std::to_string((pause.count() + 999) / 1000) + " s");
    Progress waiting;
    waiting.phase = "Connecting again";
    if (m_listener.progress) m_listener.progress(waiting);
}

void Session::Impl::endJob(Finished finished) {
    // An engine that was killed has left rows that say they are being measured.
    if (finished.status != RunStatus::done)
        for (RowRecord& row : m_job->finishRows(m_job->cancelling ? RunStatus::cancelled : finished.status)) m_job->pending.push_back(std::move(row));
    flushRows();
    if (m_job->abandoned && !m_job->cancelling) {
        finished.status = RunStatus::failed;
        finished.error = *m_job->abandoned;
    }
    RunHeader& header = m_job->header;
    if (m_job->cancelling && finished.status == RunStatus::failed) finished.status = RunStatus::cancelled;
    header.status = finished.status;
    header.reason = finished.status == RunStatus::done ? std::string() : finished.error.message;
    if (finished.status == RunStatus::cancelled) header.reason = "cancelled by the user";
    header.headline = finished.headline;
    header.result = finished.result;
    m_job->writer->close(header, finished);
    m_connectAt.reset();
    const RunHeader last = header;
    m_job.reset();
    if (m_link && m_link->ready()) setState(EngineState::idle);
    tellEnd(last, finished);
}

void Session::Impl::tellEnd(const RunHeader& run, const Finished& finished) {
    if (m_listener.jobFinished) m_listener.jobFinished(run, finished);
    {
        const std::lock_guard lock(m_mutex);
        m_jobActive = false;
    }
    m_jobEnded.notify_all();
}

}  // namespace kernelscope
