// Kernels and End to end with the real engine, on the CPU, by real clicks.

#include <set>

#include <QAbstractButton>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTextBrowser>

#include "core/records/row_key.h"
#include "real_window.h"
#include "core/records/context_rows.h"
#include "core/records/kernel_detail_rows.h"
#include "ui/charts/cell_grid.h"
#include "ui/charts/context_plot.h"
#include "ui/charts/error_chart.h"
#include "ui/charts/roofline_plot.h"
#include "ui/charts/value_bars.h"
#include "ui/pages/context_panel.h"
#include "ui/pages/end_to_end_controls.h"
#include "ui/pages/end_to_end_page.h"
#include "ui/pages/kernel_charts.h"
#include "ui/pages/kernels_controls.h"
#include "ui/pages/kernels_page.h"
#include "core/client/file.h"
#include "core/client/kernel_template.h"
#include "ui/pages/own_kernel_section.h"
#include "ui/services/own_kernel.h"
#include "ui/stall_watch.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/own_kernel_card.h"
#include "ui/widgets/patch_list.h"

namespace kernelscope::ui {
namespace {

using namespace test;

/// Pictures of a chart, taken whenever its page has drawn new rows.
struct Watcher {
    std::set<QByteArray> states;
    Watcher(JobPage* page, QWidget* chart) {
        QObject::connect(page, &JobPage::renderedLive, page, [this, page, chart] {
            if (page->running() && states.size() < 12) states.insert(picture(chart));
        });
    }
};

bool finish(JobPage* page) { return waitFor([page] { return !page->running(); }, 240'000); }

TEST(RealKernels, AreValidatedAndSweptWithCellsThatFillWhileItRuns) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    window->showPage("Kernels");
    KernelsPage* page = window->kernelsPage();
    page->controls()->hidden()->setText("112");
    page->controls()->rows()->setText("1,2,4,7,16,33,64");
    QTest::mouseClick(page->controls()->validateButton(), Qt::LeftButton);
    ASSERT_TRUE(finish(page));
    ASSERT_FALSE(page->errorBanner()->isVisible()) << qPrintable(page->errorBanner()->message());
    ASSERT_NE(page->exportable(), nullptr);
    const auto validated = page->exportable()->as<ValidateRow>();
    EXPECT_TRUE(std::any_of(validated.begin(), validated.end(), [](const ValidateRow& row) { return row.variant == "fused" && row.status == "ok"; }));
    EXPECT_TRUE(std::none_of(validated.begin(), validated.end(), [](const ValidateRow& row) { return row.op == "rms_norm" && row.status == "wrong"; }));
    // Nothing is swept yet: what there is to see is where the errors are.
    EXPECT_TRUE(page->kernelCharts()->errors()->isVisible());
    EXPECT_FALSE(page->kernelCharts()->errors()->view().empty());

    Watcher watcher(page, page->kernelCharts()->grid());
    QTest::mouseClick(page->runButton(), Qt::LeftButton);
    ASSERT_TRUE(finish(page));
    ASSERT_FALSE(page->errorBanner()->isVisible()) << qPrintable(page->errorBanner()->message());
    std::printf("%zu distinct painted states of the grid\n", watcher.states.size());
    EXPECT_GE(watcher.states.size(), 5u);
    const auto swept = page->exportable()->as<SweepRow>();
    EXPECT_TRUE(std::any_of(swept.begin(), swept.end(), [](const SweepRow& row) { return row.variant == "fused" && row.speedup; }));
    EXPECT_FALSE(page->headline()->text().isEmpty());
    for (auto* button : page->kernelCharts()->pictures()->findChildren<QAbstractButton*>()) {
        if (button->text() == "Roofline") QTest::mouseClick(button, Qt::LeftButton);
    }
    ASSERT_TRUE(page->kernelCharts()->roofline()->isVisible());
    EXPECT_GT(page->kernelCharts()->roofline()->view().copyGbPerS, 0);
    EXPECT_GT(page->kernelCharts()->roofline()->view().matmulGflopPerS.value_or(0), 0);
    EXPECT_EQ(page->kernelCharts()->roofline()->view().points.size(), 14u) << "seven row counts, native and the variant in view";
}

TEST(RealKernels, AListThatIsNoListIsRefusedBeforeAnythingRuns) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    window->showPage("Kernels");
    window->kernelsPage()->controls()->rows()->setText("1,two");
    QTest::mouseClick(window->kernelsPage()->runButton(), Qt::LeftButton);
    EXPECT_FALSE(window->kernelsPage()->running());
    EXPECT_TRUE(window->kernelsPage()->errorBanner()->isVisible());
}

TEST(RealEndToEnd, RunsNativeAgainstPatchedWithBarsThatMoveAndEqualTokens) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    window->showPage("End to end");
    EndToEndPage* page = window->endToEndPage();
    page->controls()->newTokens()->setValue(8);
    page->controls()->runs()->setValue(6);
    Watcher watcher(page, page->decodeBars());
    QTest::mouseClick(page->runButton(), Qt::LeftButton);
    ASSERT_TRUE(finish(page));
    ASSERT_FALSE(page->errorBanner()->isVisible()) << qPrintable(page->errorBanner()->message());
    ASSERT_NE(page->exportable(), nullptr);
    const auto rows = page->exportable()->as<EndToEndRow>();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_TRUE(rows[1].speedup.has_value());
    std::printf("%zu distinct painted states of the decode bars; %s\n", watcher.states.size(), qPrintable(page->headline()->text()));
    EXPECT_GE(watcher.states.size(), 5u);
}

TEST(RealContext, ChartsTheDecodeStepAgainstContextAndBatchPointByPoint) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    window->showPage("End to end");
    EndToEndPage* page = window->endToEndPage();
    for (auto* button : page->controls()->tabs()->findChildren<QAbstractButton*>()) {
        if (button->text() == "Context") QTest::mouseClick(button, Qt::LeftButton);
    }
    ASSERT_TRUE(page->controls()->contexts()->isVisible());
    page->controls()->contexts()->setText("8,16,32,64");
    page->controls()->batches()->setText("1,2");
    Watcher watcher(page, page->contextPanel());
    QTest::mouseClick(page->runButton(), Qt::LeftButton);
    ASSERT_TRUE(finish(page));
    ASSERT_FALSE(page->errorBanner()->isVisible()) << qPrintable(page->errorBanner()->message());
    EXPECT_EQ(page->exportable()->as<ContextRow>().size(), 8u);
    ASSERT_EQ(page->contextPanel()->decode()->lines().size(), 2u);
    EXPECT_EQ(page->contextPanel()->decode()->lines()[0].points.size(), 4u);
    EXPECT_EQ(page->contextPanel()->shares()->columns().size(), 4u);
    EXPECT_EQ(page->contextPanel()->memory()->lines().size(), 2u);
    std::printf("%zu distinct painted states of the context tab; %s\n", watcher.states.size(), qPrintable(page->headline()->text()));
    EXPECT_GE(watcher.states.size(), 5u);
    page->controls()->contexts()->setText("8,1e3");
    QTest::mouseClick(page->runButton(), Qt::LeftButton);
    EXPECT_FALSE(page->running());
    EXPECT_TRUE(page->errorBanner()->isVisible());
}

