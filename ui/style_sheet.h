#pragma once

#include <QString>

namespace kernelscope::ui {

struct Theme;

/// The application's style sheet: rounded fields and cards, flat buttons. Sizes follow `lineHeight` (pixels).
QString styleSheet(const Theme& theme, int lineHeight);

}  // namespace kernelscope::ui
