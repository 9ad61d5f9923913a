#include "core/client/store_database.h"

#include <algorithm>
#include <cmath>
#include <chrono>
#include <limits>
#include <thread>

#include <SQLiteCpp/Backup.h>
#include <sqlite3.h>

#include "core/client/file.h"
#include "core/client/process.h"

namespace kernelscope {

Connection::Connection(const std::string& file, int flags) : m_database(file, flags, kBusyTimeoutMs) {}

Prepared Connection::statement(const std::string& sql) {
    auto found = m_statements.find(sql);
    if (found == m_statements.end())
        found = m_statements.emplace(std::piecewise_construct, std::forward_as_tuple(sql), std::forward_as_tuple(m_database, sql)).first;
    found->second.tryReset();
    found->second.clearBindings();
    return Prepared(found->second);
}

std::string quotedName(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string tableOf(const RowType& type) { return quotedName("rows_" + std::string(type.name)); }

namespace {

constexpr const char* kRunsTable =
    "CREATE TABLE IF NOT EXISTS runs ("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  made TEXT NOT NULL, kind TEXT NOT NULL, command TEXT NOT NULL, environment TEXT NOT NULL,"
    "  model TEXT NOT NULL, weights TEXT NOT NULL, device TEXT NOT NULL, dtype TEXT NOT NULL,"
    "  settings TEXT NOT NULL, seed INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,"
    "  headline TEXT NOT NULL, result TEXT NOT NULL,"
    "  row_count INTEGER NOT NULL DEFAULT 0,"
    "  tags TEXT NOT NULL DEFAULT '[]', note TEXT NOT NULL DEFAULT '', pinned INTEGER NOT NULL DEFAULT 0,"
    "  deleted TEXT,"
    "  owner TEXT NOT NULL DEFAULT '')";

std::string_view affinity(ColumnKind kind) {
    switch (kind) {
        case ColumnKind::text: return "TEXT";
        case ColumnKind::integer: return "INTEGER";
        case ColumnKind::number: return "REAL";
        case ColumnKind::boolean: return "INTEGER";
    }
    return "";
}

/// Clustered by run and place, so that a run opens, or pages, without touching the others.
void makeRowTable(SQLite::Database& database, const RowType& type) {
    std::string sql = "CREATE TABLE IF NOT EXISTS " + tableOf(type) + " (_run INTEGER NOT NULL, _place INTEGER NOT NULL, _key TEXT";
    for (const Column& column : type.columns) sql += ", " + quotedName(column.name) + " " + std::string(affinity(column.kind));
    database.exec(sql + ", PRIMARY KEY (_run, _place)) WITHOUT ROWID");
    database.exec("CREATE UNIQUE INDEX IF NOT EXISTS " + quotedName("keys_" + std::string(type.name)) + " ON " + tableOf(type) +
                  " (_run, _key)");
    // Columns that came to a row type after this store was made.
    std::vector<std::string> present;
    SQLite::Statement columns(database, "SELECT name FROM pragma_table_info(?)");
    columns.bind(1, "rows_" + std::string(type.name));
    while (columns.executeStep()) present.push_back(columns.getColumn(0).getString());
    for (const Column& column : type.columns)
        if (std::find(present.begin(), present.end(), column.name) == present.end())
            database.exec("ALTER TABLE " + tableOf(type) + " ADD COLUMN " + quotedName(column.name) + " " + std::string(affinity(column.kind)));
}

int pragma(SQLite::Database& database, const std::string& name) { return database.execAndGet("PRAGMA " + name).getInt(); }

}  // namespace

/// Changes whenever a row type does.
bool isUpToDate(SQLite::Database& database) {
    if (pragma(database, "user_version") != kStoreVersion) return false;
    for (const RowType& type : rowTypes()) {
        SQLite::Statement columns(database, "SELECT count(*) FROM pragma_table_info(?)");
        columns.bind(1, "rows_" + std::string(type.name));
        columns.executeStep();
        if (columns.getColumn(0).getInt() < static_cast<int>(type.columns.size()) + 3) return false;
    }
    return true;
}

void refuseForeign(SQLite::Database& database, const std::filesystem::path& file) {
    const int version = pragma(database, "user_version");
    if (version > kStoreVersion)
        throw makeError(ErrorCode::environment,
                        file.string() + " was written by a newer Kernelscope (store version " + std::to_string(version) +
                            ", this one knows " + std::to_string(kStoreVersion) + ")",
                        "use that version, or choose another store with --store FILE");
    // In this order: another process may be making the tables, and it commits both at once.
    const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
    const int application = pragma(database, "application_id");
    if (application != kStoreApplicationId && !empty)
        throw makeError(ErrorCode::environment, file.string() + " is a database of another program",
                        "choose another store with --store FILE");
}

void prepareSchema(SQLite::Database& database, const std::filesystem::path& file) {
    refuseForeign(database, file);
    if (isUpToDate(database)) return;
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    database.exec(kRunsTable);
    database.exec("CREATE INDEX IF NOT EXISTS runs_running ON runs (status) WHERE status = 'running'");
    for (const RowType& type : rowTypes()) makeRowTable(database, type);
    database.exec("PRAGMA application_id = " + std::to_string(kStoreApplicationId));
    database.exec("PRAGMA user_version = " + std::to_string(kStoreVersion));
    transaction.commit();
}

void markOrphans(SQLite::Database& database) {
    std::vector<std::pair<std::int64_t, std::string>> gone;
    SQLite::Statement running(database, "SELECT number, owner FROM runs WHERE status = 'running'");
    while (running.executeStep())
        if (const std::string owner = running.getColumn(1).getString(); !mayStillRun(owner))
            gone.emplace_back(running.getColumn(0).getInt64(), owner);
    for (const auto& [number, owner] : gone) {
        // Still under the owner that was found dead: nobody may have taken it over meanwhile.
        SQLite::Statement mark(database,
                               "UPDATE runs SET status = 'interrupted', reason = ? WHERE number = ? AND status = 'running' AND owner = ?");
        mark.bind(1, kOrphanReason);
        mark.bind(2, number);
        mark.bind(3, owner);
        mark.exec();
    }
}

void bindValue(SQLite::Statement& statement, int index, const Value& value) {
    std::visit([&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) statement.bind(index);
        else if constexpr (std::is_same_v<Held, bool>) statement.bind(index, held ? 1 : 0);
        else if constexpr (std::is_same_v<Held, std::int64_t>) statement.bind(index, held);
        else if constexpr (std::is_same_v<Held, double>) {
            if (std::isnan(held)) statement.bind(index, "nan");  // SQLite would keep NaN as NULL, which is "not known"
            else statement.bind(index, held);
        } else statement.bind(index, held);
    }, value);
}

Value valueFrom(const SQLite::Column& cell, ColumnKind kind) {
    if (cell.isNull()) return {};
    switch (kind) {
        case ColumnKind::text: return cell.getString();
        case ColumnKind::integer: return cell.getInt64();
        case ColumnKind::boolean: return cell.getInt() != 0;
        case ColumnKind::number:
            if (cell.isText()) return std::numeric_limits<double>::quiet_NaN();
            return cell.getDouble();
    }
    return {};
}

Error storeError(const SQLite::Exception& problem, const std::filesystem::path& file) {
    const std::string name = file.string();
    const std::string other = "choose another with --store FILE";
    switch (problem.getErrorCode()) {
        case SQLITE_NOTADB: return makeError(ErrorCode::environment, name + " is not a Kernelscope store: it is no database", other);
        case SQLITE_CORRUPT: return makeError(ErrorCode::environment, "the store " + name + " is damaged", "restore it from a backup, or " + other);
        case SQLITE_CANTOPEN: return makeError(ErrorCode::environment, "the store " + name + " cannot be opened or made", "check the folder's permissions and how many files may be open (ulimit -n), or " + other);
        case SQLITE_READONLY:
        case SQLITE_PERM: return makeError(ErrorCode::environment, "the store " + name + " is not writable", "check its permissions, or " + other);
        case SQLITE_FULL: return makeError(ErrorCode::environment, "no space is left for the store " + name, "free some space, or " + other);
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return makeError(ErrorCode::environment, "the store " + name + " is locked by another program", "close it and try again");
        case SQLITE_IOERR: return makeError(ErrorCode::environment, "the store " + name + " cannot be read or written: " + problem.getErrorStr(), other);
        default: return makeError(ErrorCode::environment, "the store " + name + ": " + problem.what(), other);
    }
}

namespace {
/// The switch needs the file for a moment alone, and SQLite does not wait for that: two programs that make the same
/// store at once would stumble over each other.
void useWal(SQLite::Database& database) {
    for (int attempt = 0;; ++attempt) {
        try {
            database.exec("PRAGMA journal_mode = WAL");
            return;
        } catch (const SQLite::Exception& problem) {
            if (problem.getErrorCode() != SQLITE_BUSY || attempt == 200) throw;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}
}  // namespace

Store::Impl::Impl(std::filesystem::path file) : m_file(std::move(file)) {
    const std::string name = m_file.string();
    m_writer = std::make_unique<Connection>(name, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_FULLMUTEX);
    SQLite::Database& database = m_writer->database();
    // Committed rows survive the death of any process; NORMAL spares a disk flush a row, at the price of the last
    // rows when the power fails.
    useWal(database);
    database.exec("PRAGMA synchronous = NORMAL");
    prepareSchema(database, m_file);
    markOrphans(database);
    if (name == ":memory:") return;
    m_held = std::make_unique<HeldFile>(m_file);
    m_reader = std::make_unique<Connection>(name, SQLite::OPEN_READWRITE | SQLite::OPEN_FULLMUTEX);
    // The log beside the file is opened by the first read: now, so that both connections have the same one wherever the file goes.
    pragma(m_reader->database(), "user_version");
}

bool canChange(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    return mayWrite(file) && mayWrite(folder);
}

namespace {

/// A path as an address that SQLite takes options with.
std::string addressOf(const std::filesystem::path& file, const std::string& options) {
    std::string address = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {
        if (c == '?' || c == '#' || c == '%') {
            constexpr char kDigits[] = "0123456789abcdef";
            address += '%';
            address += kDigits[static_cast<unsigned char>(c) >> 4];
            address += kDigits[static_cast<unsigned char>(c) & 15];
        } else address += c;
    }
    return address + "?" + options;
}

std::unique_ptr<Connection> openUnchanging(const std::filesystem::path& file) {
    std::error_code ignored;
    std::filesystem::path log = file;
    log += "-wal";
    // Reading a store in WAL mode needs a log beside it, unless nothing can change: true where nobody may write and there is none.
    const bool unmerged = std::filesystem::file_size(log, ignored) > 0 && !ignored;
    const std::string address = addressOf(file, unmerged ? "mode=ro" : "immutable=1");
    return std::make_unique<Connection>(address, SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_FULLMUTEX);
}

}  // namespace

Store::Impl::Impl(std::filesystem::path file, ReadOnly) : m_file(std::move(file)), m_readOnly(true) {
    m_writer = openUnchanging(m_file);
    refuseForeign(m_writer->database(), m_file);
    if (isUpToDate(m_writer->database())) return;
    // Tables of an older version: brought up to date in a copy.
    auto copy = std::make_unique<Connection>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_FULLMUTEX);
    SQLite::Backup(copy->database(), m_writer->database()).executeStep();
    prepareSchema(copy->database(), m_file);
    copy->database().exec("PRAGMA query_only = 1");
    m_writer = std::move(copy);
}

std::int64_t runNumber(Connection& connection, const std::string& runId) {
    Prepared query = connection.statement("SELECT number FROM runs WHERE id = ?");
    query.bind(1, runId);
    const std::int64_t number = query.executeStep() ? query.getColumn(0).getInt64() : 0;
    return number;
}

}  // namespace kernelscope
