#pragma once

namespace kernelscope {
class Store;
}

namespace kernelscope::ui {

class EngineAdapter;
class RunLibrary;
class Settings;

/// What the window hands to its pages. Everything but the settings comes after the first paint, and `store` stays null
/// where no store could be opened.
struct Services {
    Settings* settings = nullptr;
    Store* store = nullptr;
    RunLibrary* library = nullptr;
    EngineAdapter* engine = nullptr;
};

/// What the line at the top of the window says.
struct ModelChoice;

}  // namespace kernelscope::ui
