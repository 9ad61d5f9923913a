#pragma once
// A run on paper, or as PDF.

#include <string>

#include <QList>

class QTextDocument;

namespace kernelscope::ui {

class Chart;

/// The run's Markdown document with the page's charts, as they are shown, in front of its table.
void fillPrintout(QTextDocument& document, const std::string& markdown, const QList<Chart*>& charts);

}  // namespace kernelscope::ui
