#include "core/hub/blob.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>

#include <optional>

#include <fmt/format.h>

#include "core/hub/file_lock.h"
#include "core/model/files.h"

namespace kernelscope {

namespace fs = std::filesystem;

namespace {

Error cannotWrite(const fs::path& file, int error) {
    return makeError(ErrorCode::environment, fmt::format("cannot write {}: {}", toUtf8(file), std::system_category().message(error)),
                     error == ENOSPC ? "free some space, or move the cache with HF_HUB_CACHE; what has arrived is kept" : "choose a cache that you may write to: HF_HUB_CACHE");
}

Error cancelledError() { return makeError(ErrorCode::cancelled, "Cancelled"); }

/// The name as an address has it.
std::string escaped(const std::string& name) {
    std::string text;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte < 0x80 && std::isalnum(byte)) || c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
        text += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return text;
}

/// Where the piece that a 206 brings begins; -1 when it does not say.
std::int64_t rangeBegin(const HttpAnswer& answer) {
    const auto found = answer.headers.find("content-range");
    if (found == answer.headers.end() || !found->second.starts_with("bytes ")) return -1;
    return std::atoll(found->second.c_str() + 6);
}

/// Feeds what a file holds to a digest; how much that was. Errors: cancelled.
Result<std::int64_t> digestFile(const fs::path& path, const HubFile& file, Digest& digest, const std::stop_token& stop, const FetchListener& listener) {
    std::ifstream in(path, std::ios::binary);
    std::string piece(1 << 20, '\0');
    std::int64_t bytes = 0;
    while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
        digest.add({piece.data(), static_cast<std::size_t>(in.gcount())});
        bytes += in.gcount();
        if (listener.moved) listener.moved("Checking " + file.name, bytes);
        if (stop.stop_requested()) return cancelledError();
    }
    return bytes;
}

/// A file that grows, and the digest of what it holds.
class Partial {
public:
    Partial(fs::path path, const HubFile& file) : m_path(std::move(path)), m_file(file), m_digest(digestOf(file)) {}

    [[nodiscard]] std::int64_t size() const { return m_size; }

    /// Takes over what an earlier attempt left. Errors: cancelled.
    Result<void> resume(const std::stop_token& stop, const FetchListener& listener) {
        std::error_code failed;
        const auto there = static_cast<std::int64_t>(fs::file_size(m_path, failed));
        if (failed || there > m_file.size) return restart();
        const auto bytes = digestFile(m_path, m_file, m_digest, stop, listener);
        if (!bytes) return bytes.error();
        m_size = *bytes;
        return open(std::ios::app);
    }

    Result<void> restart() {
        m_digest = digestOf(m_file);
        m_size = 0;
        return open(std::ios::trunc);
    }

    bool append(std::string_view bytes) {
        errno = 0;
        m_out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!m_out) return false;
        m_digest.add(bytes);
        m_size += static_cast<std::int64_t>(bytes.size());
        return true;
    }

    /// True when what is there has the published digest.
    Result<bool> close() {
        errno = 0;
        m_out.close();
        if (!m_out || !flushToDisk(m_path)) return cannotWrite(m_path, errno ? errno : EIO);
        return m_size == m_file.size && m_digest.finish() == m_file.digest;
    }

private:
    Result<void> open(std::ios::openmode mode) {
        errno = 0;
        m_out = std::ofstream(m_path, std::ios::binary | mode);
        if (!m_out) return cannotWrite(m_path, errno);
        return {};
    }

    fs::path m_path;
    const HubFile& m_file;
    Digest m_digest;
    std::ofstream m_out;
    std::int64_t m_size = 0;
};

