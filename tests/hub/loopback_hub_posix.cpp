#include "tests/hub/loopback_hub_posix.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "core/hub/digest.h"

namespace kernelscope::test {

namespace {

std::string hex(Digest::Kind kind, const std::string& bytes) {
    Digest digest(kind);
    digest.add(bytes);
    return digest.finish();
}

bool sendAll(int socket, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
        const ssize_t now = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (now <= 0) return false;
        sent += static_cast<std::size_t>(now);
    }
    return true;
}

bool sendAnswer(int socket, const std::string& status, const std::string& headers, const std::string& body) {
    return sendAll(socket, "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
}

}  // namespace

LoopbackHub::LoopbackHub() {
    m_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(m_listener, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(m_listener, 16);
    socklen_t length = sizeof address;
    ::getsockname(m_listener, reinterpret_cast<sockaddr*>(&address), &length);
    m_port = ntohs(address.sin_port);
    m_thread = std::thread([this] { serve(); });
}

LoopbackHub::~LoopbackHub() {
    m_stop = true;
    m_thread.join();
    ::close(m_listener);
}

void LoopbackHub::add(const std::string& name, const std::string& content, bool large) { m_files[name] = {content, large}; }

std::vector<Received> LoopbackHub::received() const {
    const std::lock_guard lock(m_mutex);
    return m_received;
}

int LoopbackHub::requestsFor(const std::string& part) const {
    const auto all = received();
    return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const Received& one) { return one.target.find(part) != std::string::npos; }));
}

void LoopbackHub::cutAfter(std::size_t bytes, int times, int then) {
    const std::lock_guard lock(m_mutex);
    m_cutAfter = bytes;
    m_cuts = times;
    m_afterCuts = then;
}

void LoopbackHub::answer(int status, int times, const std::string& headers) {
    const std::lock_guard lock(m_mutex);
    m_status = status;
    m_statuses = times;
    m_statusHeaders = headers;
}

void LoopbackHub::serve() {
    while (!m_stop) {
        pollfd waiting{m_listener, POLLIN, 0};
        if (::poll(&waiting, 1, 20) <= 0) continue;
        const int socket = ::accept(m_listener, nullptr, nullptr);
        if (socket < 0) continue;
        talk(socket);
        ::close(socket);
    }
}

void LoopbackHub::talk(int socket) {
    std::string bytes;
    while (!m_stop) {
        const auto end = bytes.find("\r\n\r\n");
        if (end == std::string::npos) {
            pollfd waiting{socket, POLLIN, 0};
            // Another connection may wait meanwhile: one client at a time, and it goes on with a new connection.
            pollfd both[2] = {waiting, {m_listener, POLLIN, 0}};
            if (::poll(both, 2, 20) <= 0) continue;
            if (!(both[0].revents) && both[1].revents) return;
            char buffer[4096];
            const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
            if (got <= 0) return;
            bytes.append(buffer, static_cast<std::size_t>(got));
            continue;
        }
        Received request;
        const std::string head = bytes.substr(0, end);
        bytes.erase(0, end + 4);
        const auto first = head.find(' '), second = head.find(' ', first + 1);
        request.target = head.substr(first + 1, second - first - 1);
        for (std::size_t line = head.find("\r\n"); line != std::string::npos; line = head.find("\r\n", line + 2)) {
            const std::string text = head.substr(line + 2, head.find("\r\n", line + 2) - line - 2);
            std::string name = text.substr(0, text.find(':'));
            std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            request.headers[name] = text.substr(std::min(text.size(), text.find(':') + 2));
        }
        {
            const std::lock_guard lock(m_mutex);
            m_received.push_back(request);
        }
        if (!reply(socket, request)) return;
    }
}

std::string LoopbackHub::listing() const {
    nlohmann::json files = nlohmann::json::array();
    for (const auto& [name, file] : m_files) {
        nlohmann::json entry{{"rfilename", name}, {"size", file.content.size()}};
        entry["blobId"] = hex(Digest::Kind::sha1, "blob " + std::to_string(file.content.size()) + std::string(1, '\0') + file.content);
        if (file.large) entry["lfs"] = {{"sha256", hex(Digest::Kind::sha256, file.content)}, {"size", file.content.size()}, {"pointerSize", 134}};
        files.push_back(entry);
    }
    if (!m_extraName.empty()) files.push_back({{"rfilename", m_extraName}, {"size", 1}, {"blobId", std::string(40, 'a')}});
    return nlohmann::json{{"id", model}, {"sha", commit()}, {"siblings", files}}.dump();
}

bool LoopbackHub::reply(int socket, const Received& request) {
    int status = 0;
    std::string headers;
    {
        const std::lock_guard lock(m_mutex);
        if (m_statuses > 0) {
            --m_statuses;
            status = m_status;
            headers = m_statusHeaders;
        }
        if (status == 0 && !m_token.empty() && request.target.starts_with("/api")) {
            const auto given = request.headers.find("authorization");
            if (given == request.headers.end() || given->second != "Bearer " + m_token) status = 401;
        }
    }
    if (status != 0) return sendAnswer(socket, std::to_string(status) + " So", headers, "words of the hub's own");
    std::string target = request.target;
    if (const auto host = target.find("://"); host != std::string::npos) target = target.substr(target.find('/', host + 3));  // asked as a proxy
    if (target == "/api/models/" + model + "/revision/main?blobs=true") return sendAnswer(socket, "200 OK", "", listing());
    const std::string resolved = "/" + model + "/resolve/" + commit() + "/", stored = "/storage/";
    for (const auto& [name, file] : m_files) {
        if (target == resolved + name && file.large) {
            const bool proxied = request.target != target;
            // By another name: to a client that is another host.
            return sendAnswer(socket, "302 Found", "Location: " + (proxied ? std::string("http://storage.invalid") : "http://localhost:" + std::to_string(m_port)) + stored + name + "\r\n", "moved");
        }
        if (target == resolved + name || target == stored + name) return sendFile(socket, request, file);
    }
    return sendAnswer(socket, "404 Not Found", "X-Error-Code: " + std::string(target.find("/revision/") != std::string::npos && target.find(model) != std::string::npos ? "RevisionNotFound" : "RepoNotFound") + "\r\n", "no");
}

bool LoopbackHub::sendFile(int socket, const Received& request, const File& file) {
    std::string body = file.content;
    std::string status = "200 OK", headers;
    if (const auto range = request.headers.find("range"); range != request.headers.end() && m_ranges) {
        const auto from = static_cast<std::size_t>(std::atoll(range->second.c_str() + 6));
        if (from >= body.size()) return sendAnswer(socket, "416 Range Not Satisfiable", "", "");
        body.erase(0, from);
        status = "206 Partial Content";
        headers = "Content-Range: bytes " + std::to_string(from) + "-" + std::to_string(file.content.size() - 1) + "/" + std::to_string(file.content.size()) + "\r\n";
    }
    std::size_t cut = std::string::npos;
    if (file.large) {
        const std::lock_guard lock(m_mutex);
        if (m_spoiled > 0 && !body.empty()) {
            --m_spoiled;
            body[body.size() / 2] ^= 1;
        }
        if (m_cuts > 0) {
            cut = m_cutAfter;
            if (--m_cuts == 0 && m_afterCuts != 0) {
                m_status = m_afterCuts;
                m_statuses = 1'000'000;
            }
        }
    }
    if (cut >= body.size()) return sendAnswer(socket, status, headers, body);
    sendAll(socket, "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body.substr(0, cut));
    return false;  // the connection breaks
}

}  // namespace kernelscope::test
