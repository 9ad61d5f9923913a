#include "core/client/store.h"

#include <algorithm>
#include <ctime>
#include <random>

#include "core/client/process.h"
#include "core/client/store_database.h"
#include "core/records/json_read.h"
#include "core/records/nearest.h"
#include "core/records/user_folders.h"

namespace kernelscope {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kHeaderColumns =
    "id, made, kind, command, environment, model, weights, device, dtype, settings, seed, status, reason, headline, result, "
    "row_count, tags, note, pinned, deleted IS NOT NULL, owner";

json objectFrom(const SQLite::Column& cell) {
    auto parsed = parseJson(std::string_view(cell.getText(), static_cast<std::size_t>(cell.getBytes())));
    return parsed && parsed->is_object() ? std::move(*parsed) : json::object();
}

enum class Detail { all, list };

RunSummary summaryFrom(SQLite::Statement& row, Detail detail = Detail::all) {
    RunSummary run;
    RunHeader& header = run.header;
    int i = 0;
    header.id = row.getColumn(i++).getString();
    header.when = row.getColumn(i++).getString();
    header.kind = row.getColumn(i++).getString();
    header.command = row.getColumn(i++).getString();
    // Parsing them would be most of the work of a list of thousands.
    const auto object = [&](int index) { return detail == Detail::all ? objectFrom(row.getColumn(index)) : json::object(); };
    header.environment = object(i++);
    header.model = row.getColumn(i++).getString();
    header.weights = row.getColumn(i++).getString();
    header.device = row.getColumn(i++).getString();
    header.dtype = row.getColumn(i++).getString();
    header.settings = object(i++);
    header.seed = row.getColumn(i++).getInt64();
    header.status = runStatusFromString(row.getColumn(i++).getString()).value_or(RunStatus::failed);
    header.reason = row.getColumn(i++).getString();
    header.headline = row.getColumn(i++).getString();
    header.result = object(i++);
    run.rows = row.getColumn(i++).getInt64();
    const std::string tagText = row.getColumn(i++).getString();
    if (const auto tags = tagText == "[]" ? std::nullopt : parseJson(tagText); tags && tags->is_array())
        for (const json& tag : *tags)
            if (tag.is_string()) run.tags.push_back(tag.get<std::string>());
    run.note = row.getColumn(i++).getString();
    run.pinned = row.getColumn(i++).getInt() != 0;
    run.deleted = row.getColumn(i++).getInt() != 0;
    // Where the store cannot be written nobody may have noted it yet.
    if (header.status == RunStatus::running && !mayStillRun(row.getColumn(i).getString())) {
        header.status = RunStatus::interrupted;
        header.reason = kOrphanReason;
    }
    return run;
}

/// Six of these make 887 million ids; those that are mistaken for one another are left out.
std::string randomId() {
    constexpr std::string_view kLetters = "abcdefghjkmnpqrstuvwxyz23456789";
    static thread_local std::random_device device;
    std::string id;
    for (int i = 0; i < 6; ++i) id += kLetters[device() % kLetters.size()];
    return id;
}

bool exists(Connection& connection, const std::string& id) {
    if (id == "last") return true;  // a word of the command line
    return runNumber(connection, id) != 0;
}

/// The header's columns from `made` on, in the table's order.
void bindHeader(SQLite::Statement& statement, int index, const RunHeader& header) {
    const auto text = [&](const std::string& value) { statement.bind(index++, value); };
    text(header.when);
    text(header.kind);
    text(header.command);
    text(dumpJson(header.environment));
    text(header.model);
    text(header.weights);
    text(header.device);
    text(header.dtype);
    text(dumpJson(header.settings));
    statement.bind(index++, header.seed);
    text(std::string(toString(header.status)));
    text(header.reason);
    text(header.headline);
    text(dumpJson(header.result));
    text(header.status == RunStatus::running ? processIdentity() : std::string());
}

Error unknownRun(Connection& connection, const std::string& id) {
    std::vector<std::string> ids;
    Prepared query = connection.statement("SELECT id FROM runs WHERE deleted IS NULL ORDER BY number DESC LIMIT 10000");
    while (query.executeStep()) ids.push_back(query.getColumn(0).getString());
    if (ids.empty()) return makeError(ErrorCode::badInput, "there is no run '" + id + "': the store is empty", "`runs list` shows what there is");
    std::string advice = "`runs list` shows what there is";
    const auto near = nearest(id, ids, 3);
    if (!near.empty()) {
        advice = "did you mean ";
        for (std::size_t i = 0; i < near.size(); ++i) advice += (i ? ", " : "") + near[i];
        advice += "?";
    }
    return makeError(ErrorCode::badInput, "there is no run '" + id + "'", advice);
}

/// The full id. Deleted runs are found only where asked for.
Result<std::string> resolve(Connection& connection, const std::string& id, bool deletedToo) {
    const std::string visible = deletedToo ? "1" : "deleted IS NULL";
    if (id == "last") {
        Prepared query = connection.statement("SELECT id FROM runs WHERE " + visible + " ORDER BY number DESC LIMIT 1");
        if (query.executeStep()) return query.getColumn(0).getString();
        return makeError(ErrorCode::badInput, "there is no last run: the store is empty");
    }
    {
        Prepared query = connection.statement("SELECT id, deleted IS NOT NULL FROM runs WHERE id = ?");
        query.bind(1, id);
        if (query.executeStep()) {
            if (deletedToo || query.getColumn(1).getInt() == 0) return query.getColumn(0).getString();
            return makeError(ErrorCode::badInput, "run '" + id + "' was deleted", "`runs restore " + id + "` brings it back");
        }
    }
    if (id.empty()) return unknownRun(connection, id);
    Prepared query = connection.statement("SELECT id FROM runs WHERE substr(id, 1, ?) = ? AND " + visible + " ORDER BY number DESC LIMIT 4");
    query.bind(1, static_cast<std::int64_t>(id.size()));
    query.bind(2, id);
    std::vector<std::string> found;
    while (query.executeStep()) found.push_back(query.getColumn(0).getString());
    if (found.size() == 1) return found.front();
    if (found.empty()) return unknownRun(connection, id);
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, found.size()); ++i) list += (i ? ", " : "") + found[i];
    return makeError(ErrorCode::badInput, "several runs begin with '" + id + "': " + list + (found.size() > 3 ? ", ..." : ""), "write one more letter");
}

}  // namespace

