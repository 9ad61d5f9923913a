#include "ui/services/print_run.h"

#include <algorithm>

#include <QImage>
#include <QPainter>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextList>
#include <QTextTable>
#include <QUrl>

#include "ui/charts/chart.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

/// Twice the size of the screen: what a printer at 300 dots an inch shows of a chart half a page wide.
QImage imageOf(const Chart& chart) {
    constexpr double kScale = 2;
    const OnPaper light;
    QImage image(chart.pictureSize() * kScale, QImage::Format_RGB32);
    image.fill(Theme::of(&chart).surface);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(kScale, kScale);
    painter.setFont(chart.font());
    chart.draw(painter, QRectF(QPointF(0, 0), QSizeF(chart.pictureSize())));
    return image;
}

}  // namespace

void fillPrintout(QTextDocument& document, const std::string& markdown, const QList<Chart*>& charts) {
    QFont font("Inter");
    font.setPointSizeF(7.5);
    document.setDefaultFont(font);
    document.setMarkdown(toQt(markdown), QTextDocument::MarkdownDialectGitHub);

    // Before the first table: the answer first, then the evidence.
    QTextCursor cursor(&document);
    while (!cursor.currentTable() && cursor.movePosition(QTextCursor::NextBlock)) {}
    if (QTextTable* table = cursor.currentTable()) {
        cursor.setPosition(table->firstCursorPosition().position() - 1);
        QTextTableFormat format = table->format();
        format.setCellPadding(2);
        format.setBorder(0.5);
        format.setBorderCollapse(true);
        table->setFormat(format);
    }
    // The charts come first, behind the headline and before the list of where and how.
    QTextBlock facts = document.begin();
    while (facts.isValid() && !facts.textList()) facts = facts.next();
    if (facts.isValid() && facts.position() > 0) cursor.setPosition(facts.position() - 1);
    int number = 0;
    for (const Chart* chart : charts) {
        if (!chart->isVisible() || chart->pictureSize().isEmpty()) continue;
        const QUrl name(QString("chart:%1").arg(number++));
        const QImage image = imageOf(*chart);
        document.addResource(QTextDocument::ImageResource, name, image);
        cursor.insertBlock();
        QTextImageFormat format;
        format.setName(name.toString());
        format.setWidth(std::min(680.0, double(chart->pictureSize().width())));
        cursor.insertImage(format);
        cursor.insertBlock();
        cursor.insertText(chart->accessibleDescription());
    }
}

}  // namespace kernelscope::ui
