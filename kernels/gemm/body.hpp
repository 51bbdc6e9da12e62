// SPDX-License-Identifier: Apache-2.0
// GEMM: c = activation(a * b^T + bias), f32 accumulation, one block a tile of c.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/multiply.hpp"
#include "kernels/common/reduce.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/gemm/params.hpp"
#include "kernels/gemm/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// On a GPU: 64 x 64 outputs a block, 4 x 4 a thread, operands staged through shared memory 16 deep. On one thread:
// 48 x 48 outputs, 4 x 3 at a time with the vector lanes along k, operands read where they lie; 12 sums, 3 right and 1
// left operand fill the 16 vector registers of x86-64-v3.
struct StagedTile {
  static constexpr bool kStaged = true;
  static constexpr int kM = 64, kN = 64, kK = 16, kRows = 4, kColumns = 4;
  static constexpr int kStride = kM + 4;  // spreads the transposing stores over the banks, keeps 16-byte reads aligned
  static constexpr std::uint32_t kSharedBytes = 2 * kK * kStride * 4;
};
struct DirectTile {
  static constexpr bool kStaged = false;
  static constexpr int kM = 48, kN = 48, kRows = 4, kColumns = 3;
};
// With this few rows a tile would be mostly empty: each wave of a GPU takes whole columns instead.
inline constexpr std::int64_t kSkinnyRows = 4;

