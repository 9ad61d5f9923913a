#include "core/hub/fetch.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include "core/model/files.h"
#include "core/model/hub_cache.h"
#include "core/records/format.h"

namespace kernelscope {

namespace fs = std::filesystem;

namespace {

Error cannotWrite(const fs::path& file, const std::error_code& error) {
    return makeError(ErrorCode::environment, fmt::format("cannot write {}: {}", toUtf8(file), error.message()), "choose a cache that you may write to: HF_HUB_CACHE");
}

/// Adds up what the files' own progress says.
class Meter {
public:
    Meter(const FetchOptions& options, std::int64_t total) : m_options(options), m_total(total) {}

    FetchListener listener() {
        return {[this](const std::string& phase, std::int64_t bytesInFile) { moved(phase, bytesInFile); }, [this](std::int64_t bytes) { m_fetched += bytes; }};
    }
    void fileDone(std::int64_t bytes) {
        m_before += bytes;
        m_inFile = 0;
    }
    [[nodiscard]] std::int64_t fetched() const { return m_fetched; }

private:
    using Clock = std::chrono::steady_clock;

    void moved(const std::string& phase, std::int64_t bytesInFile) {
        if (bytesInFile >= 0) m_inFile = bytesInFile;
        if (!phase.empty()) m_phase = phase;
        const auto now = Clock::now();
        if (!m_options.progress || now - m_told < std::chrono::milliseconds(100)) return;
        m_told = now;
        FetchProgress progress{m_phase, m_before + m_inFile, m_total, std::nullopt};
        const double elapsed = std::chrono::duration<double>(now - m_began).count();
        // From what came over the net alone: what was here already says nothing about the pace.
        if (m_fetched > 0 && elapsed > 1) progress.secondsLeft = static_cast<double>(m_total - progress.bytes) * elapsed / static_cast<double>(m_fetched);
        m_options.progress(progress);
    }

