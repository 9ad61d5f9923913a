#pragma once
// One file of a model into the cache: resumed where it was cut, verified before it counts.

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "core/hub/http.h"
#include "core/hub/listing.h"
#include "core/hub/place.h"

namespace kernelscope {

/// How patient to be. Tests are not.
struct FetchPatience {
    int attempts = 6;                                ///< in a row that bring nothing
    std::chrono::milliseconds pause{1000};           ///< before the second attempt; doubles each time
    std::chrono::seconds longestWait{120};           ///< that a hub may ask for (Retry-After)
};

/// What a fetch tells while it goes on.
struct FetchListener {
    std::function<void(const std::string& phase, std::int64_t bytesInFile)> moved;  ///< several times a second, also while waiting
    std::function<void(std::int64_t bytes)> arrived;                                ///< bytes that came over the net just now
};

/// A model at a hub: what every request about it needs.
struct HubModel {
    const HubPlace& place;
    std::string id, revision;
};

/// Asks and waits as the hub wishes: again after 429 and 5xx and a broken connection. Statuses below 400 are returned, others
/// become errors in words: badInput (no such model, not for you), environment (unreachable, out of order), cancelled.
Result<HttpAnswer> askHub(Http& http, const HubModel& model, const HttpRequest& request, const Http::Body& body, const std::stop_token& stop, const FetchPatience& patience,
                          const FetchListener& listener);

/// Puts `file` under its digest into the cache folder of its model. A blob that is there is verified as well. Errors: as askHub;
/// environment: no space, not writable, a digest that does not match twice.
Result<std::filesystem::path> fetchBlob(Http& http, const HubModel& model, const HubFile& file, const std::string& commit, const std::filesystem::path& modelFolder,
                                        const std::stop_token& stop, const FetchPatience& patience, const FetchListener& listener);

}  // namespace kernelscope
