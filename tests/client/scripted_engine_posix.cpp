// An engine that plays a script: a real process that greets, measures, lies, floods, hangs and dies as it is told.
//
//   scripted_engine SCRIPT
//
// One command a line; a line `restart` ends what one process plays, the next process goes on after it (the last part
// is played again for ever). Every request is noted in SCRIPT.received, so that a test can see what was asked.
//
//   await METHOD        reads requests until this one comes; its id is answered by what follows
//   hello [PROTOCOL [DEVICE...]]  answers engine.hello; it has a CPU where nothing is said; "DEVICE!" is one that cannot be used
//   answer JSON         answers the awaited request with a result
//   refuse CODE TEXT    answers it with an error
//   send METHOD JSON    a notification
//   raw TEXT            a line as it stands, \xHH allowed
//   half TEXT           the same without a newline
//   repeat COUNT METHOD JSON  that many notifications at once
//   flood JSON          job.progress without end
//   exhaust             asks for memory until there is none
//   stop                stops as by SIGSTOP, and plays on when continued
//   deadlock            two threads that wait for each other
//   sign NAME           says to engines of the same script that it came so far; they wait with `until NAME`
//   until NAME
//   garbage COUNT       that many lines of nonsense
//   rows COUNT          that many sample rows
//   pause MILLISECONDS
//   endless             bytes without a newline, for ever
//   say TEXT            to stderr
//   close               closes standard output and stays
//   die SIGNAL          SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL
//   exit CODE
//   hang                for ever, deaf and dumb (leaves when stdin closes)
//   stay                for ever, deaf to everything

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "core/records/json_read.h"
#include "core/records/protocol.h"
#include "core/records/rows.h"
#include "tests/support/sanitized.h"

using namespace kernelscope;
using nlohmann::json;

namespace {

json g_id;

void emit(const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(1, text.data() + done, text.size() - done);
        if (count <= 0) std::_Exit(0);
        done += static_cast<std::size_t>(count);
    }
}

std::string unescaped(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "\\x") == 0 && i + 3 < text.size()) {
            bytes += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
            i += 3;
        } else bytes += text[i];
    }
    return bytes;
}

/// What this process is to play; the count of processes so far stands in SCRIPT.count.
std::vector<std::string> partToPlay(const std::string& script) {
    const int turn = ::open((script + ".turn").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);  // several may start at once
    if (turn < 0 || ::flock(turn, LOCK_EX) != 0) std::_Exit(94);
    int before = 0;
    std::ifstream(script + ".count") >> before;
    std::ofstream(script + ".count") << before + 1;
    ::close(turn);
    std::vector<std::vector<std::string>> parts(1);
    std::ifstream in(script);
    for (std::string line; std::getline(in, line);) {
        if (line == "restart") parts.emplace_back();
        else parts.back().push_back(line);
    }
    return parts[std::min<std::size_t>(static_cast<std::size_t>(before), parts.size() - 1)];
}

