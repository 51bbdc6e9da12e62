// SPDX-License-Identifier: Apache-2.0
// Runs the real program in a folder of its own, and looks at what it leaves there.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace assay::testing_cli {

namespace fs = std::filesystem;

struct Ran {
  int exit = -1;
  std::string out;
  std::string err;
};

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* bin = std::getenv("ASSAY_BIN_DIR");
    ASSERT_NE(bin, nullptr);
    program_ = fs::path(bin) / "assay";
    faulty_ = fs::path(bin).parent_path() / "tests" / "modules" / "libassay-faulty.so";
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / ("assay-" + std::string(info->name()) + "-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
    ::unsetenv("ASSAY_MODULE_PATH");
    ::unsetenv("ASSAY_FAULT");
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(root_, fs::perms::owner_all, ignored);
    fs::remove_all(root_, ignored);
  }

  // `arguments` as for a shell; runs in the test's folder.
  [[nodiscard]] Ran run(const std::string& arguments, const std::string& environment = "") const {
    const auto errors = fs::path(::testing::TempDir()) / ("assay-errors-" + std::to_string(::getpid()));
    const auto line = "cd '" + root_.string() + "' && " + environment + " '" + program_.string() + "' " + arguments +
                      " 2>'" + errors.string() + "'";
    Ran ran;
    FILE* pipe = ::popen(line.c_str(), "r");
    std::array<char, 4096> piece{};
    for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) ran.out.append(piece.data(), n);
    const int status = ::pclose(pipe);
    ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    ran.err = text_of(errors);
    fs::remove(errors);
    return ran;
  }

  // Starts the program without waiting for it; quiet.
  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments) const {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    if (::chdir(root_.c_str()) != 0) ::_exit(126);
    (void)!std::freopen("/dev/null", "w", stdout);
    (void)!std::freopen("/dev/null", "w", stderr);
    std::vector<char*> argv{const_cast<char*>(program_.c_str())};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path program_;
  fs::path faulty_;
  fs::path root_;
};

// Processes of this program whose command line holds `word`, seen through /proc.
inline std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (text_of(entry.path() / "cmdline").find(word) != std::string::npos) found.push_back(std::atoi(name.c_str()));
  }
  return found;
}

}  // namespace assay::testing_cli
