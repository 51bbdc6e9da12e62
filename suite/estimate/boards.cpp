// SPDX-License-Identifier: Apache-2.0
// The table of boards and its ranking.
#include "suite/estimate/boards.hpp"

#include <algorithm>

namespace assay::estimate {
namespace {

constexpr Board kBoards[] = {
    {"L4", "nvidia", 24, "NVIDIA L4 data sheet"},
    {"A10", "nvidia", 24, "NVIDIA A10 data sheet"},
    {"GeForce RTX 3090", "nvidia", 24, "NVIDIA product page, GeForce RTX 3090"},
    {"GeForce RTX 4090", "nvidia", 24, "NVIDIA product page, GeForce RTX 4090"},
    {"Radeon RX 7900 XTX", "amd", 24, "AMD product page, Radeon RX 7900 XTX"},
    {"GeForce RTX 5090", "nvidia", 32, "NVIDIA product page, GeForce RTX 5090"},
    {"V100 32GB", "nvidia", 32, "NVIDIA V100 data sheet"},
    {"Instinct MI100", "amd", 32, "AMD Instinct MI100 brochure"},
    {"A100 40GB", "nvidia", 40, "NVIDIA A100 data sheet"},
    {"L40S", "nvidia", 48, "NVIDIA L40S data sheet"},
    {"RTX 6000 Ada", "nvidia", 48, "NVIDIA RTX 6000 Ada data sheet"},
    {"Radeon PRO W7900", "amd", 48, "AMD product page, Radeon PRO W7900"},
    {"Instinct MI210", "amd", 64, "AMD Instinct MI210 data sheet"},
    {"Instinct MI250X, one of its two devices", "amd", 64, "AMD Instinct MI250X data sheet: 128 GB in two devices"},
    {"A100 80GB", "nvidia", 80, "NVIDIA A100 data sheet"},
    {"H100", "nvidia", 80, "NVIDIA H100 data sheet"},
    {"H100 NVL", "nvidia", 94, "NVIDIA H100 NVL data sheet"},
    {"RTX PRO 6000 Blackwell", "nvidia", 96, "NVIDIA RTX PRO 6000 Blackwell data sheet"},
    {"Instinct MI300A", "amd", 128, "AMD Instinct MI300A data sheet; shared with the CPU"},
    {"H200", "nvidia", 141, "NVIDIA H200 data sheet"},
    {"B200", "nvidia", 180, "NVIDIA DGX B200 data sheet: 1,440 GB in eight"},
    {"Instinct MI300X", "amd", 192, "AMD Instinct MI300X data sheet"},
    {"Instinct MI325X", "amd", 256, "AMD Instinct MI325X data sheet"},
    {"Instinct MI350X", "amd", 288, "AMD Instinct MI350X data sheet"}};

constexpr std::int64_t kGigabyte = 1'000'000'000;

}  // namespace

std::span<const Board> known_boards() {
  return kBoards;
}

std::vector<BoardRoom> rank_boards(std::span<const Board> boards, const std::vector<Variation>& variations) {
  std::vector<BoardRoom> out;
  for (const auto& board : boards) {
    BoardRoom room{board, board.nominal_gb * kGigabyte, {}};
    for (const auto& variation : variations) {
      const auto& need = variation.need_bytes.value;
      room.room_bytes.push_back(need ? std::optional(room.capacity_bytes - *need) : std::nullopt);
    }
    out.push_back(std::move(room));
  }
  const auto key = [](const BoardRoom& room) {
    const auto first = room.room_bytes.empty() ? std::nullopt : room.room_bytes.front();
    const bool fits = first && *first >= 0;
    return std::pair(fits ? 0 : 1, fits ? *first : -first.value_or(0));
  };
  std::stable_sort(out.begin(), out.end(), [&](const BoardRoom& a, const BoardRoom& b) { return key(a) < key(b); });
  return out;
}

}  // namespace assay::estimate
