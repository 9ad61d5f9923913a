#include "core/records/process_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>

namespace kernelscope {

void guardProcess() {
    ::umask(::umask(0) | S_IWOTH);
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
    // The lowest free descriptor is what open() returns. Standard output opened for reading alone: a write to it fails.
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) == -1) [[maybe_unused]] const int held = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace kernelscope
