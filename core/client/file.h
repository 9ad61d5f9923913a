#pragma once
// Files as a whole: read one, replace one.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/records/result.h"

namespace kernelscope {

/// Takes a document piece by piece; an error ends it.
using TextSink = std::function<Result<void>(std::string_view piece)>;

/// Replaces the file's contents in one step: readers see the old file or the new one, never half of it, and a full
/// disk leaves the old one. Missing folders are made, links are followed; what is no regular file (a terminal, a
/// pipe) is written to directly. Errors: environment.
Result<void> writeFileAtomically(const std::filesystem::path& file, std::string_view contents);
/// The same with contents that `produce` hands over piece by piece, so that they need not fit into memory. Its error leaves the old file.
Result<void> writeFileAtomically(const std::filesystem::path& file, const std::function<Result<void>(const TextSink&)>& produce);

/// Makes the file's folder and sees that a file could be written there, so that a long job does not fail at its end.
/// Errors: environment.
Result<void> prepareToWrite(const std::filesystem::path& file);

/// Can a file be made in this folder? Found out by making one and taking it away. Errors: environment, naming the folder.
Result<void> tryFolder(const std::filesystem::path& folder);

/// May this program write to what is there? False where nothing is.
bool mayWrite(const std::filesystem::path& file);

/// Tells whether a file that is in use is still anywhere: deleting it, or putting another in its place, takes it from the
/// folder while those who have it open go on writing. Renaming and moving it do not.
class HeldFile {
public:
    explicit HeldFile(const std::filesystem::path& file);
    ~HeldFile();
    HeldFile(const HeldFile&) = delete;
    HeldFile& operator=(const HeldFile&) = delete;
    [[nodiscard]] bool deleted() const;

private:
    int m_descriptor = -1;
};

/// Everything in the file. Errors: badInput, in words (missing, a folder, not readable, larger than `limit`).
Result<std::string> readFile(const std::filesystem::path& file, std::uintmax_t limit = std::uintmax_t{1} << 32);

}  // namespace kernelscope
