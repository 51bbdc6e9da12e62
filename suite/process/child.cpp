// SPDX-License-Identifier: Apache-2.0
// run_child: fork and exec into an own process group, one poll loop over everything the child says, one way to end it.
#include "suite/process/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include "suite/process/interrupt.hpp"

namespace assay::process {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorTailBytes = 4096;
// Descriptors of ours are moved above this, so that none is one of the child's 0 to 3 before it is put there.
constexpr int kLowestDescriptor = 10;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_ = -1;
};

// What to do about a call that failed with `error` while a child was being started.
std::string_view remedy(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    case EAGAIN:
      return "raise the limit on processes (ulimit -u), or end some";
    case ENOMEM:
      return "free some memory, or raise its limit (ulimit -v)";
    case EACCES:
      return "make the program executable again";
    default:
      return "check the limits of this shell (ulimit -a), then try again";
  }
}

Error start_error(std::string_view what) {
  const int error = errno;
  return {ErrorCode::internal,
          fmt::format("a child process could not be started: {}: {}; {}", what, std::strerror(error), remedy(error))};
}

Error exec_error(std::string_view program) {
  if (errno == ENOENT)
    return {ErrorCode::internal,
            fmt::format("a child process could not be started: {} is not there any more; install it again", program)};
  return start_error(program);
}

// The same descriptor at kLowestDescriptor or above, closed on exec.
Descriptor lifted(int low) {
  const int high = ::fcntl(low, F_DUPFD_CLOEXEC, kLowestDescriptor);
  // A limit below kLowestDescriptor makes that argument invalid: it is the limit all the same.
  const int error = errno == EINVAL ? EMFILE : errno;
  ::close(low);
  errno = error;
  return Descriptor(high);
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return start_error("pipe");
  Pipe pipe{lifted(ends[0]), lifted(ends[1])};
  if (pipe.read.get() < 0 || pipe.write.get() < 0) return start_error("pipe");
  return pipe;
}

// The child's whole standard input as a memory file: nothing has to be pumped, so nothing can deadlock.
Result<Descriptor> make_input(const std::string& text) {
  const int low = ::memfd_create("assay-input", MFD_CLOEXEC);
  if (low < 0) return start_error("memfd_create");
  Descriptor input = lifted(low);
  if (input.get() < 0) return start_error("memfd_create");
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(input.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return start_error("write of its input");
    done += static_cast<std::size_t>(n);
  }
  if (::lseek(input.get(), 0, SEEK_SET) != 0) return start_error("lseek");
  return input;
}

struct ChildSide {
  int input;
  int report;
  int errors;
  int failure;  // errno of a failed exec is written here
  pid_t parent;
};

// Runs between fork and exec: only async-signal-safe calls.
[[noreturn]] void become_child(const ChildSide& side, char* const* argv) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died between fork and prctl; then no signal will come.
  if (::getppid() != side.parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  const bool placed = ::dup2(side.input, STDIN_FILENO) >= 0 && ::dup2(side.errors, STDOUT_FILENO) >= 0 &&
                      ::dup2(side.errors, STDERR_FILENO) >= 0 && ::dup2(side.report, kReportDescriptor) >= 0;
  if (placed) {
    // A journal or a lock of the parent is none of the child's business.
    ::close_range(kReportDescriptor + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    ::execv(argv[0], argv);
  }
  const int reason = errno;
  (void)!::write(side.failure, &reason, sizeof reason);
  ::_exit(127);
}

struct Started {
  pid_t pid = -1;
  Descriptor report;
  Descriptor errors;
};

Result<Started> start(const ChildRequest& request) {
  if (request.argv.empty()) return Error{ErrorCode::internal, "a child process needs the path of its program"};
  auto input = make_input(request.input);
  if (!input) return input.error();
  auto report = make_pipe();
  if (!report) return report.error();
  auto errors = make_pipe();
  if (!errors) return errors.error();
  auto failure = make_pipe();
  if (!failure) return failure.error();
  std::vector<char*> argv;
  for (const auto& argument : request.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const ChildSide side{input->get(), report->write.get(), errors->write.get(), failure->write.get(), ::getpid()};
  const pid_t pid = ::fork();
  if (pid < 0) return start_error("fork");
  if (pid == 0) become_child(side, argv.data());
  ::setpgid(pid, pid);  // in both processes: whichever runs first, the group is there
  failure->write.reset();
  int reason = 0;
  ssize_t n = 0;
  do n = ::read(failure->read.get(), &reason, sizeof reason);
  while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof reason)) {
    ::waitpid(pid, nullptr, 0);
    errno = reason;
    return exec_error(request.argv.front());
  }
  for (const int descriptor : {report->read.get(), errors->read.get()}) ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return Started{pid, std::move(report->read), std::move(errors->read)};
}

