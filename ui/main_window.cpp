#include "ui/main_window.h"

#include <utility>

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QScreen>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/client/store.h"
#include "ui/icons.h"
#include "ui/model_line.h"
#include "ui/pages/doctor_page.h"
#include "ui/pages/end_to_end_page.h"
#include "ui/pages/job_page.h"
#include "ui/pages/kernels_page.h"
#include "ui/pages/own_kernel_section.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/summary_page.h"
#include "ui/rail.h"
#include "ui/services/engine_adapter.h"
#include "ui/services/machines.h"
#include "ui/services/run_library.h"
#include "ui/status_strip.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/engine_bar.h"
#include "ui/widgets/engine_log.h"
#include "ui/widgets/hub_bar.h"

namespace kernelscope::ui {

MainWindow::MainWindow(WindowOptions options, QWidget* parent)
    : QMainWindow(parent), m_options(std::move(options)), m_settings(m_options.settingsFile) {
    initResources();
    applyTheme(*qApp, m_settings.scheme(), m_settings.zoom());
    setWindowTitle("Kernelscope");
    setWindowIcon(QIcon(":/icons/kernelscope.svg"));
    setAcceptDrops(true);
    m_services.settings = &m_settings;

    auto* central = new QWidget(this);
    auto* columns = new QHBoxLayout(central);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(0);
    m_rail = new Rail(central);
    columns->addWidget(m_rail);
    auto* content = new QWidget(central);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(space(this, 5), space(this, 3), space(this, 5), space(this, 3));
    column->setSpacing(space(this, 2));
    m_modelLine = new ModelLine(m_settings, content);
    m_export = new QToolButton(content);
    m_export->setProperty("role", "field");
    m_export->setText("Export CSV");
    m_export->setAccessibleName("Export CSV");
    m_export->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_modelLine->addAtEnd(m_export);
    m_engineBar = new EngineBar(content);
    m_engineLog = new EngineLog(this);
    m_hubBar = new HubBar(content);
    m_stack = new QStackedWidget(content);
    column->addWidget(m_modelLine);
    column->addWidget(m_engineBar);
    column->addWidget(m_hubBar);
    column->addWidget(m_stack, 1);
    columns->addWidget(content, 1);

    auto* all = new QWidget(this);
    auto* rows = new QVBoxLayout(all);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(central, 1);
    m_strip = new StatusStrip(all);
    rows->addWidget(m_strip);
    setCentralWidget(all);

    m_profile = new ProfilePage(*m_modelLine, m_settings, m_stack);
    m_doctor = new DoctorPage(m_stack);
    m_summary = new SummaryPage(*m_modelLine, m_stack);
    m_endToEnd = new EndToEndPage(*m_modelLine, m_settings, m_stack);
    m_kernels = new KernelsPage(*m_modelLine, m_settings, m_stack);
    m_runs = new RunsPage(m_stack);
    addPage(m_summary);
    addPage(m_profile);
    addPage(m_kernels);
    addPage(m_endToEnd);
    addPage(m_runs);
    addPage(m_doctor);
    makeMenus();

    connect(m_rail, &Rail::chosen, this, &MainWindow::showPageAt);
    connect(m_modelLine, &ModelLine::browseRequested, this, &MainWindow::askModelFolder);
    connect(m_modelLine, &ModelLine::machineChosen, this, &MainWindow::useEngine);
    connect(m_modelLine, &ModelLine::anotherMachineRequested, this, &MainWindow::askMachine);
    connect(m_modelLine, &ModelLine::hubRequested, this, [this] { m_hubBar->open({}); });
    connect(m_hubBar, &HubBar::requested, this, &MainWindow::getModel);
    connect(m_modelLine, &ModelLine::changed, this, [this] { m_strip->setDevice(m_modelLine->device()); });
    connect(m_strip, &StatusStrip::engineClicked, this, [this] { m_engineBar->open(m_settings.engineCommand(), "kernelscope-engine beside this program"); });
    connect(m_engineBar, &EngineBar::chosen, this, &MainWindow::useEngine);
    connect(m_doctor, &DoctorPage::examined, m_profile, &ProfilePage::heedDoctor);
    connect(m_profile, &ProfilePage::operatorRequested, m_kernels, &KernelsPage::setOperator);
    connect(m_kernels->ownKernel(), &OwnKernelSection::kernelReady, m_endToEnd, &EndToEndPage::offerKernel);
    connect(m_runs, &RunsPage::exportRunRequested, this, &MainWindow::askExportSaved);
    connect(m_runs, &RunsPage::exportComparisonRequested, this, [this](const auto& document) { askExportComparison(document); });

    if (!restoreGeometry(m_settings.state("window/geometry"))) {
        const QRect room = screen() ? screen()->availableGeometry() : QRect(0, 0, 1280, 860);
        resize(QSize(1280, 860).boundedTo(room.size()));
    }
    setMinimumSize(space(this, 4 * 52), space(this, 4 * 30));
    for (QSplitter* splitter : findChildren<QSplitter*>()) {
        if (!splitter->objectName().isEmpty()) splitter->restoreState(m_settings.state("layout/" + splitter->objectName()));
    }
    showPage(m_settings.text("window/page", "Profile"));
    if (!m_stack->currentWidget()) showPageAt(0);
    currentPage()->setFocus();
    // A run needs the store, which is opened after the first paint.
    if (QFileInfo(m_options.open).isDir()) openModelFolder(std::exchange(m_options.open, {}));
}

MainWindow::~MainWindow() {
    hide();  // while everything is there: losing the focus makes fields write to the settings
    // Pages hear of the engine until it is gone; then they may go, then the store and the settings.
    delete m_services.engine;
    delete m_services.library;
    delete takeCentralWidget();
}

void MainWindow::addPage(Page* page) {
    m_pages.push_back(page);
    m_stack->addWidget(page);
    m_rail->add(page->title(), page->iconName());
    const int index = int(m_pages.size()) - 1;
    auto* shortcut = new QShortcut(QKeySequence(Qt::ALT | Qt::Key(Qt::Key_1 + index)), this);
    connect(shortcut, &QShortcut::activated, this, [this, index] { showPageAt(index); });
    connect(page, &Page::exportableChanged, this, &MainWindow::updateActions);
    connect(page, &Page::exportRequested, this, [this] { askExport("csv"); });
    connect(page, &Page::savePictureRequested, this, &MainWindow::askSavePicture);
    connect(page, &Page::engineSettingsRequested, m_strip, &StatusStrip::engineClicked);
    connect(page, &Page::modelFolderRequested, this, &MainWindow::askModelFolder);
    connect(page, &Page::openRunRequested, this, &MainWindow::openRun);
    connect(page, &Page::pageRequested, this, &MainWindow::showPage);
}

Page* MainWindow::currentPage() const { return qobject_cast<Page*>(m_stack->currentWidget()); }

void MainWindow::showPage(const QString& title) {
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        if (m_pages[i]->title() == title) showPageAt(int(i));
    }
}

