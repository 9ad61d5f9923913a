// An engine behind a real sshd on the loopback: greetings, telemetry, cancelling, and a link that is cut in the middle of a sweep.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "core/client/process.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;

std::string programAt(std::initializer_list<const char*> places) {
    for (const char* place : places)
        if (isExecutable(place)) return place;
    return {};
}

int freePort() {
    const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool bound = ::bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(probe);
    return bound ? ntohs(address.sin_port) : 0;
}

bool run(const std::vector<std::string>& argv) {
    auto child = ChildProcess::start(argv);
    if (!child) return false;
    (*child)->closeInput();
    WakeUp quiet;
    for (bool open = true; open;) {
        const auto said = (*child)->wait(quiet, std::chrono::seconds(20));
        open = !(said.outClosed && said.errClosed);
    }
    const auto end = (*child)->waitForEnd(std::chrono::seconds(20));
    return end && end->signal == 0 && end->exitCode == 0;
}

std::vector<pid_t> childrenOf(std::int64_t parent) {
    std::vector<pid_t> children;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream in(entry.path() / "stat");
        std::string line;
        std::getline(in, line);
        const auto after = line.rfind(')');
        std::istringstream fields(after == std::string::npos ? std::string() : line.substr(after + 1));
        std::string state;
        std::int64_t itsParent = 0;
        if (fields >> state >> itsParent && itsParent == parent) children.push_back(static_cast<pid_t>(std::stol(name)));
    }
    return children;
}

/// A sshd of this test's own: own keys, own configuration, the loopback alone.
class OverSsh : public testing::Test {
protected:
    void SetUp() override {
        const std::string sshd = programAt({"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"}), keygen = programAt({"/usr/bin/ssh-keygen", "/usr/local/bin/ssh-keygen"});
        if (sshd.empty() || keygen.empty() || programAt({"/usr/bin/ssh", "/usr/local/bin/ssh"}).empty())
            GTEST_SKIP() << "there is no sshd here (Debian: openssh-server and openssh-client)";
        if (::getuid() == 0) ::mkdir("/run/sshd", 0755);  // sshd as root wants its folder
        for (const char* key : {"host", "user"})
            if (!run({keygen, "-q", "-t", "ed25519", "-N", "", "-f", (folder / key).string()})) GTEST_SKIP() << "ssh-keygen made no key";
        fs::copy_file(folder / "user.pub", folder / "authorized_keys");
        m_port = freePort();
        std::ofstream(folder / "sshd_config") << "ListenAddress 127.0.0.1\nPort " << m_port << "\nHostKey " << folder / "host" << "\nAuthorizedKeysFile " << folder / "authorized_keys"
                                              << "\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n";
        ASSERT_TRUE(run({sshd, "-t", "-f", (folder / "sshd_config").string()})) << "sshd does not take this test's own configuration";
        auto started = ChildProcess::start({sshd, "-D", "-e", "-f", (folder / "sshd_config").string()});
        ASSERT_TRUE(started.ok());
        m_sshd = std::move(*started);
        bool answers = false;
        for (int attempt = 0; attempt < 50 && !answers; ++attempt) {
            answers = run(ssh("true"));
            if (!answers) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        if (!answers) {
            WakeUp quiet;
            GTEST_SKIP() << "this account cannot log in by a key here: " << m_sshd->wait(quiet, std::chrono::milliseconds(200)).err;
        }
    }

    std::vector<std::string> ssh(const std::string& command) const {
        const passwd* self = ::getpwuid(::getuid());
        return {"ssh", "-F", "none", "-p", std::to_string(m_port), "-i", (folder / "user").string(), "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                "-o", "LogLevel=ERROR", std::string(self ? self->pw_name : "root") + "@127.0.0.1", command};
    }

    /// The session's engine, over there and behind a greeting.
    void behindSsh(ScriptedSession& play) const {
        const std::string there = "echo Welcome to gpubox; exec '" + play.options.engine.argv[0] + "' '" + play.options.engine.argv[1] + "'";
        play.options.engine.argv = ssh(there);
        play.options.reconnectPause = std::chrono::milliseconds(50);
    }

    /// Takes the processes of all connections away, as a network would.
    void cut() const {
        for (const pid_t connection : childrenOf(m_sshd->pid())) ::kill(connection, SIGKILL);
    }

    TemporaryFolder folder;

private:
    int m_port = 0;
    std::unique_ptr<ChildProcess> m_sshd;
};

TEST_F(OverSsh, AJobRunsBehindAGreetingAndItsRowsLandInTheLocalStore) {
    ScriptedSession play("await engine.hello\nhello\nawait telemetry.start\nanswer {}\nsend telemetry {\"device\": \"cuda:0\", \"available\": true}\n" + kStarted + profileRow("A", 1) + kDone);
    play.options.telemetryIntervalMs = 100;
    behindSsh(play);
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_TRUE(play.logged("Welcome to gpubox"));
    EXPECT_EQ(play.telemetry, 1);
    EXPECT_EQ(play.keysInStore("profile"), std::vector<std::string>{"A"});
}

TEST_F(OverSsh, ALinkThatIsCutInTheMiddleOfASweepLosesNoRowAndBlamesNoCell) {
    const std::string first = "rms_norm|fast|float16|896|1|basic";
    ScriptedSession play(kHello + kStarted + cellProgress(first) + cellRow(first, "fast", 1) + cellProgress(kCell) + "hang\nrestart\n" + kHello + kStarted + cellProgress(kCell) +
                             cellRow(kCell, "fast", 8) + kDone,
                         "validate");
    behindSsh(play);
    bool wasCut = false;
    play.atProgress = [&] {
        if (!wasCut && play.progress.back().cell == kCell) {
            wasCut = true;
            cut();
        }
    };
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_EQ(play.keysInStore("validate"), (std::vector<std::string>{first, kCell}));
    for (const RowRecord& row : play.rowsInStore()) EXPECT_EQ(rowFrom<ValidateRow>(row.values)->status, "ok");
    EXPECT_EQ(play.starts(), 2);
    EXPECT_TRUE(play.logged("the connection to the engine was lost"));
    EXPECT_NE(play.received().find("\"skip\":[\"" + first + "\"]"), std::string::npos) << "what was measured is not measured again";
}

TEST_F(OverSsh, CancelReachesTheOtherSide) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) + "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\n");
    behindSsh(play);
    play.options.cancelGrace = std::chrono::seconds(20);
    play.atRow = [&] { play.session().cancel(); };
    EXPECT_EQ(play.runJob().status, RunStatus::cancelled);
    EXPECT_NE(play.received().find("job.cancel"), std::string::npos);
}

TEST_F(OverSsh, AnotherVersionIsRefusedInWords) {
    ScriptedSession play("await engine.hello\nhello 2\n");
    behindSsh(play);
    const Finished& end = play.runJob();
    EXPECT_EQ(end.error.message, "the engine speaks protocol 2, this program 1 (the engine is version 9.9.9)");
    EXPECT_EQ(end.error.advice, "install the same version of Kernelscope on both sides");
}

TEST_F(OverSsh, AHostThatDoesNotAnswerIsSaidInSshsOwnWords) {
    ScriptedSession play(kHello);
    behindSsh(play);
    play.options.engine.argv[4] = "1";  // nobody listens on port 1
    const Finished& end = play.runJob();
    EXPECT_EQ(end.error.code, ErrorCode::environment);
    EXPECT_NE(end.error.message.find("onnection refused"), std::string::npos) << end.error.message;
}

}  // namespace
}  // namespace kernelscope
