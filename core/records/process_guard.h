#pragma once
// What each of the three programs does first, so that the way it was started cannot cost a measurement.

namespace kernelscope {

/// To be called first in main(), before any file is opened or thread started:
/// - no file that this process makes can be written by everybody, whatever the user's umask allows;
/// - a reader that goes away (`| head`) and a limit on the size of files (`ulimit -f`) make a write fail instead of ending
///   the program;
/// - a standard stream that was closed (`>&-`) cannot become the descriptor of a store or a pipe: writing to it fails instead.
void guardProcess();

}  // namespace kernelscope
