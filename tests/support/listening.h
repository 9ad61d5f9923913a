#pragma once
// Which of a process's sockets somebody else could connect to, as Linux tells it.

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace kernelscope::test {

/// The listening sockets of a process, one word each ("tcp:0100007F:1F90", "unix:@name"); empty where there are none.
inline std::string listeningSockets(long process) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path("/proc") / std::to_string(process);
    std::set<std::string> own;
    std::error_code gone;
    for (fs::directory_iterator entry(root / "fd", gone), end; !gone && entry != end; entry.increment(gone)) {
        std::error_code ignored;
        const std::string target = fs::read_symlink(entry->path(), ignored).string();
        if (target.starts_with("socket:[")) own.insert(target.substr(8, target.size() - 9));
    }
    std::string found;
    for (const char* table : {"tcp", "tcp6", "unix"}) {
        std::ifstream lines(root / "net" / table);
        std::string line;
        for (std::getline(lines, line); std::getline(lines, line);) {
            std::istringstream text(line);
            std::string field[10];
            for (std::string& word : field) text >> word;
            const bool local = std::string(table) == "unix";  // number: references protocol flags type state inode path
            const bool listens = local ? field[3] == "00010000" : field[3] == "0A";
            if (listens && own.contains(local ? field[6] : field[9])) found += std::string(table) + ":" + (local ? field[7] : field[1]) + " ";
        }
    }
    return found;
}

}  // namespace kernelscope::test
