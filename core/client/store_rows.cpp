#include "core/client/store_database.h"

namespace kernelscope {

namespace {

std::string columnList(const RowType& type) {
    std::string list;
    for (const Column& column : type.columns) list += (list.empty() ? "" : ", ") + quotedName(column.name);
    return list;
}

const RowType* typeOf(const std::string& name) { return findRowType(name); }

Error unknownType(const std::string& name) { return makeError(ErrorCode::badInput, "there is no row type '" + name + "'"); }

struct RowStatements {
    std::string insert, update;
};

/// The SQL of a row type; made once a process and type, since a sweep writes thousands of rows.
const RowStatements& statementsOf(const RowType& type) {
    static std::mutex mutex;
    static std::map<std::string, RowStatements, std::less<>> all;
    const std::lock_guard lock(mutex);
    auto found = all.find(type.name);
    if (found == all.end()) {
        const std::string table = tableOf(type);
        std::string marks, assignments;
        for (const Column& column : type.columns) {
            marks += ", ?";
            assignments += (assignments.empty() ? "" : ", ") + quotedName(column.name) + " = ?";
        }
        RowStatements statements;
        statements.insert = "INSERT INTO " + table + " (_run, _key, " + columnList(type) + ", _place) VALUES (?1, ?2" + marks +
                            ", (SELECT ifnull(max(_place) + 1, 0) FROM " + table + " WHERE _run = ?1)) ON CONFLICT (_run, _key) DO NOTHING";
        statements.update = "UPDATE " + table + " SET " + assignments + " WHERE _run = ? AND _key = ?";
        found = all.emplace(std::string(type.name), std::move(statements)).first;
    }
    return found->second;
}

/// True when the row is new.
bool putOne(Connection& connection, std::int64_t number, const RowType& type, const RowRecord& row) {
    const RowStatements& sql = statementsOf(type);
    Prepared insert = connection.statement(sql.insert);
    insert.bind(1, number);
    if (row.key.empty()) insert.bind(2);  // NULL keys never conflict
    else insert.bind(2, row.key);
    int index = 3;
    for (const Value& value : row.values) bindValue(insert, index++, value);
    if (insert.exec() > 0) return true;
    Prepared update = connection.statement(sql.update);
    index = 1;
    for (const Value& value : row.values) bindValue(update, index++, value);
    update.bind(index++, number);
    update.bind(index, row.key);
    update.exec();
    return false;
}

std::vector<RowRecord> recordsFrom(Prepared& query, const RowType& type) {
    std::vector<RowRecord> records;
    while (query.executeStep()) {
        RowRecord record{std::string(type.name), query.getColumn(0).getString(), {}};
        record.values.reserve(type.columns.size());
        for (std::size_t i = 0; i < type.columns.size(); ++i) record.values.push_back(valueFrom(query.getColumn(static_cast<int>(i) + 1), type.columns[i].kind));
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace

Result<void> Store::putRow(const std::string& runId, const RowRecord& row) { return putRows(runId, std::span(&row, 1)); }

Result<void> Store::putRows(const std::string& runId, std::span<const RowRecord> rows) {
    for (const RowRecord& row : rows) {
        const RowType* type = typeOf(row.type);
        if (!type) return unknownType(row.type);
        if (row.values.size() != type->columns.size())
            return makeError(ErrorCode::badInput, "a row of type " + row.type + " has " + std::to_string(row.values.size()) + " values instead of " +
                                                      std::to_string(type->columns.size()));
    }
    return m_impl->write([&](Connection& connection) -> Result<void> {
        SQLite::Transaction transaction(connection.database(), SQLite::TransactionBehavior::IMMEDIATE);
        const std::int64_t number = runNumber(connection, runId);
        if (number == 0) return makeError(ErrorCode::badInput, "there is no run '" + runId + "'");
        Prepared kindQuery = connection.statement("SELECT kind FROM runs WHERE number = ?");
        kindQuery.bind(1, number);
        kindQuery.executeStep();
        const std::string kind = kindQuery.getColumn(0).getString();
        std::int64_t added = 0;
        for (const RowRecord& row : rows)
            if (putOne(connection, number, *typeOf(row.type), row) && row.type == kind) ++added;
        if (added > 0) {
            Prepared count = connection.statement("UPDATE runs SET row_count = row_count + ? WHERE number = ?");
            count.bind(1, added);
            count.bind(2, number);
            count.exec();
        }
        transaction.commit();
        return {};
    });
}

Result<std::vector<RowRecord>> Store::rows(const std::string& runId, const std::string& type) const { return rows(runId, type, 0, -1); }

Result<std::vector<RowRecord>> Store::rows(const std::string& runId, const std::string& typeName, std::int64_t offset, std::int64_t count) const {
    const RowType* type = typeOf(typeName);
    if (!type) return unknownType(typeName);
    return m_impl->read([&](Connection& connection) -> Result<std::vector<RowRecord>> {
        const std::int64_t number = runNumber(connection, runId);
        if (number == 0) return makeError(ErrorCode::badInput, "there is no run '" + runId + "'");
        // Places count up from 0 without gaps (rows are never deleted one by one), so a page is a range of the key.
        Prepared query = connection.statement("SELECT _key, " + columnList(*type) + " FROM " + tableOf(*type) +
                                                        " WHERE _run = ? AND _place >= ? AND _place < ? ORDER BY _place");
        query.bind(1, number);
        query.bind(2, offset);
        query.bind(3, count < 0 || offset > INT64_MAX - count ? INT64_MAX : offset + count);
        return recordsFrom(query, *type);
    });
}

Result<std::vector<RowRecord>> Store::rowsWhere(const std::string& runId, const std::string& typeName, const std::string& column, const std::string& text) const {
    const RowType* type = typeOf(typeName);
    if (!type) return unknownType(typeName);
    if (type->indexOf(column) < 0) return makeError(ErrorCode::badInput, "rows of type " + typeName + " have no column " + column);
    return m_impl->read([&](Connection& connection) -> Result<std::vector<RowRecord>> {
        const std::int64_t number = runNumber(connection, runId);
        if (number == 0) return makeError(ErrorCode::badInput, "there is no run '" + runId + "'");
        Prepared query = connection.statement("SELECT _key, " + columnList(*type) + " FROM " + tableOf(*type) + " WHERE _run = ? AND " + quotedName(column) + " = ? ORDER BY _place");
        query.bind(1, number);
        query.bind(2, text);
        return recordsFrom(query, *type);
    });
}

Result<std::int64_t> Store::rowCount(const std::string& runId, const std::string& typeName) const {
    const RowType* type = typeOf(typeName);
    if (!type) return unknownType(typeName);
    return m_impl->read([&](Connection& connection) -> Result<std::int64_t> {
        const std::int64_t number = runNumber(connection, runId);
        if (number == 0) return makeError(ErrorCode::badInput, "there is no run '" + runId + "'");
        Prepared query = connection.statement("SELECT ifnull(max(_place) + 1, 0) FROM " + tableOf(*type) + " WHERE _run = ?");
        query.bind(1, number);
        query.executeStep();
        const std::int64_t count = query.getColumn(0).getInt64();
        return count;
    });
}

Result<std::vector<bool>> Store::filledColumns(const std::string& runId, const std::string& typeName) const {
    const RowType* type = typeOf(typeName);
    if (!type) return unknownType(typeName);
    return m_impl->read([&](Connection& connection) -> Result<std::vector<bool>> {
        const std::int64_t number = runNumber(connection, runId);
        if (number == 0) return makeError(ErrorCode::badInput, "there is no run '" + runId + "'");
        std::string list;
        for (const Column& column : type->columns) list += (list.empty() ? "" : ", ") + ("max(" + quotedName(column.name) + " <> '')");  // NULL for NULL
        Prepared query = connection.statement("SELECT " + list + " FROM " + tableOf(*type) + " WHERE _run = ?");
        query.bind(1, number);
        query.executeStep();
        std::vector<bool> filled;
        for (std::size_t i = 0; i < type->columns.size(); ++i) filled.push_back(query.getColumn(static_cast<int>(i)).getInt() != 0);
        return filled;
    });
}

}  // namespace kernelscope
