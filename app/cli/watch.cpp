#include "app/cli/watch.h"

#include <atomic>
#include <thread>

#include <fmt/core.h>

#include "core/client/kernel_versions.h"

namespace kernelscope::cli {

namespace {

using std::chrono::milliseconds;

// Twice this from a save to the start of its run: the file has to stand still for one look.
constexpr auto kBetweenLooks = milliseconds(150);
constexpr int kCancelled = static_cast<int>(ErrorCode::cancelled);

std::string shortVersion(const std::string& version) { return version.substr(0, 8); }

class Watcher {
public:
    Watcher(const CommonOptions& common, const OwnKernelOption& kernel) : m_common(common), m_file(kernel.path()), m_variant(kernel.variant()), m_runner(common) {}

    int run(const JobRequest& request, const JobHooks& hooks) {
        if (const int code = m_runner.open(); code != 0) return code;
        bool waits = false;
        while (!m_runner.stopped()) {
            if (!look()) {
                if (!waits && m_number > 0) say(m_common, fmt::format("waiting for the next save of {} (Ctrl+C ends)", m_file));
                waits = true;
                m_runner.pause(kBetweenLooks);
                continue;
            }
            waits = false;
            oneVersion(request, hooks);
        }
        return kCancelled;
    }

private:
    /// Is there a version that has not been tried?
    bool look() {
        const auto answer = m_runner.ask("kernel.version", {{"file", m_file}});
        if (answer) {
            m_complaint.clear();
            return m_watch.look(answer->value("version", ""));
        }
        if (answer.error().code == ErrorCode::cancelled) return false;
        // An editor may be putting another file in its place; said once, where it is not there at all.
        if (m_complaint != answer.error().message && ++m_misses > kMissesToSay) {
            m_complaint = answer.error().message;
            m_misses = 0;
            report(answer.error());
        }
        return false;
    }

    void oneVersion(const JobRequest& request, const JobHooks& hooks) {
        ++m_number;
        say(m_common, fmt::format("version {} of {} ({})", m_number, m_variant, shortVersion(m_watch.current())));
        JobRequest one = request;
        JobRun run;
        std::atomic<bool> over = false;
        bool superseded = false;
        {
            // A newer version ends the run of an older one: nobody waits for that any more.
            std::jthread looker([&] {
                while (!over && m_runner.pause(kBetweenLooks)) {
                    if (!look()) continue;
                    superseded = true;
                    m_runner.cancelRun();
                    return;
                }
            });
            m_runner.run(std::move(one), hooks, &run);
            over = true;
        }
        KernelVersion version = versionOf(run.header, run.finished, run.rows, m_variant);
        version.number = m_number;
        print(fmt::format("version {}: {}\n", m_number, superseded ? "another was saved meanwhile" : versionWords(version)));
        if (superseded) return oneVersion(request, hooks);
        if (!version.firstWrong.empty()) print(fmt::format("  {}\n", version.firstWrong));
        if (m_last) compare(*m_last, version);
        // After a version that was broken, what counts is the one before it.
        if (m_lastTimed && m_lastTimed->number != m_last->number && version.speedup) compare(*m_lastTimed, version);
        if (version.speedup && version.firstWrong.empty()) m_lastTimed = version;
        m_last = std::move(version);
    }

    static void compare(const KernelVersion& before, const KernelVersion& now) {
        for (const std::string& line : changesBetween(before, now)) print(fmt::format("  against version {}: {}\n", before.number, line));
    }

    static constexpr int kMissesToSay = 5;
    const CommonOptions& m_common;
    const std::string m_file, m_variant;
    VersionWatch m_watch;
    std::string m_complaint;
    int m_misses = 0, m_number = 0;
    std::optional<KernelVersion> m_last, m_lastTimed;
    JobRunner m_runner;
};

}  // namespace

int watchKernel(const CommonOptions& common, const JobRequest& request, const JobHooks& hooks, const OwnKernelOption& kernel) {
    if (!kernel.given()) return report(makeError(ErrorCode::usage, "--watch needs a kernel of your own to watch", "give --kernel FILE"));
    return Watcher(common, kernel).run(request, hooks);
}

}  // namespace kernelscope::cli
