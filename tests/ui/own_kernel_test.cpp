// A kernel of one's own on the Kernels page: what is drawn and linked, without an engine.

#include <gtest/gtest.h>

#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>

#include "ui/pages/own_kernel_section.h"
#include "ui/services/editor.h"
#include "ui/services/own_kernel.h"
#include "ui/widgets/own_kernel_card.h"
#include "ui/widgets/version_strip.h"

namespace kernelscope::ui {
namespace {

KernelVersion versionFor(int number, const std::string& state, double us) {
    KernelVersion version;
    version.number = number;
    version.version = "v" + std::to_string(number);
    version.runId = "run" + std::to_string(number);
    version.compiled = state != "not compiled";
    version.state = state;
    if (us > 0) {
        version.speedup = 10 / us;
        for (const int rows : {1, 8, 64}) {
            KernelVersion::Cell cell;
            cell.status = "ok";
            cell.deviceUs = us * rows;
            cell.lowUs = us * rows * 0.99;
            cell.highUs = us * rows * 1.01;
            cell.speedup = 10 / us;
            version.cells["rms_norm float16 " + std::to_string(rows) + " x 896 cold"] = cell;
        }
    } else {
        version.message = "/tmp/my norm.cu:3:7: error: nonsense\n1 error";
    }
    return version;
}

TEST(EditorCommand, SaysTheLineAsEachEditorTakesIt) {
    EXPECT_EQ(editorCommand("code -n", "/a b.cu", 12), (QStringList{"code", "-n", "--goto", "/a b.cu:12"}));
    EXPECT_EQ(editorCommand("/usr/bin/emacs", "a.cu", 3), (QStringList{"/usr/bin/emacs", "+3", "a.cu"}));
    EXPECT_EQ(editorCommand("kate", "a.cu", 3), (QStringList{"kate", "--line", "3", "a.cu"}));
    EXPECT_EQ(editorCommand("subl", "a.cu", 0), (QStringList{"subl", "a.cu"}));
    EXPECT_EQ(editorCommand("vim", "a.cu", 3), QStringList()) << "no terminal to start it in";
    EXPECT_EQ(editorCommand("vim", "a.cu", 3, "xterm"), (QStringList{"xterm", "-e", "vim", "+3", "a.cu"}));
    EXPECT_EQ(editorCommand("", "a.cu", 3), QStringList());
}

TEST(CompileLog, LinksEveryPlaceAndEscapesTheRest) {
    const QString html = linkedLog("/tmp/my norm.cu:3:7: error: a < b\nnote: see\nother.h:9: warning: x");
    EXPECT_TRUE(html.contains("href=\"kernel:3#/tmp/my%20norm.cu\"")) << qPrintable(html);
    EXPECT_TRUE(html.contains("href=\"kernel:9#other.h\"")) << qPrintable(html);
    EXPECT_TRUE(html.contains("a &lt; b")) << qPrintable(html);
    EXPECT_EQ(html.count("<a "), 2);
}

TEST(CompileLog, OfALongOneTheWholeIsALinkToo) {
    const QString html = linkedLog("a.cpp:1:2: error: no\nand 37 more lines, in /home/me/my cache/a.log");
    EXPECT_TRUE(html.contains("and <a href=\"kernel:1#/home/me/my%20cache/a.log\">37 more lines, in /home/me/my cache/a.log</a>")) << qPrintable(html);
}

TEST(KernelResources, AreWordsAndEqualTypesShareALine) {
    nlohmann::json one{{"type", "float16"}, {"registers", 40}, {"shared_bytes", 128}, {"local_bytes", 0}, {"block", 256}, {"blocks_per_multiprocessor", 6}, {"occupancy_pct", 75.0}, {"limited_by", "registers: 40 a thread"}};
    nlohmann::json two = one;
    two["type"] = "bfloat16";
    nlohmann::json three = one;
    three["type"] = "float32";
    three["local_bytes"] = 64;
    const QString words = resourceWords({one, two, three});
    EXPECT_EQ(words.count('\n'), 1) << qPrintable(words);
    EXPECT_TRUE(words.startsWith("float16, bfloat16: 40 registers, 128 bytes of shared memory, no spills; 6 blocks of 256 threads")) << qPrintable(words);
    EXPECT_TRUE(words.contains("64 bytes of local memory a thread: registers are spilled")) << qPrintable(words);
    EXPECT_EQ(resourceWords(nullptr), QString());
}

TEST(VersionStrip, TheNewestIsChosenAndTheArrowsMove) {
    VersionStrip strip;
    strip.resize(900, 60);
    strip.setVersions({versionFor(1, "right", 5), versionFor(2, "not compiled", 0), versionFor(3, "right", 4)});
    EXPECT_EQ(strip.chosen(), 2);
    QSignalSpy spy(&strip, &VersionStrip::versionChosen);
    QTest::keyClick(&strip, Qt::Key_Left);
    EXPECT_EQ(strip.chosen(), 1);
    EXPECT_TRUE(strip.accessibleDescription().contains("Version 2 of 3: does not compile")) << qPrintable(strip.accessibleDescription());
    QTest::mouseClick(&strip, Qt::LeftButton, Qt::NoModifier, QPoint(10, 20));
    EXPECT_EQ(strip.chosen(), 0);
    EXPECT_EQ(spy.count(), 2);
    strip.setVersions({versionFor(1, "right", 5), versionFor(2, "not compiled", 0), versionFor(3, "right", 4), versionFor(4, "wrong", 4)});
    EXPECT_EQ(strip.chosen(), 0) << "who looks at an old version goes on looking at it";
}

TEST(OwnKernelCard, SaysWhatTheChosenVersionChangedAndLinksTheLog) {
    OwnKernelCard card;
    card.setFile("/tmp/my norm.cu");
    card.setVersions({versionFor(1, "right", 5), versionFor(2, "right", 2.5)});
    EXPECT_TRUE(card.changes()->text().contains("Against version 1: faster in 3 cells")) << qPrintable(card.changes()->text());
    EXPECT_TRUE(card.log()->isHidden());
    card.setVersions({versionFor(1, "right", 5), versionFor(2, "not compiled", 0)});
    EXPECT_FALSE(card.log()->isHidden());
    EXPECT_TRUE(card.changes()->text().contains("does not compile any more"));
    card.setVersions({versionFor(1, "right", 5), versionFor(2, "not compiled", 0), versionFor(3, "right", 2.5)});
    EXPECT_TRUE(card.changes()->text().contains("Against version 2: compiles again") && card.changes()->text().contains("Against version 1: faster in 3 cells")) << qPrintable(card.changes()->text());
    card.setVersions({versionFor(1, "right", 5), versionFor(2, "not compiled", 0)});
    QSignalSpy edit(&card, &OwnKernelCard::editRequested);
    emit card.log()->anchorClicked(QUrl("kernel:3#/tmp/my%20norm.cu"));
    ASSERT_EQ(edit.count(), 1);
    EXPECT_EQ(edit.front().at(0).toString(), "/tmp/my norm.cu");
    EXPECT_EQ(edit.front().at(1).toInt(), 3);
    QSignalSpy run(&card, &OwnKernelCard::runRequested);
    card.strip()->choose(0);
    ASSERT_EQ(run.count(), 1);
    EXPECT_EQ(run.front().front().toString(), "run1");
}

TEST(OwnKernelVersions, TheSameContentsAreTheSameVersion) {
    OwnKernel kernel;
    kernel.add(versionFor(7, "right", 5));
    kernel.add(versionFor(8, "wrong", 4));
    kernel.add(versionFor(7, "right", 3));
    ASSERT_EQ(kernel.versions().size(), 2u);
    EXPECT_EQ(kernel.versions()[0].number, 1);
    EXPECT_DOUBLE_EQ(*kernel.versions()[0].speedup, 10.0 / 3);
    EXPECT_EQ(kernel.versions()[1].number, 2);
}

TEST(OwnKernelFiles, AreTheOnesThatCanBeKernels) {
    QTemporaryDir folder;
    for (const char* name : {"a.cu", "a.cpp", "a.so", "a.txt"}) QFile(folder.filePath(name)).open(QIODevice::WriteOnly);
    EXPECT_TRUE(OwnKernelSection::opens(folder.filePath("a.cu")) && OwnKernelSection::opens(folder.filePath("a.cpp")) && OwnKernelSection::opens(folder.filePath("a.so")));
    EXPECT_FALSE(OwnKernelSection::opens(folder.filePath("a.txt")) || OwnKernelSection::opens(folder.filePath("none.cu")) || OwnKernelSection::opens(folder.path()));
}

}  // namespace
}  // namespace kernelscope::ui
