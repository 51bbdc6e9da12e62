// SPDX-License-Identifier: Apache-2.0
// Causal attention with grouped query heads by online softmax, for prefill and for decode.
#pragma once

#include "kernels/attention/params.hpp"
#include "kernels/attention/version.hpp"
#include "kernels/common/loops.hpp"
#include "kernels/common/multiply.hpp"
#include "kernels/common/shape.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// A block owns up to `rows` query rows of one sequence and one key-value head (row = token * group + head in group, so
// that grouped heads share what is read of the cache) and walks over the keys they see, `keys` at a time.
struct AttentionTile {
  std::int32_t rows;
  std::int32_t keys;
  std::int32_t stride;        // of a row of q, keys, values and output in shared memory
  std::int32_t score_stride;  // of a row of scores
  ASSAY_BOTH std::int32_t floats() const { return (2 * rows + keys) * stride + rows * score_stride + 6 * rows; }
};

// Within 47 KiB of shared memory, or one row and one key where a head is too long even for that. On a GPU strides are
// odd, so that threads on neighbouring rows meet different banks; on one thread they are whole vectors, padded with 0.
template <bool kDecode>
ASSAY_BOTH AttentionTile attention_tile(const AttentionParams& p, bool serial) {
  const std::int64_t rows = p.q_tokens * quotient(p.q_heads, p.kv_heads);
  const auto dim = static_cast<std::int32_t>(p.head_dim);
  AttentionTile tile{rows < 16 ? static_cast<std::int32_t>(rows) : 16, kDecode ? 64 : 32,
                     serial ? (dim + 7) / 8 * 8 : dim | 1, 0};
  tile.score_stride = tile.keys + 1;
  while (tile.floats() > 47 * 256 && (tile.rows > 1 || tile.keys > 1)) {
    if (tile.keys > tile.rows) {
      tile.keys = (tile.keys + 1) / 2;
    } else {
      tile.rows = (tile.rows + 1) / 2;
    }
    tile.score_stride = tile.keys + 1;
  }
  return tile;
}