template <class T>
struct GemmKernel {
  using Params = GemmParams;
  using Storage = T;
  static constexpr const char* kName = "gemm";
  static constexpr SourceVersion kVersion = kGemmVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    if (p.m <= 0 || p.n <= 0) return {};
    if (target.wave == 1) return shape_of_rows(tiles<DirectTile>(p), target);
    if (p.m <= kSkinnyRows) {
      const std::uint32_t threads = block_threads(target);
      const std::int64_t waves = threads > target.wave ? threads / target.wave : 1;
      return shape_of_rows(divide_up(p.n, waves), target);
    }
    LaunchShape shape = shape_of_rows(tiles<StagedTile>(p), target);
    shape.shared_bytes = StagedTile::kSharedBytes;
    return shape;
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    if constexpr (Block::kSerial) {
      run_tiles<DirectTile>(block, p);
    } else if (p.m <= kSkinnyRows) {
      run_skinny(block, p);
    } else {
      run_tiles<StagedTile>(block, p);
    }
  }

 private:
  template <class Tile>
  ASSAY_BOTH static std::int64_t tiles(const Params& p) {
    return divide_up(p.m, Tile::kM) * divide_up(p.n, Tile::kN);
  }

  ASSAY_DEVICE static void finish(const Params& p, std::int64_t row, std::int64_t column, float sum) {
    if (p.bias != nullptr) sum += get(static_cast<const T*>(p.bias) + column);
    if (p.activation == kGemmRelu) sum = sum > 0.0f ? sum : 0.0f;
    put(static_cast<T*>(p.c) + row * p.n + column, sum);
  }

  template <class Tile, class Block>
  ASSAY_DEVICE static void run_tiles(const Block& block, const Params& p) {
    const std::int64_t row_tiles = divide_up(p.m, Tile::kM);
    for (std::int64_t tile = block.block(); tile < tiles<Tile>(p); tile += block.blocks()) {
      // Neighbouring blocks share columns of b, the larger operand.
      const std::int64_t row = tile % row_tiles * Tile::kM;
      const std::int64_t column = tile / row_tiles * Tile::kN;
      if constexpr (Tile::kStaged) {
        run_staged<Tile>(block, p, row, column);
      } else {
        run_direct<Tile, Block>(p, row, column);
      }
    }
  }

  // The block repeats the walk over k until each register tile has had a thread, once when there are enough threads.
  template <class Tile, class Block>
  ASSAY_DEVICE static void run_staged(const Block& block, const Params& p, std::int64_t row, std::int64_t column) {
    constexpr int kAcross = Tile::kN / Tile::kColumns;
    constexpr std::int64_t kPieces = Tile::kM / Tile::kRows * kAcross;
    float* left = block.template shared<float>();
    float* right = left + Tile::kK * Tile::kStride;
    for (std::int64_t pass = 0; pass < kPieces; pass += block.threads()) {
      const std::int64_t piece = pass + block.thread();
      const std::int64_t i0 = piece / kAcross * Tile::kRows;
      const std::int64_t j0 = piece % kAcross * Tile::kColumns;
      Piece<Tile::kRows, Tile::kColumns, 1> sums;
      clear(sums);
      for (std::int64_t k0 = 0; k0 < p.k; k0 += Tile::kK) {
        stage<Tile>(block, left, static_cast<const T*>(p.a), row, p.m, k0, p.k);
        stage<Tile>(block, right, static_cast<const T*>(p.b), column, p.n, k0, p.k);
        block.sync();
        if (piece < kPieces) {
          multiply(
              sums, 0, Tile::kK, [&](int i, std::int64_t k) { return spread<1>(left[k * Tile::kStride + i0 + i]); },
              [&](int j, std::int64_t k) { return spread<1>(right[k * Tile::kStride + j0 + j]); });
        }
        block.sync();
      }
      if (piece >= kPieces) continue;
      ASSAY_UNROLL
      for (int i = 0; i < Tile::kRows; ++i) {
        ASSAY_UNROLL
        for (int j = 0; j < Tile::kColumns; ++j) {
          const std::int64_t r = row + i0 + i;
          const std::int64_t c = column + j0 + j;
          if (r < p.m && c < p.n) finish(p, r, c, lane_sum(sums.at[i][j]));
        }
      }
    }
  }

  // to[k][i] = from[first + i][k0 + k], zero outside the matrix.
  template <class Tile, class Block>
  ASSAY_DEVICE static void stage(const Block& block, float* to, const T* from, std::int64_t first, std::int64_t rows,
                                 std::int64_t k0, std::int64_t depth) {
    for (std::uint32_t at = block.thread(); at < Tile::kM * Tile::kK; at += block.threads()) {
      const std::int64_t i = at / Tile::kK;
      const std::int64_t k = at % Tile::kK;
      const bool inside = first + i < rows && k0 + k < depth;
      to[k * Tile::kStride + i] = inside ? get(from + (first + i) * depth + k0 + k) : 0.0f;
    }
  }

  // One thread. Columns outermost, so that their rows of b stay in the first cache while the rows of a pass by.
  template <class Tile, class Block>
  ASSAY_DEVICE static void run_direct(const Params& p, std::int64_t row, std::int64_t column) {
    const std::int64_t row_end = smaller(row + Tile::kM, p.m);
    const std::int64_t column_end = smaller(column + Tile::kN, p.n);
    for (std::int64_t c = column; c < column_end; c += Tile::kColumns) {
      std::int64_t r = row;
      for (; r + Tile::kRows <= row_end; r += Tile::kRows) {
        piece<Block, Tile::kRows, Tile::kColumns>(p, r, c, column_end);
      }
      for (; r < row_end; ++r) piece<Block, 1, Tile::kColumns>(p, r, c, column_end);
    }
  }

  // Rows [row, row + kRows) and up to kColumns columns; columns past the end repeat the last one and are not stored.
  template <class Block, int kRows, int kColumns>
  ASSAY_DEVICE static void piece(const Params& p, std::int64_t row, std::int64_t column, std::int64_t column_end) {
    constexpr int kN = Block::template kLanes<T>;
    const T* a[static_cast<std::size_t>(kRows)];
    const T* b[static_cast<std::size_t>(kColumns)];
    for (int i = 0; i < kRows; ++i) a[i] = static_cast<const T*>(p.a) + (row + i) * p.k;
    for (int j = 0; j < kColumns; ++j) b[j] = static_cast<const T*>(p.b) + smaller(column + j, column_end - 1) * p.k;
    const std::int64_t packed = p.k / kN * kN;
    Piece<kRows, kColumns, kN> sums;
    clear(sums);
    multiply(
        sums, 0, packed, [&](int i, std::int64_t k) { return load<kN>(a[i] + k); },
        [&](int j, std::int64_t k) { return load<kN>(b[j] + k); });
    Piece<kRows, kColumns, 1> rest;
    clear(rest);
    multiply(
        rest, packed, p.k, [&](int i, std::int64_t k) { return load<1>(a[i] + k); },
        [&](int j, std::int64_t k) { return load<1>(b[j] + k); });
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kColumns && column + j < column_end; ++j) {
        finish(p, row + i, column + j, lane_sum(sums.at[i][j]) + lane_sum(rest.at[i][j]));
      }
    }
  }

  // Each wave sums whole columns over k, lanes side by side, for all of the few rows at once.
  template <class Block>
  ASSAY_DEVICE static void run_skinny(const Block& block, const Params& p) {
    const T* a = static_cast<const T*>(p.a);
    const bool fits = rows_fit<Block>(a, p.k) && rows_fit<Block>(static_cast<const T*>(p.b), p.k);
    constexpr int kN = Block::template kLanes<T>;
    const std::uint32_t wave = block.wave();
    const std::uint32_t lane = block.thread() % wave;
    const std::uint32_t left = block.threads() - (block.thread() - lane);
    const std::int64_t lanes = left < wave ? left : wave;
    const std::int64_t waves = (block.threads() + wave - 1) / wave;
    const std::int64_t packed = fits ? p.k / kN * kN : 0;
    for (std::int64_t column = block.block() * waves + block.thread() / wave; column < p.n;
         column += block.blocks() * waves) {
      const T* b = static_cast<const T*>(p.b) + column * p.k;
      float sums[kSkinnyRows] = {};
      for (std::int64_t k = lane * kN; k < packed; k += lanes * kN) {
        const auto right = load<kN>(b + k);
        ASSAY_UNROLL
        for (int r = 0; r < kSkinnyRows; ++r) {
          if (r < p.m) sums[r] += lane_sum(load<kN>(a + r * p.k + k) * right);
        }
      }
      for (std::int64_t k = packed + lane; k < p.k; k += lanes) {
        const float right = get(b + k);
        ASSAY_UNROLL
        for (int r = 0; r < kSkinnyRows; ++r) {
          if (r < p.m) sums[r] += get(a + r * p.k + k) * right;
        }
      }
      ASSAY_UNROLL
      for (int r = 0; r < kSkinnyRows; ++r) {
        const float sum = wave_sum(block, sums[r]);
        if (lane == 0 && r < p.m) finish(p, r, column, sum);
      }
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