void await(const std::string& method, const std::string& script) {
    for (std::string line; std::getline(std::cin, line);) {
        std::ofstream(script + ".received", std::ios::app) << line << "\n";
        const auto message = parseLine(line);
        if (!message) std::_Exit(90);
        if (message->method == method) {
            g_id = message->id;
            return;
        }
    }
    std::_Exit(0);  // the client has gone
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 91;
    const rlimit noCore{0, 0};
    ::setrlimit(RLIMIT_CORE, &noCore);
    const std::string script = argv[1];
    for (const std::string& line : partToPlay(script)) {
        const auto space = line.find(' ');
        const std::string command = line.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (command == "await") await(rest, script);
        else if (command == "hello") {
            Hello hello;
            hello.version = "9.9.9";
            hello.devices = {{"cpu", "scripted CPU"}};
            std::istringstream words(rest);
            if (!(words >> hello.protocol)) hello.protocol = kProtocolVersion;
            for (std::string device; words >> device;) {
                const bool broken = device.ends_with('!');
                if (broken) device.pop_back();
                hello.devices.push_back({device, "scripted GPU"});
                if (broken) hello.devices.back().problem = "the driver is too old";
            }
            emit(responseLine(g_id, toJson(hello)));
        } else if (command == "answer") emit(responseLine(g_id, json::parse(rest)));
        else if (command == "refuse") {
            std::istringstream words(rest);
            int code = 4;
            words >> code;
            emit(errorLine(g_id, -32000, makeError(static_cast<ErrorCode>(code), unescaped(rest.substr(rest.find(' ') + 1)), "try another")));
        } else if (command == "send") {
            const auto split = rest.find(' ');
            emit(notificationLine(rest.substr(0, split), json::parse(rest.substr(split + 1))));
        } else if (command == "repeat") {
            std::istringstream words(rest);
            int count = 0;
            std::string method, params, all;
            words >> count >> method;
            std::getline(words, params);
            for (const std::string line = notificationLine(method, json::parse(params)); count > 0; --count) all += line;
            emit(all);
        } else if (command == "raw") emit(unescaped(rest) + "\n");
        else if (command == "half") emit(unescaped(rest));
        else if (command == "garbage") {
            for (int i = 0; i < std::stoi(rest); ++i) emit("garbage line " + std::to_string(i) + "\n");
        } else if (command == "rows") {
            std::string lines;
            for (int i = 0; i < std::stoi(rest); ++i) {
                lines += notificationLine("job.row", toJson(RowRecord{"sample", "s" + std::to_string(i), valuesOf(SampleRow{"r", "m", i, 1.5 * i})}));
                if (i % 1000 == 999) emit(std::exchange(lines, {}));  // on a busy machine all of them would be a long silence
            }
            emit(lines);
        } else if (command == "pause") {
            std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(rest)));
        } else if (command == "endless") {
            for (const std::string block(1 << 16, 'x');;) emit(block);
        } else if (command == "say") std::cerr << unescaped(rest) << std::endl;
        else if (command == "close") ::close(1);
        else if (command == "die") {
            for (const auto& [name, number] : {std::pair{"SIGKILL", SIGKILL}, {"SIGSEGV", SIGSEGV}, {"SIGABRT", SIGABRT}, {"SIGBUS", SIGBUS}, {"SIGFPE", SIGFPE}, {"SIGILL", SIGILL}})
                if (rest == name) {
                    ::signal(number, SIG_DFL);
                    ::raise(number);
                }
            return 92;
        } else if (command == "exit") std::_Exit(std::stoi(rest));
        else if (command == "hang") {
            for (std::string ignored; std::getline(std::cin, ignored);) {}
            std::_Exit(0);
        } else if (command == "flood") {
            for (const std::string progress = notificationLine("job.progress", json::parse(rest));;) {
                std::string block;
                for (int i = 0; i < 500; ++i) block += progress;
                emit(block);
            }
        } else if (command == "exhaust") {
            if (test::kSanitized) throw std::bad_alloc();  // a sanitizer ends the program in its own words when address space is short
            const rlimit little{rlim_t{256} << 20, rlim_t{256} << 20};
            ::setrlimit(RLIMIT_AS, &little);
            for (std::vector<std::vector<char>> all;;) all.emplace_back(1 << 20);
        } else if (command == "sign") {
            std::ofstream(script + "." + rest) << "here";
        } else if (command == "until") {
            while (::access((script + "." + rest).c_str(), F_OK) != 0) ::usleep(1000);
        } else if (command == "stop") {
            ::raise(SIGSTOP);
        } else if (command == "deadlock") {
            std::mutex first, second;
            std::barrier both(2);
            const auto take = [&both](std::mutex& one, std::mutex& other) {
                const std::lock_guard held(one);
                both.arrive_and_wait();
                const std::lock_guard never(other);
            };
            std::thread other([&] { take(second, first); });
            take(first, second);
        } else if (command == "stay") {
            for (;;) ::pause();
        } else if (!command.empty()) return 93;
    }
    for (std::string ignored; std::getline(std::cin, ignored);) {}
    return 0;
}
