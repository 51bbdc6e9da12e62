// SPDX-License-Identifier: Apache-2.0
// A safetensors header of 500,000 tensors: reading it against a bare streaming parse of the same bytes, time and
// memory. usage: bench-weights-header [TENSORS]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/weights/safetensors.hpp"
#include "tests/support/weight_files.hpp"

namespace {

// Takes every event and keeps nothing.
struct Bare : nlohmann::json_sax<nlohmann::json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }
};

double seconds_of(auto&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::string header_of(int count) {
  std::vector<assay::test::SafeTensor> tensors;
  for (int i = 0; i < count; ++i)
    tensors.push_back(assay::test::safe_tensor(
        "model.layers." + std::to_string(i / 2000) + ".mlp.experts." + std::to_string(i % 2000) + ".down_proj.weight",
        "BF16", {7168, 2048}, 2));
  return assay::test::safetensors_header(tensors);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 500'000;
  // Built in a function of its own; what building it took is part of the peak that is subtracted.
  const auto file = header_of(count);
  const double before = peak_mib();
  std::vector<double> bare;
  std::vector<double> ours;
  bool fine = true;
  for (int i = 0; i < 5; ++i) {
    bare.push_back(seconds_of([&] {
      Bare handler;
      fine = fine && nlohmann::json::sax_parse(file.begin() + 8, file.end(), &handler);
    }));
    ours.push_back(seconds_of([&] {
      assay::weights::TensorTable table;
      const auto read = assay::weights::read_safetensors(file, "header", 0, true, table);
      fine = fine && read && table.all().size() == static_cast<std::size_t>(count);
    }));
  }
  std::sort(bare.begin(), bare.end());
  std::sort(ours.begin(), ours.end());
  std::printf("header %.1f MB, %d tensors\n", static_cast<double>(file.size()) / 1e6, count);
  std::printf("bare streaming parse %.3f s, reading %.3f s: %.2f times\n", bare[2], ours[2], ours[2] / bare[2]);
  std::printf("peak of the process above building the file: %.0f MiB\n", peak_mib() - before);
  return fine ? 0 : 1;
}
