#pragma once
// A real engine behind a real session, a folder for sources, a store: what tests of kernels of one's own need.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/client/file.h"
#include "core/client/kernel_template.h"
#include "core/client/session.h"
#include "core/client/store.h"
#include "core/records/kernel_rows.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope::test {

class OwnKernel : public testing::Test {
protected:
    OwnKernel() {
        m_store = std::move(*Store::open(m_folder / "runs.sqlite"));
    }
    ~OwnKernel() override {
        m_store.reset();
    }

    std::string write(const std::string& name, const std::string& text) const {
        EXPECT_TRUE(writeFileAtomically(m_folder / name, text).ok());
        return (m_folder / name).string();
    }
    /// The template of an operator, with something in it replaced.
    std::string fromTemplate(const std::string& op, const std::string& name, const std::string& what = {}, const std::string& with = {}) const {
        std::string text = *kernelTemplate(op, name);
        if (!what.empty()) {
            const std::size_t at = text.find(what);
            EXPECT_NE(at, std::string::npos) << what;
            if (at != std::string::npos) text.replace(at, what.size(), with);
        }
        return write(name, text);
    }

    RunHeader run(const std::string& kind, nlohmann::json settings, const std::function<void(const RowRecord&)>& onRow = {}) {
        SessionOptions options;
        options.engine.argv = {"env", "KERNELSCOPE_KERNEL_CACHE=" + (m_folder / "cache").string(), KERNELSCOPE_ENGINE_PATH};
        options.telemetryIntervalMs = 0;
        RunHeader ended;
        SessionListener listener;
        listener.jobFinished = [&](const RunHeader& header, const Finished& finished) {
            ended = header;
            m_finished = finished;
        };
        listener.row = [&](const RowRecord& row) {
            if (onRow) onRow(row);
        };
        Session session(options, m_store.get(), listener);
        JobRequest request;
        request.kind = kind;
        request.model = "qwen2.5-tiny";
        request.device = m_device;
        request.settings = std::move(settings);
        EXPECT_TRUE(session.start(request, "test"));
        session.wait();
        return ended;
    }
    RunHeader validate(const std::string& kernel, nlohmann::json more = {}) {
        nlohmann::json settings{{"kernel", kernel}, {"hidden", {112}}, {"rows", {1, 33}}, {"cases", "all"}};
        if (more.is_object()) settings.update(more);
        return run("validate", settings);
    }

    template <typename Row>
    std::vector<Row> rowsOf(const RunHeader& run) {
        std::vector<Row> rows;
        for (const RowRecord& record : *m_store->rows(run.id, std::string(RowSchema<Row>::kName))) rows.push_back(*rowFrom<Row>(record.values));
        return rows;
    }
    std::map<std::string, int> statusesOf(const RunHeader& run) {
        std::map<std::string, int> counts;
        for (const ValidateRow& row : rowsOf<ValidateRow>(run)) ++counts[row.status];
        return counts;
    }
    bool says(const std::string& part) const { return (m_finished.error.message + "\n" + m_finished.error.advice).find(part) != std::string::npos; }

    TemporaryFolder m_folder;
    std::string m_device = "cpu";
    std::unique_ptr<Store> m_store;
    Finished m_finished;
};

}  // namespace kernelscope::test
