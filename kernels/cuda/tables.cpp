#include "kernels/cuda/tables.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/common/backend.h"

namespace kernelscope::kernels::cuda {
namespace {

constexpr int kOperators = 4;
constexpr size_t kMostDevices = 64;

/// By operator, then programmatic and plain. Cells without a configuration are not the user's.
struct UserTables {
    Grid grids[kOperators][2];
};

// A call may be reading a table while another replaces it, so none is ever freed: a few KB each time a user tunes.
std::atomic<const UserTables*> g_tables[kMostDevices];
std::mutex g_keeping;
std::vector<std::unique_ptr<const UserTables>> g_kept;

bool isNorm(int op) { return op == KS_RMS_NORM || op == KS_ADD_RMS_NORM; }

const std::array<int64_t, kTableHidden.size()>& keysOf(int op) { return op == KS_SILU_MUL ? kTableWidth : kTableHidden; }

const Choice* cellOf(const Grid& grid, int op, int64_t rows, int64_t hidden) {
    return isNorm(op) ? find(grid, rows, hidden) : &findNearest(grid, keysOf(op), rows, hidden);
}

template <size_t kCount>
int indexIn(const std::array<int64_t, kCount>& keys, int64_t key) {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? -1 : static_cast<int>(found - keys.begin());
}

int put(UserTables& tables, const ks_table_entry& entry) {
    if (entry.op < 0 || entry.op >= kOperators || entry.config < 0 || entry.config >= configCount(entry.op)) return KS_ERROR_CONFIG;
    if (entry.trigger < KS_TRIGGER_TOP || entry.trigger > KS_TRIGGER_END || entry.prefetch < KS_PREFETCH_WEIGHT ||
        entry.prefetch > KS_PREFETCH_HALF_WAVE || entry.blocks_per_sm < 0)
        return KS_ERROR_CONFIG;
    const int row = indexIn(kTableRows, entry.rows);
    const int column = indexIn(keysOf(entry.op), entry.hidden);
    if (row < 0 || column < 0) return KS_ERROR_SIZE;
    tables.grids[entry.op][entry.plain != 0 ? 1 : 0][static_cast<size_t>(column)][static_cast<size_t>(row)] = {
        entry.config, entry.trigger, entry.prefetch, entry.blocks_per_sm};
    return KS_OK;
}

}  // namespace

const Choice* choiceFor(int op, const Grid& builtIn, const Device& device, bool plain, int64_t rows, int64_t hidden) {
    const UserTables* user = static_cast<size_t>(device.id) < kMostDevices ? g_tables[device.id].load(std::memory_order_acquire) : nullptr;
    if (user != nullptr) {
        const Choice* choice = cellOf(user->grids[op][plain ? 1 : 0], op, rows, hidden);
        if (choice != nullptr && choice->config >= 0) return choice;
    }
    return device.hasMeasuredTable() ? cellOf(builtIn, op, rows, hidden) : nullptr;
}

int useTable(std::span<const ks_table_entry> entries) {
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    if (static_cast<size_t>(device.id) >= kMostDevices) return KS_ERROR_CONFIG;
    std::unique_ptr<UserTables> tables;
    if (!entries.empty()) {
        tables = std::make_unique<UserTables>();
        for (const ks_table_entry& entry : entries)
            if (const int status = put(*tables, entry); status != KS_OK) return status;
    }
    const std::lock_guard lock(g_keeping);
    g_tables[device.id].store(tables.get(), std::memory_order_release);
    if (tables) g_kept.push_back(std::move(tables));
    return KS_OK;
}

}  // namespace kernelscope::kernels::cuda
