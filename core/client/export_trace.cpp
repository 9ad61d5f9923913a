#include <cmath>
#include <map>

#include "core/client/export_pieces.h"
#include "core/records/json_read.h"
#include "core/records/rows.h"

namespace kernelscope {

using nlohmann::json;

namespace {

/// Viewers keep whole nanoseconds, and pass over an event that does not nest in one that began before it. A begin and a duration rounded apart, by them, make
/// neighbours overlap by a nanosecond; instants rounded once do not.
struct WholeNanoseconds {
    double begin, duration;  // of microseconds: three decimals
    WholeNanoseconds(double beginUs, double durationUs) {
        const double from = std::round(1000 * beginUs), to = std::round(1000 * (beginUs + durationUs));
        begin = from / 1000;
        duration = (to - from) / 1000;
    }
};

}  // namespace

Result<void> traceDocument(const RunHeader& header, const RowPages& events, const TextSink& sink) {
    if (events.count == 0)
        return makeError(ErrorCode::badInput, "run " + header.id + " keeps no timeline of a pass",
                         header.kind == RowSchema<ProfileRow>::kName ? "a profile has one once it is done, and an imported one where its file had it; measure it again"
                                                                     : "profile runs do; this one is of kind " + header.kind);
    // A process a phase, a thread a track, in the order in which the engine told them.
    std::map<std::string, int> phases;
    std::map<std::pair<int, std::string>, int> tracks;
    PieceWriter out(sink);
    // Chrome's format has room for words about the whole under otherData; viewers show it or pass it over.
    if (const auto begun = out.add("{\"displayTimeUnit\": \"ns\",\n\"otherData\": " + dumpJson(toJson(header).at("run")) + ",\n\"traceEvents\": ["); !begun) return begun;
    bool first = true;
    std::string lines;
    const auto add = [&](const json& event) {
        lines += (first ? "\n" : ",\n") + dumpJson(event);
        first = false;
    };
    const auto nameOf = [](const std::string& track) -> std::string {
        if (track == "cpu") return "Host: enqueueing";
        if (track == "span") return "Device: modules";
        if (track == "kernel") return "Device: kernels, back to back";
        return track;
    };
    const auto written = firstRows(events, -1, [&](const RowRecord& record) -> Result<void> {
        const auto event = rowFrom<ProfileEventRow>(record.values);
        if (!event) return {};
        lines.clear();
        const auto [phase, newPhase] = phases.emplace(event->phase, static_cast<int>(phases.size()) + 1);
        if (newPhase) add({{"ph", "M"}, {"name", "process_name"}, {"pid", phase->second}, {"args", {{"name", event->phase}}}});
        const auto [track, newTrack] = tracks.emplace(std::pair(phase->second, event->track), static_cast<int>(tracks.size()) + 1);
        if (newTrack)
            add({{"ph", "M"}, {"name", "thread_name"}, {"pid", phase->second}, {"tid", track->second}, {"args", {{"name", nameOf(event->track)}}}});
        const WholeNanoseconds time(event->beginUs, event->durationUs);
        add({{"ph", "X"}, {"name", event->name}, {"cat", event->type}, {"pid", phase->second}, {"tid", track->second}, {"ts", time.begin},
             {"dur", time.duration}, {"args", {{"module", event->path}, {"type", event->type}}}});
        return out.add(lines);
    });
    if (!written) return written;
    if (const auto ended = out.add("\n]}\n"); !ended) return ended;
    return out.flush();
}

}  // namespace kernelscope
