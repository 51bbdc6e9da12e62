// SPDX-License-Identifier: Apache-2.0
// Feeds every file of the given folders to a fuzz target, whole and cut: its corpus as an ordinary test.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

constexpr std::size_t kCuts = 8;  // of each file

void feed(const std::vector<char>& bytes) {
  const std::size_t step = std::max<std::size_t>(bytes.size() / kCuts, 1);
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (std::size_t size = 0; size < bytes.size(); size += step) LLVMFuzzerTestOneInput(data, size);
  LLVMFuzzerTestOneInput(data, bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      feed({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
      ++files;
    }
  }
  std::printf("%d files replayed\n", files);
  return files > 0 ? 0 : 1;
}