std::string timeStamp() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
#ifdef _WIN32
    gmtime_s(&utc, &now);
#else
    gmtime_r(&now, &utc);
#endif
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

Store::Store(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Store::~Store() = default;
const fs::path& Store::path() const { return m_impl->file(); }
bool Store::isReadOnly() const { return m_impl->isReadOnly(); }
fs::path Store::defaultPath() { return userDataFolder() / "kernelscope" / "runs.sqlite"; }

Result<std::unique_ptr<Store>> Store::open(const fs::path& file) {
    std::error_code error;
    if (fs::is_directory(file, error))
        return makeError(ErrorCode::environment, "the store " + file.string() + " is a folder", "name a file with --store FILE");
    if (const auto status = fs::status(file, error); status.type() != fs::file_type::not_found && !fs::is_regular_file(status))
        return makeError(ErrorCode::environment, "the store " + file.string() + (fs::exists(status) ? " is no regular file" : " cannot be looked at: " + error.message()), "name a file with --store FILE");
    if (file.has_parent_path()) {
        fs::create_directories(file.parent_path(), error);
        if (error)
            return makeError(ErrorCode::environment, "the folder of the store " + file.string() + " cannot be made: " + error.message(),
                             "choose another with --store FILE");
    }
    try {
        return std::unique_ptr<Store>(new Store(std::make_unique<Impl>(file)));
    } catch (const SQLite::Exception& problem) {
        return storeError(problem, file);
    } catch (const Error& refused) {
        return refused;
    }
}

Result<std::unique_ptr<Store>> Store::openToRead(const fs::path& file) {
    std::error_code error;
    if (fs::is_regular_file(file, error) && !canChange(file)) {
        try {
            return std::unique_ptr<Store>(new Store(std::make_unique<Impl>(file, Impl::ReadOnly{})));
        } catch (const SQLite::Exception& problem) {
            return storeError(problem, file);
        } catch (const Error& refused) {
            return refused;
        }
    }
    return open(file);
}

Result<RunHeader> Store::createRun(RunHeader header) {
    return m_impl->write([&](Connection& connection) -> Result<RunHeader> {
        SQLite::Transaction transaction(connection.database(), SQLite::TransactionBehavior::IMMEDIATE);
        if (header.when.empty()) header.when = timeStamp();
        if (header.id.empty()) {
            do header.id = randomId(); while (exists(connection, header.id));
        } else if (exists(connection, header.id)) {
            return makeError(ErrorCode::badInput, "there is a run '" + header.id + "' already");
        }
        Prepared insert = connection.statement(
            "INSERT INTO runs (id, made, kind, command, environment, model, weights, device, dtype, settings, seed, status, reason, "
            "headline, result, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        insert.bind(1, header.id);
        bindHeader(insert, 2, header);
        insert.exec();
        transaction.commit();
        return header;
    });
}

Result<void> Store::updateRun(const RunHeader& header) {
    return m_impl->write([&](Connection& connection) -> Result<void> {
        Prepared update = connection.statement(
            "UPDATE runs SET made = ?, kind = ?, command = ?, environment = ?, model = ?, weights = ?, device = ?, dtype = ?, "
            "settings = ?, seed = ?, status = ?, reason = ?, headline = ?, result = ?, owner = ? WHERE id = ?");
        bindHeader(update, 1, header);
        update.bind(16, header.id);
        if (update.exec() == 0) return unknownRun(connection, header.id);
        return {};
    });
}

Result<RunHeader> Store::resumeRun(const std::string& runId) {
    return m_impl->write([&](Connection& connection) -> Result<RunHeader> {
        SQLite::Transaction transaction(connection.database(), SQLite::TransactionBehavior::IMMEDIATE);
        markOrphans(connection.database());
        const auto id = resolve(connection, runId, false);
        if (!id) return id.error();
        Prepared query = connection.statement(std::string("SELECT ") + kHeaderColumns + " FROM runs WHERE id = ?");
        query.bind(1, *id);
        query.executeStep();
        RunHeader header = summaryFrom(query).header;
        if (header.status == RunStatus::running)
            return makeError(ErrorCode::badInput, "run '" + header.id + "' is still running in another program", "wait for it, or stop it there");
        header.status = RunStatus::running;
        header.reason.clear();
        Prepared take = connection.statement("UPDATE runs SET status = 'running', reason = '', owner = ? WHERE id = ?");
        take.bind(1, processIdentity());
        take.bind(2, header.id);
        take.exec();
        transaction.commit();
        return header;
    });
}

/// A program may have died since this store was opened. Costs a glance at an index while nothing is running.
void Store::noticeOrphans() const {
    const auto running = m_impl->read([](Connection& connection) -> Result<bool> {
        return connection.statement("SELECT 1 FROM runs WHERE status = 'running' LIMIT 1").executeStep();
    });
    if (!running || !*running) return;
    // Not being able to note it must not keep anybody from reading.
    [[maybe_unused]] const auto noted = m_impl->write([](Connection& connection) -> Result<void> {
        markOrphans(connection.database());
        return {};
    });
}

Result<std::vector<RunSummary>> Store::runs(Which which) const {
    noticeOrphans();
    return m_impl->read([&](Connection& connection) -> Result<std::vector<RunSummary>> {
        std::vector<RunSummary> all;
        Prepared query = connection.statement(std::string("SELECT ") + kHeaderColumns + " FROM runs WHERE deleted IS " +
                                                        (which == Which::kept ? "NULL" : "NOT NULL") + " ORDER BY number DESC");
        while (query.executeStep()) all.push_back(summaryFrom(query, Detail::list));
        return all;
    });
}

Result<RunSummary> Store::run(const std::string& id) const {
    noticeOrphans();
    return m_impl->read([&](Connection& connection) -> Result<RunSummary> {
        const auto full = resolve(connection, id, false);
        if (!full) return full.error();
        Prepared query = connection.statement(std::string("SELECT ") + kHeaderColumns + " FROM runs WHERE id = ?");
        query.bind(1, *full);
        if (!query.executeStep()) return unknownRun(connection, id);
        RunSummary found = summaryFrom(query);
        return found;
    });
}

namespace {
/// One UPDATE of a run; `sql` has the id as its last parameter, `bind` binds the ones before.
template <typename Access, typename Bind>
Result<void> change(Access& access, const std::string& id, bool deletedToo, const std::string& sql, Bind bind) {
    return access.write([&](Connection& connection) -> Result<void> {
        const auto full = resolve(connection, id, deletedToo);
        if (!full) return full.error();
        Prepared update = connection.statement(sql);
        const int next = bind(update);
        update.bind(next, *full);
        update.exec();
        return {};
    });
}
}  // namespace

namespace {
bool isValidId(const std::string& id) {
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return !id.empty() && id.size() <= 64 && id.find_first_not_of(kAllowed) == std::string::npos && id.front() != '-' && id != "last";
}
}  // namespace

bool Store::isFreeId(const std::string& id) const {
    if (!isValidId(id)) return false;
    const auto free = m_impl->read([&](Connection& connection) -> Result<bool> { return !exists(connection, id); });
    return free && *free;
}

Result<void> Store::rename(const std::string& id, const std::string& newId) {
    if (!isValidId(newId))
        return makeError(ErrorCode::usage, "a run cannot be called '" + newId.substr(0, 64) + "'",
                         "use up to 64 letters, digits, dots, dashes and underscores; \"last\" is taken");
    return m_impl->write([&](Connection& connection) -> Result<void> {
        SQLite::Transaction transaction(connection.database(), SQLite::TransactionBehavior::IMMEDIATE);
        const auto full = resolve(connection, id, false);
        if (!full) return full.error();
        if (*full == newId) return {};
        if (exists(connection, newId)) return makeError(ErrorCode::badInput, "there is a run '" + newId + "' already", "choose another name");
        // The program that measures it knows it by its id, and would find it gone.
        Prepared owned = connection.statement("SELECT owner FROM runs WHERE id = ? AND status = 'running'");
        owned.bind(1, *full);
        if (owned.executeStep() && mayStillRun(owned.getColumn(0).getString()))
            return makeError(ErrorCode::badInput, "run '" + *full + "' is still being measured and cannot be renamed yet", "wait for its end, or stop it");
        Prepared update = connection.statement("UPDATE runs SET id = ? WHERE id = ?");
        update.bind(1, newId);
        update.bind(2, *full);
        update.exec();
        transaction.commit();
        return {};
    });
}

Result<void> Store::setTags(const std::string& id, const std::vector<std::string>& tags) {
    return change(*m_impl, id, false, "UPDATE runs SET tags = ? WHERE id = ?",
                  [&](SQLite::Statement& update) { update.bind(1, dumpJson(json(tags))); return 2; });
}

Result<void> Store::setNote(const std::string& id, const std::string& note) {
    return change(*m_impl, id, false, "UPDATE runs SET note = ? WHERE id = ?",
                  [&](SQLite::Statement& update) { update.bind(1, note); return 2; });
}

Result<void> Store::setPinned(const std::string& id, bool pinned) {
    return change(*m_impl, id, false, "UPDATE runs SET pinned = ? WHERE id = ?",
                  [&](SQLite::Statement& update) { update.bind(1, pinned ? 1 : 0); return 2; });
}

Result<void> Store::remove(const std::string& id) {
    return change(*m_impl, id, false, "UPDATE runs SET deleted = ? WHERE id = ?",
                  [&](SQLite::Statement& update) { update.bind(1, timeStamp()); return 2; });
}

Result<void> Store::restore(const std::string& id) {
    return change(*m_impl, id, true, "UPDATE runs SET deleted = NULL WHERE id = ?", [](SQLite::Statement&) { return 1; });
}

}  // namespace kernelscope