// Reads what is there. False when the other side is closed. Bounded (16 times what a pipe holds), so that a child that
// never stops talking cannot keep its time limit from being looked at.
template <class Take>
bool drain(int descriptor, const Take& take) {
  std::array<char, 65536> buffer;
  for (int reads = 0; reads < 16; ++reads) {
    const ssize_t n = ::read(descriptor, buffer.data(), buffer.size());
    if (n > 0) {
      take(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}
  void take(std::string_view bytes) {
    pending_.append(bytes);
    std::size_t begin = 0;
    for (std::size_t end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n', begin)) {
      if (on_line_) on_line_(std::string_view(pending_).substr(begin, end - begin));
      begin = end + 1;
    }
    pending_.erase(0, begin);
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string pending_;  // a line that is not complete at the end is torn and never delivered
};

bool has_exited(pid_t pid) {
  siginfo_t info{};
  // WNOWAIT keeps the zombie, and with it the process group's number, until the group has been killed.
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid;
}

// Kills the group and reaps on every way out, a throwing on_line included.
class Group {
 public:
  explicit Group(pid_t pid) : pid_(pid) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { (void)end(); }
  int end() {
    if (pid_ < 0) return status_;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status_;
  }

 private:
  pid_t pid_;
  int status_ = 0;
};

int poll_timeout(const ChildRequest& request, Clock::time_point begin, bool has_pidfd) {
  // Without a pidfd (old kernels, some sandboxes) the exit is looked for every 10 ms.
  std::int64_t wait_ms = has_pidfd ? 60'000 : 10;
  if (request.time_limit.count() > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(begin + request.time_limit - Clock::now());
    wait_ms = std::clamp<std::int64_t>(left.count() + 1, 0, wait_ms);
  }
  return static_cast<int>(wait_ms);
}

}  // namespace

Result<ChildResult> run_child(const ChildRequest& request) {
  const InterruptGuard guard;
  const auto begin = Clock::now();
  auto started = start(request);
  if (!started) return started.error();
  const pid_t pid = started->pid;
  Group group(pid);
  if (request.on_start) request.on_start(pid);
  const Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  Lines lines(request.on_line);
  ChildResult result;
  result.pid = pid;
  const auto keep_tail = [&result](std::string_view bytes) {
    result.error_tail.append(bytes);
    if (result.error_tail.size() > kErrorTailBytes)
      result.error_tail.erase(0, result.error_tail.size() - kErrorTailBytes);
  };
  const auto take_line = [&lines](std::string_view bytes) { lines.take(bytes); };

  bool report_open = true;
  bool errors_open = true;
  for (;;) {
    std::array<pollfd, 4> polled{pollfd{report_open ? started->report.get() : -1, POLLIN, 0},
                                 pollfd{errors_open ? started->errors.get() : -1, POLLIN, 0},
                                 pollfd{pidfd.get(), POLLIN, 0}, pollfd{interrupt_descriptor(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), poll_timeout(request, begin, pidfd.get() >= 0));
    const bool exited = has_exited(pid);
    if (report_open) report_open = drain(started->report.get(), take_line);
    if (errors_open) errors_open = drain(started->errors.get(), keep_tail);
    if (exited) break;
    if (interrupted()) {
      result.end = ChildEnd::interrupted;
      break;
    }
    if (request.time_limit.count() > 0 && Clock::now() - begin >= request.time_limit) {
      result.end = ChildEnd::timed_out;
      break;
    }
  }
  const int status = group.end();
  // What it said before it was stopped is still in the pipes.
  if (report_open) drain(started->report.get(), take_line);
  if (errors_open) drain(started->errors.get(), keep_tail);
  if (result.end == ChildEnd::exited && WIFSIGNALED(status)) result.end = ChildEnd::signalled;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.duration_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  return result;
}

Result<std::string> own_path() {
  std::array<char, PATH_MAX> buffer;
  const ssize_t n = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (n <= 0 || static_cast<std::size_t>(n) >= buffer.size())
    return Error{ErrorCode::internal,
                 fmt::format("the program's own path cannot be read from /proc/self/exe: {}; mount /proc",
                             std::strerror(errno))};
  return std::string(buffer.data(), static_cast<std::size_t>(n));
}

}  // namespace assay::process
