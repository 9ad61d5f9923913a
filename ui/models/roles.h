#pragma once

#include <Qt>

namespace kernelscope::ui {

/// What our item models answer beside the display text.
enum Role {
    kRawRole = Qt::UserRole + 1,  ///< the value itself (double, qint64 or text): sorting and copying
    kSwatchRole,                  ///< QColor of a module type, drawn as a small square before the text
    kToneRole,                    ///< int, a Tone: colours the text
    kIconRole,                    ///< name of an icon before the text; never colour alone
    kPinnedRole,                  ///< int: rows above 0 stay at the bottom whatever the order, in this order
    kNumericRole,                 ///< bool: right-aligned figures of one width
};

enum class Tone { normal, muted, good, warn, bad };

}  // namespace kernelscope::ui
