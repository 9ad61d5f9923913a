#include "app/cli/kernel_options.h"

#include "core/records/list.h"

namespace kernelscope::cli {

void KernelOptions::define(CLI::App& app) {
    app.add_option("--op", m_ops, "Operators, or all (the default)")->type_name("NAME,...");
    app.add_option("--variant", m_variants, "Variants, or all (the default); native is one")->type_name("NAME,...");
    app.add_option("--hidden", m_hidden, "Hidden sizes, such as 896,3584 or 1024-8192x2")->type_name("LIST");
    app.add_option("--rows", m_rows, "Rows, such as 1,8,64-1024x2")->type_name("LIST");
    app.add_option("--dtypes", m_dtypes, "float32, float16, bfloat16")->type_name("LIST");
    m_kernel.define(app);
    app.add_flag("--watch", m_watch, "Again at every save of --kernel's file, saying what changed; Ctrl+C ends");
}

Result<void> putList(nlohmann::json& settings, const std::string& key, const std::string& option, const std::string& text) {
    if (text.empty()) return {};
    const auto values = parseList(text);
    if (!values) return makeError(ErrorCode::usage, option + ": " + values.error().message, values.error().advice);
    settings[key] = *values;
    return {};
}

Result<nlohmann::json> KernelOptions::settings() const {
    nlohmann::json settings = nlohmann::json::object();
    for (const auto& [key, text] : {std::pair{"op", m_ops}, {"variant", m_variants}, {"dtypes", m_dtypes}})
        if (!text.empty()) settings[key] = text;
    if (const auto put = putList(settings, "hidden", "--hidden", m_hidden); !put) return put.error();
    if (const auto put = putList(settings, "rows", "--rows", m_rows); !put) return put.error();
    m_kernel.put(settings);
    return settings;
}

}  // namespace kernelscope::cli
