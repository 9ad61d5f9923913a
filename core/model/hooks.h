#pragma once
// Every module of the model is called through one function that runs hooks before and after it. The profiler is one
// such hook; a test that counts calls is another. No torch here.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelscope {

/// What a module's time counts to. `none` is a container (the model, a decoder layer) whose own time is its children's
/// plus what nothing covers.
enum class ModuleType { none, embedding, rotary, rmsNorm, attention, mlp, residual, lmHead };

/// "Attention", "RMSNorm", ... as in the profile's rows; "" for none.
std::string_view toString(ModuleType type);

/// A node of the module tree. `index` is its place in Qwen2Model::modules(), parents before children.
struct ModuleInfo {
    int index = 0;
    int parent = -1;       ///< index, -1 for the root
    int layer = -1;        ///< decoder layer, -1 outside
    int depth = 0;         ///< root 0, embedding and decoder layers 1, attention 2, q_proj 3
    ModuleType type = ModuleType::none;
    bool typeRoot = false; ///< outermost module of its type: what level "type" times
    std::string path;      ///< Hugging Face path: "model.layers.0.self_attn.q_proj"; the root is "model_forward"
    bool isOperator = false;  ///< no module of the model: all calls of one replaceable operator ("op:rms_norm"), for level "op"
};

class ModuleHook {
public:
    virtual ~ModuleHook() = default;
    virtual void enter(const ModuleInfo& module) = 0;
    virtual void leave(const ModuleInfo& module) = 0;
    /// By ModuleInfo::index, which modules it is called for; null: all. Asked when the hook is added; lives as long as it. A hook that is alone in force is not called for
    /// the others: in a pass that waits for the host each call costs the pass its time.
    [[nodiscard]] virtual const std::vector<char>* calledFor() const { return nullptr; }
};

/// The hooks in force during a forward pass. Not thread-safe: a pass runs on one thread.
class Hooks {
public:
    void add(ModuleHook* hook) {
        m_hooks.push_back(hook);
        findCalled();
    }
    void remove(ModuleHook* hook) {
        std::erase(m_hooks, hook);
        findCalled();
    }

    /// Runs `body` as `module`: hooks' enter in order, body, hooks' leave in reverse order (also when body throws).
    template <typename Body>
    decltype(auto) call(const ModuleInfo& module, Body&& body) {
        if (m_hooks.empty() || (m_called && !m_called[module.index])) return std::forward<Body>(body)();
        const Scope scope(m_hooks, module);
        return std::forward<Body>(body)();
    }

private:
    struct Scope {
        const std::vector<ModuleHook*>& hooks;
        const ModuleInfo& module;
        Scope(const std::vector<ModuleHook*>& h, const ModuleInfo& m) : hooks(h), module(m) {
            for (ModuleHook* hook : hooks) hook->enter(module);
        }
        ~Scope() {
            for (auto it = hooks.rbegin(); it != hooks.rend(); ++it) (*it)->leave(module);
        }
        Scope(const Scope&) = delete;
    };
    void findCalled() {
        const std::vector<char>* called = m_hooks.size() == 1 ? m_hooks.front()->calledFor() : nullptr;
        m_called = called ? called->data() : nullptr;
    }

    std::vector<ModuleHook*> m_hooks;
    const char* m_called = nullptr;  // by module, where one hook alone is in force
};

}  // namespace kernelscope
