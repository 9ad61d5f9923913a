#pragma once
// A hub on this machine: answers as the public one does, and misbehaves when told to.

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kernelscope::test {

struct Received {
    std::string target;  ///< "/api/models/..."; a whole address when we are asked as a proxy
    std::map<std::string, std::string> headers;
};

class LoopbackHub {
public:
    LoopbackHub();
    ~LoopbackHub();
    LoopbackHub(const LoopbackHub&) = delete;
    LoopbackHub& operator=(const LoopbackHub&) = delete;

    /// "http://127.0.0.1:PORT"
    [[nodiscard]] std::string address() const { return "http://127.0.0.1:" + std::to_string(m_port); }
    /// A file of the model; large ones are redirected to a second address, as the public hub does.
    void add(const std::string& name, const std::string& content, bool large = false);
    [[nodiscard]] std::string commit() const { return std::string(40, 'c'); }
    [[nodiscard]] std::vector<Received> received() const;
    [[nodiscard]] int requestsFor(const std::string& part) const;

    // How it misbehaves. Each is used up as it happens.
    /// The next bodies of large files break off there; `then` is what every later request is answered with, 0: as usual.
    void cutAfter(std::size_t bytes, int times = 1, int then = 0);
    void answer(int status, int times = 1, const std::string& headers = "");  ///< the next requests get this instead
    void spoil(int times) { m_spoiled = times; }                  ///< the next large bodies have one byte wrong
    void ignoreRanges() { m_ranges = false; }
    void nameFile(const std::string& name) { m_extraName = name; }  ///< one more entry in the list
    void requireToken(const std::string& token) { m_token = token; }
    std::string model = "Owner/Tiny";

private:
    struct File {
        std::string content;
        bool large = false;
    };
    void serve();
    void talk(int socket);
    [[nodiscard]] std::string listing() const;
    bool reply(int socket, const Received& request);
    bool sendFile(int socket, const Received& request, const File& file);

    int m_listener = -1, m_port = 0;
    std::map<std::string, File> m_files;
    mutable std::mutex m_mutex;  // guards m_received and the misbehaviour
    std::vector<Received> m_received;
    std::size_t m_cutAfter = 0;
    int m_cuts = 0, m_afterCuts = 0, m_status = 0, m_statuses = 0;
    std::string m_statusHeaders, m_extraName, m_token;
    std::atomic<int> m_spoiled = 0;
    bool m_ranges = true;
    std::atomic<bool> m_stop = false;
    std::thread m_thread;
};

}  // namespace kernelscope::test
