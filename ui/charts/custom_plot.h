#pragma once
// qcustomplot.h needs Qt's keywords and warns under our flags: everything that needs it includes this.

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wdeprecated-copy"
#endif
#include <qcustomplot.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