/// One answer into the file. Nothing: go on from where it is now.
Result<void> receive(Http& http, const HubModel& model, const HubFile& file, const std::string& url, Partial& partial, const fs::path& path, const std::stop_token& stop,
                     const FetchPatience& patience, const FetchListener& listener) {
    std::optional<Error> problem;
    bool begun = false;
    const auto body = [&](const HttpAnswer& answer, std::string_view bytes) {
        if (answer.status >= 400) return true;  // words for people, which ours replace
        if (!begun) {
            begun = true;
            const bool goesOn = answer.status == 206 && rangeBegin(answer) == partial.size();
            if (!goesOn)  // a hub without ranges sends everything again
                if (const auto again = partial.restart(); !again) problem = again.error();
        }
        if (!problem && partial.size() + static_cast<std::int64_t>(bytes.size()) > file.size)
            problem = makeError(ErrorCode::environment, fmt::format("the hub sends more of {} than the {} bytes that it has published", file.name, file.size), "try again later");
        if (!problem && !partial.append(bytes)) problem = cannotWrite(path, errno ? errno : EIO);
        if (problem) return false;
        if (listener.arrived) listener.arrived(static_cast<std::int64_t>(bytes.size()));
        if (listener.moved) listener.moved("Fetching " + file.name, partial.size());
        return true;
    };
    HttpRequest request{url, model.place.token, partial.size()};
    const auto answer = askHub(http, model, request, body, stop, patience, listener);
    if (problem) return *problem;
    if (!answer) return answer.error();
    return {};
}

Result<std::unique_ptr<FileLock>> waitForLock(const fs::path& file, const std::string& name, const std::stop_token& stop, const FetchListener& listener) {
    for (;;) {
        auto lock = FileLock::tryLock(file);
        if (!lock || *lock) return lock;
        if (stop.stop_requested()) return cancelledError();
        if (listener.moved) listener.moved("Another program fetches " + name, -1);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

}  // namespace

Result<fs::path> fetchBlob(Http& http, const HubModel& model, const HubFile& file, const std::string& commit, const fs::path& modelFolder, const std::stop_token& stop,
                           const FetchPatience& patience, const FetchListener& listener) {
    std::error_code failed;
    const fs::path target = modelFolder / "blobs" / file.digest;
    fs::path path = target;
    path += ".incomplete";
    fs::create_directories(target.parent_path(), failed);
    if (failed) return cannotWrite(target, failed.value());
    const auto lock = waitForLock(modelFolder.parent_path() / ".locks" / modelFolder.filename() / (file.digest + ".lock"), file.name, stop, listener);
    if (!lock) return lock.error();

    // What is there already is held to the same standard.
    if (fs::exists(target, failed)) {
        Digest digest = digestOf(file);
        const auto bytes = digestFile(target, file, digest, stop, listener);
        if (!bytes) return bytes.error();
        if (*bytes == file.size && digest.finish() == file.digest) return target;
        fs::remove(target, failed);
    }
    const std::string url = model.place.endpoint + "/" + model.id + "/resolve/" + commit + "/" + escaped(file.name);
    int wrong = 0, fruitless = 0;
    for (;;) {
        Partial partial(path, file);
        if (const auto resumed = partial.resume(stop, listener); !resumed) return resumed.error();
        const std::int64_t before = partial.size();
        if (partial.size() < file.size)
            if (const auto received = receive(http, model, file, url, partial, path, stop, patience, listener); !received) return received.error();
        const auto right = partial.close();
        if (!right) return right.error();
        if (*right) break;
        if (partial.size() == file.size) {
            fs::remove(path, failed);
            if (before < file.size && ++wrong == 2)
                return makeError(ErrorCode::environment, fmt::format("{} does not have the {} that the hub has published for it", file.name, file.kind == Digest::Kind::sha256 ? "SHA-256" : "digest"),
                                 "it came twice and is not kept; a proxy may change it on its way, or the hub's copy is damaged");
        } else if (partial.size() > before) {
            fruitless = 0;  // a cut: go on from there
        } else if (++fruitless >= patience.attempts) {
            return makeError(ErrorCode::environment, fmt::format("the connection breaks again and again at byte {} of {} of {}", partial.size(), file.size, file.name), "try again later: it goes on from there");
        }
    }
    fs::rename(path, target, failed);
    if (failed) return cannotWrite(target, failed.value());
    return target;
}

}  // namespace kernelscope