void MainWindow::showPageAt(int index) {
    m_stack->setCurrentIndex(index);
    m_rail->setCurrent(index);
    m_settings.setText("window/page", m_pages[std::size_t(index)]->title());
    m_pages[std::size_t(index)]->entered();
    m_pages[std::size_t(index)]->setFocus();
    updateActions();
}

void MainWindow::paintEvent(QPaintEvent* event) {
    QMainWindow::paintEvent(event);
    if (m_painted) return;
    m_painted = true;
    // After this paint has reached the screen.
    QTimer::singleShot(0, this, [this] {
        emit firstPainted();
        startServices();
    });
}

void MainWindow::startServices() {
    const std::filesystem::path file = m_options.store.empty() ? Store::defaultPath() : m_options.store;
    auto store = Store::open(file);
    if (store) {
        m_store = std::move(*store);
        m_services.store = m_store.get();
    }
    // One that cannot be written shows what it holds all the same.
    if (store || Store::openToRead(file)) {
        m_services.library = new RunLibrary(file, this);
        connect(m_services.library, &RunLibrary::runOpened, this, &MainWindow::runOpened);
        connect(m_services.library, &RunLibrary::importFailed, this, [this](const Error& error) { currentPage()->showError(error); });
    }
    startEngine();
    for (Page* page : m_pages) page->attach(m_services);
    if (!store) {
        Error error = store.error();
        error.advice += error.advice.empty() ? "" : "\n";
        error.advice += "Until then runs of this window are not kept; export what you need.";
        currentPage()->showError(error);
    }
    emit servicesStarted();
    fillRecentRuns();
    if (!m_options.open.isEmpty()) openPath(std::exchange(m_options.open, {}));
    if (m_services.engine) m_services.engine->connectEngine();
}