TEST(RealKernels, AKernelOfOnesOwnIsProvedAndMeasuredAtEverySave) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    KernelsPage* page = window->kernelsPage();
    window->showPage("Kernels");
    page->controls()->hidden()->setText("112");
    page->controls()->rows()->setText("1,7");
    const QString file = window.path("my_norm.cpp");
    const std::string right = *kernelTemplate("rms_norm", "my_norm.cpp");
    ASSERT_TRUE(writeFileAtomically(fromQt(file), right));
    OwnKernel* kernel = page->ownKernel()->kernel();
    page->openKernel(file);
    ASSERT_TRUE(waitFor([&] { return kernel->versions().size() == 1 && !page->running(); }, 240'000));
    EXPECT_EQ(kernel->versions()[0].state, "right") << kernel->versions()[0].message << kernel->versions()[0].firstWrong;
    EXPECT_TRUE(kernel->versions()[0].speedup);
    EXPECT_TRUE(page->ownKernel()->card()->isVisible());

    // A save that does not compile: the card says where, and no banner speaks of a model.
    ASSERT_TRUE(writeFileAtomically(fromQt(file), "#error not yet\n" + right));
    ASSERT_TRUE(waitFor([&] { return kernel->versions().size() == 2 && !page->running(); }, 240'000));
    EXPECT_EQ(kernel->versions()[1].state, "not compiled");
    EXPECT_FALSE(page->errorBanner()->isVisible());
    EXPECT_TRUE(page->ownKernel()->card()->log()->toPlainText().contains("my_norm.cpp:1:"));

    std::string wrong = right;
    const std::string what = "static_cast<float>(hidden) + eps";
    wrong.replace(wrong.find(what), what.size(), "static_cast<float>(hidden + 1) + eps");
    ASSERT_TRUE(writeFileAtomically(fromQt(file), wrong));
    ASSERT_TRUE(waitFor([&] { return kernel->versions().size() == 3 && !page->running(); }, 240'000));
    EXPECT_EQ(kernel->versions()[2].state, "wrong");
    EXPECT_TRUE(page->ownKernel()->card()->changes()->text().contains("compiles again"));

    // A right one again, and what it buys: the card leads to the End to end page, where it is what replaces its operator.
    ASSERT_TRUE(writeFileAtomically(fromQt(file), right + "// again\n"));
    ASSERT_TRUE(waitFor([&] { return kernel->versions().size() == 4 && !page->running(); }, 240'000));
    QTest::mouseClick(page->ownKernel()->card()->gainButton(), Qt::LeftButton);
    EndToEndPage* gain = window->endToEndPage();
    ASSERT_EQ(window->currentPage(), gain);
    EXPECT_EQ(gain->patches()->patch(), "rms_norm=my_norm");
    gain->controls()->newTokens()->setValue(4);
    gain->controls()->runs()->setValue(5);
    QTest::mouseClick(gain->runButton(), Qt::LeftButton);
    ASSERT_TRUE(finish(gain));
    ASSERT_FALSE(gain->errorBanner()->isVisible()) << qPrintable(gain->errorBanner()->message());
    ASSERT_NE(gain->exportable(), nullptr);
    ASSERT_EQ(gain->exportable()->as<EndToEndRow>().size(), 2u);
    EXPECT_TRUE(gain->exportable()->as<EndToEndRow>()[1].speedup.has_value());
    EXPECT_EQ(gain->exportable()->header().settings.value("kernel", ""), fromQt(file));

    // One that crashes in the model costs its run, in words; the window and its next job live on.
    std::string crashing = right;
    const std::string at = "    switch (dtype) {";
    crashing.replace(crashing.find(at), at.size(), "    volatile int* volatile nowhere = nullptr; *nowhere = 1;\n" + at);
    ASSERT_TRUE(writeFileAtomically(fromQt(file), crashing));
    ASSERT_TRUE(waitFor([&] { return kernel->versions().size() == 5 && !page->running(); }, 240'000));
    QTest::mouseClick(gain->runButton(), Qt::LeftButton);
    ASSERT_TRUE(finish(gain));
    EXPECT_TRUE(gain->errorBanner()->isVisible());
    EXPECT_TRUE(gain->errorBanner()->message().contains("rms_norm=my_norm crashes at this model's shapes")) << qPrintable(gain->errorBanner()->message());
    gain->patches()->setPatch("rms_norm=fused");
    QTest::mouseClick(gain->runButton(), Qt::LeftButton);
    ASSERT_TRUE(finish(gain));
    EXPECT_FALSE(gain->errorBanner()->isVisible()) << qPrintable(gain->errorBanner()->message());
}

}  // namespace
}  // namespace kernelscope::ui
