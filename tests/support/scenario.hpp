// SPDX-License-Identifier: Apache-2.0
// Scenarios: a test program that runs one of its own tests again as a child, for what would end or hang the process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace assay::support {

struct ScenarioEnd {
  bool timed_out = false;
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  std::string output;  // its standard error, when asked for
};

// The scenario this process was started for, or empty in the parent.
inline std::string current_scenario() {
  const char* name = std::getenv("ASSAY_SCENARIO");
  return name != nullptr ? name : "";
}

// Runs `test` ("Suite.Name") of this program in a child with ASSAY_SCENARIO=name and `environment` added; kills it at
// the limit. Standard output and error go to a file that is read back.
inline ScenarioEnd run_scenario(const std::string& test, const std::string& name, std::chrono::milliseconds limit,
                                const std::vector<std::string>& environment = {}) {
  ScenarioEnd end;
  std::string path = ::testing::TempDir() + "assay-scenario-XXXXXX";
  const int log = ::mkstemp(path.data());
  if (log < 0) return end;
  std::vector<std::string> variables = {"ASSAY_SCENARIO=" + name};
  variables.insert(variables.end(), environment.begin(), environment.end());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string key = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const auto& variable : variables) replaced = replaced || variable.compare(0, key.size(), key) == 0;
    if (!replaced) variables.push_back(text);
  }
  std::vector<char*> raw;
  for (auto& variable : variables) raw.push_back(variable.data());
  raw.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=" + test;
  char* arguments[] = {program.data(), filter.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, raw.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (!end.timed_out && std::chrono::steady_clock::now() > deadline) {
        end.timed_out = true;
        ::kill(child, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  }
  ::lseek(log, 0, SEEK_SET);
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(log, buffer, sizeof buffer)) > 0;)
    end.output.append(buffer, static_cast<std::size_t>(got));
  ::close(log);
  ::unlink(path.c_str());
  return end;
}

}  // namespace assay::support
