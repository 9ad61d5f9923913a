#pragma once
// Inside of the store: its connections, its schema, and how a value becomes a cell. Only store*.cpp use this.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/client/file.h"
#include "core/client/store.h"
#include "core/records/rows.h"

namespace kernelscope {

/// Version of the tables, kept in user_version. Older ones are brought up to date, newer ones refused.
inline constexpr int kStoreVersion = 1;
/// Marks the file as ours among SQLite files: "KScp".
inline constexpr int kStoreApplicationId = 0x4B536370;
/// How long a writer waits for another process's transaction; each of ours takes milliseconds.
inline constexpr int kBusyTimeoutMs = 10'000;

/// A prepared statement for as long as its rows are read. Left running it would hold its connection to an old
/// snapshot of the file, so the end of the scope resets it.
class Prepared {
public:
    explicit Prepared(SQLite::Statement& statement) : m_statement(&statement) {}
    ~Prepared() { m_statement->tryReset(); }
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;

    template <typename... Arguments>
    void bind(int index, Arguments&&... value) { m_statement->bind(index, std::forward<Arguments>(value)...); }
    int exec() { return m_statement->exec(); }
    bool executeStep() { return m_statement->executeStep(); }
    SQLite::Column getColumn(int index) { return m_statement->getColumn(index); }
    operator SQLite::Statement&() { return *m_statement; }

private:
    SQLite::Statement* m_statement;
};

/// A connection and its prepared statements; one thread at a time.
class Connection {
public:
    Connection(const std::string& file, int flags);
    SQLite::Database& database() { return m_database; }
    /// Prepared once; without bindings on return. One use at a time of one SQL text.
    Prepared statement(const std::string& sql);
    std::mutex& mutex() { return m_mutex; }

private:
    std::mutex m_mutex;
    SQLite::Database m_database;
    std::map<std::string, SQLite::Statement> m_statements;
};

/// True when the tables are those of this version: opening then writes nothing.
bool isUpToDate(SQLite::Database& database);

/// Throws Error for a newer store, and for another program's database.
void refuseForeign(SQLite::Database& database, const std::filesystem::path& file);

/// Makes or brings up to date every table. Throws SQLite::Exception, or Error for what it refuses.
void prepareSchema(SQLite::Database& database, const std::filesystem::path& file);

inline constexpr const char* kOrphanReason = "the program that ran it ended before it did";
/// Marks running runs whose owner is gone as interrupted.
void markOrphans(SQLite::Database& database);

std::string tableOf(const RowType& type);
std::string quotedName(std::string_view name);

void bindValue(SQLite::Statement& statement, int index, const Value& value);
Value valueFrom(const SQLite::Column& cell, ColumnKind kind);

/// The number by which rows know their run; 0 when there is none.
std::int64_t runNumber(Connection& connection, const std::string& runId);

/// SQLite's complaint in words that name the file and the way out.
Error storeError(const SQLite::Exception& problem, const std::filesystem::path& file);

/// May the database and the files beside it (its log) be written?
bool canChange(const std::filesystem::path& file);

class Store::Impl {
public:
    explicit Impl(std::filesystem::path file);
    struct ReadOnly {};
    Impl(std::filesystem::path file, ReadOnly);

    /// Runs `work(connection)` under the connection's lock and turns exceptions into errors.
    template <typename Work>
    auto write(Work work) -> decltype(work(std::declval<Connection&>())) {
        if (m_held && m_held->deleted())
            return makeError(ErrorCode::environment, "the store " + m_file.string() + " was deleted or replaced while it was in use",
                             "save what is shown (an export, --csv, --json): it is kept nowhere else");
        return guarded(*m_writer, work);
    }
    template <typename Work>
    auto read(Work work) -> decltype(work(std::declval<Connection&>())) { return guarded(m_reader ? *m_reader : *m_writer, work); }

    const std::filesystem::path& file() const { return m_file; }
    bool isReadOnly() const { return m_readOnly; }

private:
    template <typename Work>
    auto guarded(Connection& connection, Work work) -> decltype(work(connection)) {
        const std::lock_guard lock(connection.mutex());
        try {
            return work(connection);
        } catch (const SQLite::Exception& problem) {
            return storeError(problem, m_file);
        }
    }

    std::filesystem::path m_file;
    bool m_readOnly = false;
    std::unique_ptr<HeldFile> m_held;  ///< none in memory
    std::unique_ptr<Connection> m_writer;
    std::unique_ptr<Connection> m_reader;  ///< so that reading a large run does not hold up new rows; none in memory
};

}  // namespace kernelscope
