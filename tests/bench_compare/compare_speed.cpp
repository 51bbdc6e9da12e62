// SPDX-License-Identifier: Apache-2.0
// assay-bench-compare: two series of 200 cases x 10 launches x 1000 samples, compared, held against bare parsing of the
// same files; time and peak memory of each, every one in a process of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/series_of_launches.hpp"

namespace {

using namespace assay;
namespace fs = std::filesystem;

struct Spent {
  double seconds = 0;
  double mebibytes = 0;
};

// Runs `work` in a child; false when it failed.
bool spend(const std::function<bool()>& work, Spent& spent) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto begin = std::chrono::steady_clock::now();
    const bool good = work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    const double seconds = taken.count();
    (void)!::write(ends[1], &seconds, sizeof seconds);
    ::_exit(good ? 0 : 1);
  }
  rusage usage{};
  int status = 0;
  const bool read = ::read(ends[0], &spent.seconds, sizeof spent.seconds) == sizeof spent.seconds;
  ::close(ends[0]);
  ::close(ends[1]);
  if (::wait4(child, &status, 0, &usage) != child) return false;
  spent.mebibytes = static_cast<double>(usage.ru_maxrss) / 1024;
  return read && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool generate(const fs::path& path, const char* id, std::size_t first) {
  test::Side side{id, 200, 10, 1000, first, 2};
  const auto text = json::write_document(test::run_document(test::simulated_board(), side, test::steady(1e6, first)));
  if (!text) return false;
  std::ofstream(path, std::ios::binary) << *text;
  return true;
}

bool parse_only(const fs::path& path) {
  const auto text = json::read_file(path);
  return text && json::parse(*text, path.string()).has_value();
}

Result<compare::Source> source_of(const fs::path& path) {
  auto text = json::read_file(path);
  if (!text) return text.error();
  auto document = json::read_document(*text, path.string());
  if (!document) return document.error();
  if (auto agrees = json::check_consistency(*document, path.string()); !agrees) return agrees.error();
  return compare::Source{path.string(), std::move(*document)};
}

bool compare_both(const fs::path& a, const fs::path& b) {
  auto before = source_of(a);
  auto after = source_of(b);
  if (!before || !after) return false;
  const auto comparison = compare::compare_sources({&*before, 1}, {&*after, 1}, {});
  return comparison && comparison->cases.size() == 200;
}

}  // namespace

int main() {
  const fs::path folder = fs::temp_directory_path() / ("assay-bench-compare-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto a = folder / "a.json";
  const auto b = folder / "b.json";
  Spent ignored;
  bool good = spend([&] { return generate(a, "a", 0) && generate(b, "b", 1); }, ignored);
  if (good) std::printf("two files of %.1f MB\n", static_cast<double>(fs::file_size(a)) / 1e6);
  for (int round = 0; good && round < 3; ++round) {
    Spent parsing;
    Spent comparing;
    good = spend([&] { return parse_only(a) && parse_only(b); }, parsing) &&
           spend([&] { return compare_both(a, b); }, comparing);
    std::printf("parsing %.2f s, %.0f MiB; comparing %.2f s, %.0f MiB: %.2f times\n", parsing.seconds,
                parsing.mebibytes, comparing.seconds, comparing.mebibytes, comparing.seconds / parsing.seconds);
  }
  std::error_code failure;
  fs::remove_all(folder, failure);
  return good ? 0 : 1;
}
