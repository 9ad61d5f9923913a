// A small pool for callers that bring no threads of their own.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/cpu/parallel.h"

namespace kernelscope::kernels::cpu {
namespace {

using Body = void (*)(void*, int64_t);

/// One job at a time. The caller works too and can finish alone, so a pool whose threads are gone (after fork) is slow, not stuck.
class ThreadPool {
public:
    explicit ThreadPool(unsigned workers) {
        for (unsigned i = 0; i < workers; ++i) m_threads.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }

    void run(int64_t count, Body body, void* self) {
        const std::unique_lock oneJob(m_running, std::try_to_lock);
        if (!oneJob.owns_lock()) {  // another caller has the threads
            for (int64_t i = 0; i < count; ++i) body(self, i);
            return;
        }
        {
            const std::lock_guard lock(m_mutex);
            m_body = body;
            m_self = self;
            m_count = count;
            m_next.store(0, std::memory_order_relaxed);
            m_open = true;
            ++m_generation;
        }
        m_wake.notify_all();
        takePieces();
        std::unique_lock lock(m_mutex);
        m_open = false;  // nobody joins any more
        m_idle.wait(lock, [this] { return m_inside == 0; });
    }

private:
    void takePieces() {
        for (int64_t i = m_next.fetch_add(1); i < m_count; i = m_next.fetch_add(1)) m_body(m_self, i);
    }

    void work(const std::stop_token& stop) {
        uint64_t seen = 0;
        std::unique_lock lock(m_mutex);
        while (m_wake.wait(lock, stop, [&] { return m_open && m_generation != seen; })) {
            seen = m_generation;
            ++m_inside;
            lock.unlock();
            takePieces();
            lock.lock();
            if (--m_inside == 0) m_idle.notify_one();
        }
    }

    std::mutex m_running;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::condition_variable m_idle;
    Body m_body = nullptr;
    void* m_self = nullptr;
    int64_t m_count = 0;
    std::atomic<int64_t> m_next{0};
    bool m_open = false;
    uint64_t m_generation = 0;
    int m_inside = 0;
    std::vector<std::jthread> m_threads;  // last: they stop before the rest goes
};

}  // namespace

const ks_executor& ownThreads() {
    // The C functions have no handle that could own the threads, so the first large call starts them.
    static ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()) - 1);
    static const ks_executor executor{
        [](void* self, int64_t count, Body body, void* bodySelf) { static_cast<ThreadPool*>(self)->run(count, body, bodySelf); }, &pool,
        std::max(1u, std::thread::hardware_concurrency())};
    return executor;
}

}  // namespace kernelscope::kernels::cpu
