#pragma once

#include <QString>

#include "core/records/result.h"
#include "ui/services/run_rows.h"

namespace kernelscope::ui {

/// Writes the rows of the run's kind: CSV, or JSON with the header where the file's name ends in .json. The file
/// appears complete or not at all; a missing folder is made.
Result<void> exportRun(const RunRows& run, const QString& file);

/// The file complete or not at all; a missing folder is made.
Result<void> writeFile(const QString& file, const std::string& text);

/// "profile-qwen2.5-0.5b-20260131-1234.csv", for the file dialog.
QString suggestedFileName(const RunHeader& run, const QString& suffix);

}  // namespace kernelscope::ui