void MainWindow::startEngine() {
    const QString text = engineText();
    auto command = text.isEmpty() ? defaultEngineCommand() : parseEngineCommand(fromQt(text));
    const QString where = isElsewhere(text) ? machineName(text) : QString("local");
    showMachines();
    SessionOptions options;
    if (command) {
        options.helloDeadline = helloDeadlineFor(*command);
        options.engine = *command;
    }
    m_services.engine = new EngineAdapter(std::move(options), m_store.get(), this);
    EngineAdapter* engine = m_services.engine;
    connect(engine, &EngineAdapter::helloReceived, this, [this](const Hello& hello) { m_modelLine->setDevices(hello.devices); });
    connectModels(engine);
    connect(engine, &EngineAdapter::telemetryReceived, m_strip, &StatusStrip::setTelemetry);
    connect(engine, &EngineAdapter::logged, m_engineLog, &EngineLog::add);
    connect(engine, &EngineAdapter::progressed, this, [this](const Progress& progress) {
        QString doing = toQt(progress.phase).toLower();
        if (progress.total > 0) doing += QString(" %1 of %2").arg(qlonglong(progress.done)).arg(qlonglong(progress.total));
        m_strip->setDoing(doing);
    });
    connect(engine, &EngineAdapter::jobFinished, this, [this] { m_strip->setDoing({}); updateActions(); });
    connect(engine, &EngineAdapter::stateChanged, this, [this, where](EngineState state, const QString& why) {
        m_strip->setEngine(state, why, where);
        if (state == EngineState::lost && !why.isEmpty()) m_engineLog->add({where + ": " + why});
        if (state == EngineState::lost && !m_services.engine->running()) {
            // A page that works without an engine is left alone.
            Page* page = qobject_cast<JobPage*>(currentPage()) ? currentPage() : m_profile;
            const char* wayOut = where == "local" ? "" : "Check the command that starts it, or choose \"This machine\" under Device. Saved runs open without it.";
            page->showError(makeError(ErrorCode::environment, fromQt(why.isEmpty() ? QString("The engine has gone.") : why), wayOut));
        }
        updateActions();
    });
    m_strip->setEngine(EngineState::stopped, {}, where);
    if (!command) currentPage()->showError(command.error());
}

void MainWindow::useEngine(const QString& command) {
    m_settings.setEngineCommand(command);
    if (isElsewhere(command)) m_settings.addMachine(command);
    m_options.engine.clear();
    if (m_hubBar->fetching()) m_hubBar->end(makeError(ErrorCode::environment, "The engine was replaced; what has arrived is kept.", {}));
    delete m_services.engine;
    m_services.engine = nullptr;
    m_modelLine->setDevices({});
    startEngine();
    for (Page* page : m_pages) page->engineReplaced(m_services);
    m_services.engine->connectEngine();
}

void MainWindow::openModelFolder(const QString& folder) {
    m_modelLine->setModel(folder);
    fillRecentMenu();
}

void MainWindow::openRun(const QString& id) {
    if (m_services.library) m_services.library->open(id);
}

void MainWindow::openPath(const QString& path) {
    const QFileInfo info(path);
    if (info.isDir()) return openModelFolder(info.absoluteFilePath());
    if (info.isFile() && OwnKernelSection::opens(path)) {
        showPage(m_kernels->title());
        return m_kernels->openKernel(info.absoluteFilePath());
    }
    if (info.isFile() && (info.fileName() == "config.json" || info.suffix() == "safetensors")) return openModelFolder(info.absolutePath());
    if (!info.exists()) {
        return currentPage()->showError(makeError(ErrorCode::badInput, fromQt("There is no file or folder " + path + "."), "Give a model folder, or a run exported as JSON."));
    }
    if (!m_store) return currentPage()->showError(makeError(ErrorCode::environment, fromQt(path + " joins no store: none can be written."), "Choose another store with --store FILE."));
    m_services.library->importFile(info.absoluteFilePath());
}

void MainWindow::runOpened(const SavedRunPtr& run) {
    const RunHeader& header = run->summary.header;
    m_settings.addRecentRun(toQt(header.id), toQt(header.kind) + " · " + QFileInfo(toQt(header.model)).fileName() + " · " + localTime(header.when));
    fillRecentRuns();
    if (!run->large.empty()) {
        m_runs->showLarge(run);
        return showPage(m_runs->title());
    }
    for (Page* page : m_pages) {
        if (!page->shows(run->summary.header.kind)) continue;
        page->showSaved(run);
        showPage(page->title());
        return;
    }
    currentPage()->showError(makeError(ErrorCode::badInput, "No page of this window shows a run of kind \"" + run->summary.header.kind + "\".",
                                       "Export it, or use kernelscope-cli runs show " + run->summary.header.id + "."));
}

void MainWindow::setScheme(Scheme scheme) {
    m_settings.setScheme(scheme);
    applyTheme(*qApp, scheme, m_settings.zoom());
}

void MainWindow::setZoom(double zoom) {
    zoom = std::clamp(zoom, 0.6, 3.0);
    m_settings.setZoom(zoom);
    applyTheme(*qApp, m_settings.scheme(), zoom);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    m_settings.setState("window/geometry", saveGeometry());
    for (const QSplitter* splitter : findChildren<QSplitter*>()) {
        if (!splitter->objectName().isEmpty()) m_settings.setState("layout/" + splitter->objectName(), splitter->saveState());
    }
    QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (urls.size() == 1 && QFileInfo(urls.front().toLocalFile()).exists()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) { openPath(event->mimeData()->urls().front().toLocalFile()); }

}  // namespace kernelscope::ui
