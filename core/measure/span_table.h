#pragma once
// Passes in, profile rows out: groups visits by the rows of a level, keeps every pass, computes shares and intervals.

#include <optional>
#include <string>
#include <vector>

#include "core/measure/span_recorder.h"
#include "core/records/rows.h"

namespace kernelscope {

/// What a level's rows are and which module counts to which.
struct RowGroups {
    struct Group {
        std::string name;
        std::string type;
        bool selfOnly = false;  ///< a parent at level leaf: its own work alone
    };
    std::vector<Group> groups;
    std::vector<int> groupOf;  ///< by module index; -1: not timed at this level
};
RowGroups makeRowGroups(const std::vector<ModuleInfo>& modules, ProfileLevel level);

class SpanTable {
public:
    SpanTable(std::string phase, ProfileLevel level, const std::vector<ModuleInfo>& modules);

    void addInstrumented(const PassSpans& pass) { addInstrumented(pass, {pass}); }
    /// A pass put together from the passes of a round.
    void addInstrumented(const PassSpans& whole, const std::vector<PassSpans>& round);
    void addPlain(double totalUs) { m_plainUs.push_back(totalUs); }

    /// The rows so far: one a group that was visited, then unattributed, total and profiler tax. Intervals cost time
    /// (a bootstrap over passes): ask for them once, at the end; of one pass there are none. A share is the sum of self times over all passes over the sum of totals.
    [[nodiscard]] std::vector<ProfileRow> rows(bool withIntervals) const;

    /// Raw: self spans round by round, totals pass by pass, keyed as rows are.
    [[nodiscard]] std::vector<SampleRow> samples() const;

    /// Median self span by module index, where the module was visited: for the layer heat map.
    [[nodiscard]] std::vector<std::optional<double>> medianSelfByModule() const;

    [[nodiscard]] const std::vector<double>& plainUs() const { return m_plainUs; }

    /// Key of a row in its run: "decode/type/RMSNorm".
    [[nodiscard]] std::string keyOf(const std::string& rowName) const;

private:
    struct Series {
        std::vector<double> selfUs, spanUs;  // by pass
        std::vector<std::int64_t> calls;
    };
    ProfileRow baseRow(const std::string& name, const std::string& type) const;

    std::string m_phase;
    ProfileLevel m_level;
    RowGroups m_groups;
    std::vector<Series> m_series;                 // by group
    std::vector<std::vector<double>> m_byModule;  // self spans by module, by pass
    std::vector<double> m_totalUs, m_unattributedUs;  // by whole pass
    std::vector<double> m_instrumentedUs, m_plainUs;  // by pass that ran
};

}  // namespace kernelscope
