#pragma once

#include <memory>

#include "core/engine/job.h"

namespace kernelscope {

/// Settings: {revision}; the request's model is the id at the hub. Rows: none.
std::unique_ptr<Job> makeModelGetJob(const JobRequest& request);

}  // namespace kernelscope
