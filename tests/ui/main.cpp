// Runs the tests of the window without a screen, in an application that knows how long each event took.

#include <gtest/gtest.h>

#include <QStandardPaths>

#include "ui/icons.h"
#include "ui/stall_watch.h"
#include "ui/text.h"

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    ::testing::InitGoogleTest(&argc, argv);
    kernelscope::ui::WatchedApplication application(argc, argv);
    kernelscope::ui::readFiguresAsFilesHaveThem();
    QStandardPaths::setTestModeEnabled(true);
    kernelscope::ui::initResources();
    return RUN_ALL_TESTS();
}
