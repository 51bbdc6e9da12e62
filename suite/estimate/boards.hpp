// SPDX-License-Identifier: Apache-2.0
// Boards: nominal capacities with their source, and the room each leaves for a workload and its variations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/estimate/estimate.hpp"

namespace assay::estimate {

struct Board {
  std::string_view name;
  std::string_view vendor;
  std::int64_t nominal_gb = 0;  // as the source prints it, taken as 10^9 bytes: never more than what a device declares
  std::string_view source;
};

// Of one device as the runtime lists it: a board of two devices stands here with the capacity of one.
std::span<const Board> known_boards();

// One change of the workload, by itself.
struct Variation {
  std::string name;  // "as stated", "input twice as long", "batch twice as large", "another library version", ...
  Figure need_bytes;
};

struct BoardRoom {
  Board board;
  std::int64_t capacity_bytes = 0;
  std::vector<std::optional<std::int64_t>> room_bytes;  // of each variation; negative: does not fit; nothing: unknown
};

// Boards by the room the first variation leaves, the tightest that holds it first, those that do not hold it last.
std::vector<BoardRoom> rank_boards(std::span<const Board> boards, const std::vector<Variation>& variations);

}  // namespace assay::estimate