    const FetchOptions& m_options;
    std::int64_t m_total;
    std::int64_t m_before = 0, m_inFile = 0, m_fetched = 0;
    std::string m_phase;
    Clock::time_point m_began = Clock::now(), m_told;
};

Result<HubListing> askListing(Http& http, const HubModel& model, const FetchOptions& options, const std::stop_token& stop, Meter& meter) {
    constexpr std::size_t kLargest = std::size_t{32} << 20;
    std::string text;
    const auto body = [&](const HttpAnswer& answer, std::string_view bytes) {
        if (answer.status < 400) text += bytes;
        return text.size() <= kLargest;
    };
    FetchListener listener = meter.listener();
    listener.moved("Asking the hub about " + model.id, 0);
    const HttpRequest request{fmt::format("{}/api/models/{}/revision/{}?blobs=true", model.place.endpoint, model.id, model.revision), model.place.token, 0};
    for (int attempt = 1;; ++attempt) {
        text.clear();
        const auto answer = askHub(http, model, request, body, stop, options.patience, listener);
        if (!answer) return answer.error();
        if (answer->cut.empty()) return readListing(text, model.id);
        if (attempt >= 3) return makeError(ErrorCode::environment, fmt::format("the hub's answer about {} breaks off: {}", model.id, answer->cut), "try again later");
    }
}

/// Of what is still to come. A blob that is there counts as here, whatever its digest turns out to be.
std::int64_t missingBytes(const HubListing& listing, const fs::path& folder) {
    std::int64_t missing = 0;
    for (const HubFile& file : listing.files) {
        std::int64_t here = 0;
        for (const char* ending : {"", ".incomplete"}) {
            std::error_code none;
            const auto size = fs::file_size(folder / "blobs" / (file.digest + ending), none);
            if (!none) here = std::max(here, static_cast<std::int64_t>(size));
        }
        missing += std::max<std::int64_t>(0, file.size - here);
    }
    return missing;
}

Result<void> checkSpace(const HubListing& listing, const FetchOptions& options, const fs::path& folder) {
    const std::int64_t missing = missingBytes(listing, folder);
    fs::path place = folder;
    std::error_code failed;
    while (!fs::exists(place, failed) && place.has_relative_path()) place = place.parent_path();
    const std::uintmax_t free = options.freeBytes ? options.freeBytes(place) : fs::space(place, failed).available;
    if (failed || free >= static_cast<std::uintmax_t>(missing)) return {};
    return makeError(ErrorCode::environment, fmt::format("{} needs {} more in {}, where {} are free", options.id, formatBytes(static_cast<double>(missing)), toUtf8(folder.parent_path()), formatBytes(static_cast<double>(free))),
                     "free some space, or move the cache with HF_HUB_CACHE");
}

/// A relative link, as the hub's tools make them: the cache may be moved as a whole. A copy where there are no links.
Result<void> link(const fs::path& blob, const fs::path& place) {
    std::error_code failed;
    fs::create_directories(place.parent_path(), failed);
    const fs::path target = blob.lexically_relative(place.parent_path());
    if (fs::is_symlink(place, failed) && fs::read_symlink(place, failed) == target) return {};
    fs::remove(place, failed);
    failed.clear();
    fs::create_symlink(target, place, failed);
    if (std::error_code none; failed && fs::read_symlink(place, none) == target) return {};  // another program was quicker
    if (failed) fs::copy_file(blob, place, fs::copy_options::overwrite_existing, failed);
    if (failed) return cannotWrite(place, failed);
    return {};
}

Result<void> writeReference(const fs::path& file, const std::string& commit) {
    std::error_code failed;
    fs::create_directories(file.parent_path(), failed);
    fs::path fresh = file;
    fresh += "." + std::to_string(std::random_device{}()) + ".new";  // of this program alone
    {
        std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
        out << commit;
        if (!out.flush()) failed = std::error_code(errno, std::system_category());
    }
    if (!failed) fs::rename(fresh, file, failed);
    if (failed) return cannotWrite(file, failed);
    return {};
}

bool isPlainRevision(const std::string& text) {
    return !text.empty() && text.size() <= 100 && text.front() != '.' && text.front() != '-' && text.find("..") == std::string::npos &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == std::string::npos;
}

}  // namespace

Result<void> checkHubName(const std::string& id, const std::string& revision) {
    if (!isHubId(id) || id.find("--") != std::string::npos || id.find("..") != std::string::npos)
        return makeError(ErrorCode::usage, fmt::format("'{}' is no model of a hub", id.substr(0, 100)), "write its owner, a slash and its name, such as Qwen/Qwen2.5-0.5B-Instruct");
    if (!isPlainRevision(revision)) return makeError(ErrorCode::usage, fmt::format("'{}' is no revision", revision.substr(0, 100)), "a branch, a tag or a commit; leave it out for the newest");
    return {};
}

Result<FetchedModel> fetchModel(const HubPlace& place, const FetchOptions& options, const std::stop_token& stop) {
    if (const auto named = checkHubName(options.id, options.revision); !named) return named.error();
    if (place.offline) return makeError(ErrorCode::environment, "HF_HUB_OFFLINE is set: nothing is fetched", "unset it, or take a model that `model list` shows");
    auto http = Http::open();
    if (!http) return http.error();
    const HubModel model{place, options.id, options.revision};
    Meter asking(options, 0);
    const auto listing = askListing(**http, model, options, stop, asking);
    if (!listing) return listing.error();
    const fs::path folder = place.cache / hubFolderName(options.id);
    if (const auto fits = checkSpace(*listing, options, folder); !fits) return fits.error();

    Meter meter(options, listing->bytes());
    std::vector<fs::path> blobs;
    for (const HubFile& file : listing->files) {
        auto blob = fetchBlob(**http, model, file, listing->commit, folder, stop, options.patience, meter.listener());
        if (!blob) return blob.error();
        blobs.push_back(std::move(*blob));
        meter.fileDone(file.size);
    }
    // Only now, so that nobody finds a model without its weights.
    FetchedModel fetched{folder / "snapshots" / listing->commit, listing->commit, static_cast<std::int64_t>(listing->files.size()), listing->bytes(), meter.fetched()};
    for (std::size_t i = 0; i < blobs.size(); ++i)
        if (const auto linked = link(blobs[i], fetched.folder / fromUtf8(listing->files[i].name)); !linked) return linked.error();
    if (options.revision != listing->commit)
        if (const auto noted = writeReference(folder / "refs" / options.revision, listing->commit); !noted) return noted.error();
    return fetched;
}

}  // namespace kernelscope