template <class T, bool kDecode>
struct AttentionKernel {
  using Params = AttentionParams;
  using Storage = T;
  static constexpr const char* kName = kDecode ? "attention_decode" : "attention_prefill";
  static constexpr SourceVersion kVersion = kAttentionVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    if (p.batch <= 0 || p.q_tokens <= 0 || p.kv_heads <= 0 || p.q_heads < p.kv_heads || p.head_dim <= 0) return {};
    const AttentionTile tile = attention_tile<kDecode>(p, target.wave == 1);
    LaunchShape shape = shape_of_rows(tiles(p, tile), target);
    shape.shared_bytes = static_cast<std::uint32_t>(tile.floats()) * 4;
    return shape;
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const AttentionTile tile = attention_tile<kDecode>(p, Block::kSerial);
    run_tile(block, p, tile, block.block());  // shape() asks for exactly one block a tile
  }

 private:
  // Where this block works, and its parts of shared memory.
  struct Work {
    AttentionTile tile;
    std::int32_t group;  // query heads a key-value head
    std::int32_t sequence;
    std::int32_t kv_head;
    std::int32_t first_row;
    std::int32_t rows;    // of the tile that exist
    std::int32_t dim;     // head_dim
    float* q;             // [tile.rows][stride]
    float* y;             // [tile.rows][stride], the unscaled output
    float* cache;         // [tile.keys][stride], keys, then values
    float* scores;        // [tile.rows][score_stride]
    float* peak;          // [tile.rows], largest score so far
    float* total;         // [tile.rows], sum of exp(score - peak)
    float* shrink;        // [tile.rows], exp(old peak - new peak)
    std::int32_t* first;  // [tile.rows], first position the row sees
    std::int32_t* last;   // [tile.rows], its own position
    std::int32_t* head;   // [tile.rows], index of its query head among those of the sequence, token by token
  };

  ASSAY_BOTH static std::int64_t tiles(const Params& p, const AttentionTile& tile) {
    return p.batch * p.kv_heads * quotient(p.q_tokens * quotient(p.q_heads, p.kv_heads) + tile.rows - 1, tile.rows);
  }
  ASSAY_DEVICE static std::int64_t first_seen(const Params& p, std::int64_t position) {
    return p.window > 0 && position >= p.window ? position - p.window + 1 : 0;
  }
  // Offset in q and y of element 0 of a row of the tile.
  ASSAY_DEVICE static std::int64_t query_offset(const Params& p, const Work& w, std::int32_t row) {
    return (std::int64_t{w.sequence} * p.q_tokens * p.q_heads + w.head[row]) * p.head_dim;
  }

  template <class Block>
  ASSAY_DEVICE static void run_tile(const Block& block, const Params& p, const AttentionTile& tile,
                                    std::int64_t index) {
    Work w;
    w.tile = tile;
    w.tile.stride = per_thread(tile.stride);
    w.dim = per_thread(static_cast<std::int32_t>(p.head_dim));
    w.group = static_cast<std::int32_t>(quotient(p.q_heads, p.kv_heads));
    const std::int64_t all_rows = p.q_tokens * w.group;
    const std::int64_t row_tiles = quotient(all_rows + tile.rows - 1, tile.rows);
    w.first_row = static_cast<std::int32_t>(remainder(index, row_tiles)) * tile.rows;
    const std::int64_t outer = quotient(index, row_tiles);
    w.kv_head = static_cast<std::int32_t>(remainder(outer, p.kv_heads));
    w.sequence = static_cast<std::int32_t>(quotient(outer, p.kv_heads));
    w.rows = static_cast<std::int32_t>(smaller(tile.rows, all_rows - w.first_row));
    w.q = block.template shared<float>();
    w.y = w.q + tile.rows * tile.stride;
    w.cache = w.y + tile.rows * tile.stride;
    w.scores = w.cache + tile.keys * tile.stride;
    w.peak = w.scores + tile.rows * tile.score_stride;
    w.total = w.peak + tile.rows;
    w.shrink = w.total + tile.rows;
    w.first = reinterpret_cast<std::int32_t*>(w.shrink + tile.rows);
    w.last = w.first + tile.rows;
    w.head = w.last + tile.rows;
    place_rows(block, p, w);
    block.sync();
    load_queries(block, p, w);
    const auto last_position = static_cast<std::int32_t>(p.start + quotient(w.first_row + w.rows - 1, w.group));
    auto k = static_cast<std::int32_t>(first_seen(p, p.start + quotient(w.first_row, w.group)));
    for (; k <= last_position; k += tile.keys) {
      const std::int32_t keys = static_cast<std::int32_t>(smaller(tile.keys, last_position - k + 1));
      stage(block, p, w, static_cast<const T*>(p.cache_k), k, keys);
      block.sync();
      score(block, p, w, k, keys);
      block.sync();
      stage(block, p, w, static_cast<const T*>(p.cache_v), k, keys);
      find_peaks(block, w, keys);
      block.sync();
      exponentiate(block, w, keys);
      block.sync();
      accumulate(block, w, keys);
      block.sync();
    }
    finish(block, p, w);
  }

  // Copies one row of storage into shared memory as floats, a part a call, zero up to the stride on one thread.
  template <class Block>
  ASSAY_DEVICE static void stage_part(const T* from, float* to, std::int32_t dim, std::int32_t d, bool fits) {
    constexpr int kN = Block::template kLanes<T>;
    if (fits && d + kN <= dim) {
      store_unaligned<kN>(to + d, load<kN>(from + d));
    } else {
      const std::int32_t end = Block::kSerial || d + kN < dim ? d + kN : dim;
      for (std::int32_t i = d; i < end; ++i) to[i] = i < dim ? get(from + i) : 0.0f;
    }
  }

  // Parts of kLanes elements that cover a row, its padding included.
  template <class Block>
  ASSAY_DEVICE static std::int32_t parts_of(const Work& w) {
    constexpr int kN = Block::template kLanes<T>;
    return ((Block::kSerial ? w.tile.stride : w.dim) + kN - 1) / kN;
  }

  template <class Block>
  ASSAY_DEVICE static void place_rows(const Block& block, const Params& p, const Work& w) {
    for (auto row = static_cast<std::int32_t>(block.thread()); row < w.rows;
         row += static_cast<std::int32_t>(block.threads())) {
      const std::int64_t token = quotient(w.first_row + row, w.group);
      const std::int64_t in_group = remainder(w.first_row + row, w.group);
      const std::int64_t position = p.start + token;
      w.first[row] = static_cast<std::int32_t>(first_seen(p, position));
      w.last[row] = static_cast<std::int32_t>(position);
      w.head[row] = static_cast<std::int32_t>(token * p.q_heads + w.kv_head * w.group + in_group);
      w.peak[row] = kLowest;
      w.total[row] = 0.0f;
    }
  }

  template <class Block>
  ASSAY_DEVICE static void load_queries(const Block& block, const Params& p, const Work& w) {
    constexpr int kN = Block::template kLanes<T>;
    const T* q = static_cast<const T*>(p.q);
    const bool fits = rows_fit<Block>(q, p.head_dim);
    const auto thread = static_cast<std::int32_t>(block.thread());
    const auto threads = static_cast<std::int32_t>(block.threads());
    const std::int32_t parts = parts_of<Block>(w);
    for (std::int32_t at = thread; at < w.rows * parts; at += threads) {
      const std::int32_t row = at / parts;
      stage_part<Block>(q + query_offset(p, w, row), w.q + row * w.tile.stride, w.dim, at % parts * kN, fits);
    }
    for (std::int32_t at = thread; at < w.rows * w.tile.stride; at += threads) w.y[at] = 0.0f;
  }

  // Brings positions [k, k + keys) of one cache into w.cache. They span at most `capacity` slots.
  template <class Block>
  ASSAY_DEVICE static void stage(const Block& block, const Params& p, const Work& w, const T* cache, std::int32_t k,
                                 std::int32_t keys) {
    constexpr int kN = Block::template kLanes<T>;
    const T* from = cache + (std::int64_t{w.sequence} * p.capacity * p.kv_heads + w.kv_head) * p.head_dim;
    const bool fits = rows_fit<Block>(cache, p.head_dim);
    const auto capacity = static_cast<std::int32_t>(p.capacity);
    const auto first_slot = static_cast<std::int32_t>(remainder(k, capacity));
    const std::int32_t parts = parts_of<Block>(w);
    for (auto at = static_cast<std::int32_t>(block.thread()); at < keys * parts;
         at += static_cast<std::int32_t>(block.threads())) {
      const std::int32_t key = at / parts;
      std::int32_t slot = first_slot + key;
      while (slot >= capacity) slot -= capacity;
      stage_part<Block>(from + slot * p.kv_heads * p.head_dim, w.cache + key * w.tile.stride, w.dim, at % parts * kN,
                        fits);
    }
  }

  // scores[row][key] = scale * q[row] . k[key], or minus infinity where the row does not see the key.
  template <class Block>
  ASSAY_DEVICE static void score(const Block& block, const Params& p, const Work& w, std::int32_t k,
                                 std::int32_t keys) {
    constexpr int kN = Block::kSerial ? Block::template kLanes<float> : 1;
    constexpr std::int32_t kRows = Block::kSerial ? 4 : 2;
    constexpr std::int32_t kColumns = Block::kSerial ? 3 : 1;
    const std::int32_t across = (keys + kColumns - 1) / kColumns;
    const std::int32_t pieces = (w.rows + kRows - 1) / kRows * across;
    for (auto piece = static_cast<std::int32_t>(block.thread()); piece < pieces;
         piece += static_cast<std::int32_t>(block.threads())) {
      const std::int32_t row = piece / across * kRows;
      const std::int32_t key = piece % across * kColumns;
      Piece<kRows, kColumns, kN> sums;
      clear(sums);
      multiply(
          sums, 0, Block::kSerial ? w.tile.stride : w.dim,
          [&](int i, std::int64_t d) {
            return load_unaligned<kN>(w.q + smaller(row + i, w.rows - 1) * w.tile.stride + d);
          },
          [&](int j, std::int64_t d) {
            return load_unaligned<kN>(w.cache + smaller(key + j, keys - 1) * w.tile.stride + d);
          });
      for (std::int32_t i = 0; i < kRows && row + i < w.rows; ++i) {
        const std::int32_t first = w.first[row + i];
        const std::int32_t last = w.last[row + i];
        for (std::int32_t j = 0; j < kColumns && key + j < keys; ++j) {
          const auto position = k + key + j;
          const bool seen = first <= position && position <= last;
          w.scores[(row + i) * w.tile.score_stride + key + j] = seen ? lane_sum(sums.at[i][j]) * p.scale : kLowest;
        }
      }
    }
  }

  template <class Block>
  ASSAY_DEVICE static void find_peaks(const Block& block, const Work& w, std::int32_t keys) {
    for (auto row = static_cast<std::int32_t>(block.thread()); row < w.rows;
         row += static_cast<std::int32_t>(block.threads())) {
      const float* scores = w.scores + row * w.tile.score_stride;
      float peak = w.peak[row];
      ASSAY_ROLLED  // here and below: unrolled, uniform addresses spill scalar registers on gfx90a
          for (std::int32_t key = 0; key < keys; ++key) peak = scores[key] > peak ? scores[key] : peak;
      // A row that has seen no key yet keeps an output and a total of 0; any factor does.
      w.shrink[row] = peak == kLowest ? 1.0f : exp_float(w.peak[row] - peak);
      w.peak[row] = peak;
    }
  }

  template <class Block>
  ASSAY_DEVICE static void exponentiate(const Block& block, const Work& w, std::int32_t keys) {
    for (auto at = static_cast<std::int32_t>(block.thread()); at < w.rows * keys;
         at += static_cast<std::int32_t>(block.threads())) {
      const std::int32_t row = at / keys;
      float* score = w.scores + row * w.tile.score_stride + at % keys;
      *score = *score == kLowest ? 0.0f : exp_float(*score - w.peak[row]);
    }
  }

  // y = y * shrink + weights . values, several rows and, on one thread, several elements at a time.
  template <class Block>
  ASSAY_DEVICE static void accumulate(const Block& block, const Work& w, std::int32_t keys) {
    constexpr int kN = Block::kSerial ? Block::template kLanes<float> : 1;
    constexpr std::int32_t kRows = 4;
    const std::int32_t across = Block::kSerial ? w.tile.stride / kN : w.dim;
    const std::int32_t pieces = (w.rows + kRows - 1) / kRows * across;
    const auto thread = static_cast<std::int32_t>(block.thread());
    const auto threads = static_cast<std::int32_t>(block.threads());
    for (std::int32_t piece = thread; piece < pieces; piece += threads) {
      const std::int32_t row = piece / across * kRows;
      const std::int32_t d = piece % across * kN;
      Piece<kRows, 1, kN> sums;
      clear(sums);
      multiply<kRows, 1, kN>(
          sums, 0, std::int64_t{keys} * kN,
          [&](int i, std::int64_t k) {
            return spread<kN>(w.scores[smaller(row + i, w.rows - 1) * w.tile.score_stride + k / kN]);
          },
          [&](int, std::int64_t k) { return load_unaligned<kN>(w.cache + k / kN * w.tile.stride + d); });
      for (std::int32_t i = 0; i < kRows && row + i < w.rows; ++i) {
        float* y = w.y + (row + i) * w.tile.stride + d;
        store_unaligned<kN>(y, load_unaligned<kN>(y) * spread<kN>(w.shrink[row + i]) + sums.at[i][0]);
      }
    }
    for (std::int32_t row = thread; row < w.rows; row += threads) {
      float sum = 0.0f;
      ASSAY_ROLLED
      for (std::int32_t key = 0; key < keys; ++key) sum += w.scores[row * w.tile.score_stride + key];
      w.total[row] = w.total[row] * w.shrink[row] + sum;
    }
  }

  template <class Block>
  ASSAY_DEVICE static void finish(const Block& block, const Params& p, const Work& w) {
    const std::int32_t dim = w.dim;
    for (auto at = static_cast<std::int32_t>(block.thread()); at < w.rows * dim;
         at += static_cast<std::int32_t>(block.threads())) {
      const std::int32_t row = at / dim;
      const std::int32_t d = at % dim;
      put(static_cast<T*>(p.y) + query_offset(p, w, row) + d, w.y[row * w.tile.stride + d] / w.total[row]);
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
