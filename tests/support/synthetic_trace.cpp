// SPDX-License-Identifier: Apache-2.0
// Drawing the dimensions, and the order of allocations and frees that follows from them.
#include "tests/support/synthetic_trace.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace assay::testing {
namespace {

using Block = std::uint32_t;

class Transformer {
 public:
  Transformer(std::uint32_t seed, bool drift) : random_(seed * 7919 + 1), drift_(drift), kind_(seed % kKinds.size()) {
    hidden_ = 256 * draw(1, 16);
    layers_ = draw(4, 24);
    vocabulary_ = draw(1000, 50'000);
    batch_ = draw(1, 8);
    element_ = draw(0, 1) == 1 ? 2 : 4;
    streams_ = seed % 5 == 4 ? draw(2, 8) : 1;
    trains_ = draw(0, 2) != 0;
    sequence_ = 64 * draw(1, 16);
  }

  SyntheticTrace run() {
    make_weights();
    const std::size_t iterations = draw(3, 8);
    for (std::size_t i = 0; i < iterations; ++i) iterate();
    trace_.name = std::string(trains_ ? "training" : "inference") + ", " + kKinds[kind_] + ", " +
                  std::to_string(layers_) + " layers of " + std::to_string(hidden_) + ", " + std::to_string(streams_) +
                  (streams_ == 1 ? " stream" : " streams");
    return std::move(trace_);
  }

 private:
  static constexpr std::array<const char*, 4> kKinds{"constant", "random length", "growing length", "random batch"};

  std::size_t draw(std::size_t least, std::size_t most) { return least + random_() % (most - least + 1); }

  Block take(std::size_t bytes, std::size_t stream = 0) {
    if (drift_) bytes += bytes / 64 * draw(0, 8);
    trace_.events.push_back({true, next_, std::max<std::size_t>(bytes, 1), static_cast<std::uint32_t>(stream)});
    return next_++;
  }
  void give(Block block) { trace_.events.push_back({false, block, 0, 0}); }
  void give(const std::vector<Block>& blocks) {
    for (const Block block : blocks) give(block);
  }
  std::size_t any_stream() { return streams_ > 1 ? draw(0, streams_ - 1) : 0; }
  [[nodiscard]] std::size_t activation() const { return batch_ * sequence_ * hidden_ * element_; }
  [[nodiscard]] std::size_t logits() const {
    return batch_ * sequence_ * vocabulary_ * element_ / (vocabulary_ > 20'000 ? 8 : 1);
  }

  void make_weights() {
    take(vocabulary_ * hidden_ * element_);
    const std::size_t square = hidden_ * hidden_ * element_;
    for (std::size_t i = 0; i < layers_; ++i) {
      for (const std::size_t bytes : {3 * square, square, 8 * square / 3, 8 * square / 3}) take(bytes);
      take(hidden_ * element_);
      take(hidden_ * element_);
    }
  }

  void iterate() {
    if (kind_ == 1) sequence_ = 64 * draw(1, 16);
    if (kind_ == 2) sequence_ += 64 * draw(0, 2);
    if (kind_ == 3) batch_ = draw(1, 8);
    kept_.assign(layers_, {});
    std::vector<Block> cached;
    Block hidden_states = take(activation());
    for (std::size_t layer = 0; layer < layers_; ++layer) hidden_states = forward(hidden_states, layer, cached);
    const Block scores = take(logits());
    const Block sums = take(batch_ * sequence_ * 4);
    if (trains_) {
      const Block gradient = take(logits());
      give({scores, sums});
      backward(gradient);
    } else {
      give({scores, sums});
      decode();
      give(cached);
    }
    give(hidden_states);
  }

  Block forward(Block input, std::size_t layer, std::vector<Block>& cached) {
    const std::size_t s = any_stream();
    const std::size_t scores = batch_ * 8 * sequence_ * sequence_ * element_;
    const Block norm = take(activation(), s);
    const Block scale = take(batch_ * sequence_ * 4, s);
    const Block projected = take(3 * activation(), s);
    const Block raw = take(scores, s);
    const Block attention = take(scores, s);
    const Block mixed = take(activation(), s);
    const Block gate = take(activation() * 8 / 3, s);
    const Block up = take(activation() * 8 / 3, s);
    const Block workspace = take(draw(512, 700'000), s);
    const Block output = take(activation(), s);
    give({workspace, raw});
    std::vector<Block> rest{norm, scale, projected, attention, mixed, gate, up};
    if (trains_) {
      if (draw(0, 2) == 0) {
        give(rest.back());
        rest.pop_back();
      }
      kept_[layer] = rest;
    } else {
      give(rest);
      if (draw(0, 1) == 1) cached.push_back(take(2 * activation() / 8, s));
    }
    give(input);
    return output;
  }

  void backward(Block of_logits) {
    const std::size_t square = hidden_ * hidden_ * element_;
    std::vector<Block> gradients;
    Block flowing = take(activation());
    give(of_logits);
    for (std::size_t layer = layers_; layer-- > 0;) {
      const std::size_t s = any_stream();
      const Block gate = take(activation() * 8 / 3, s);
      const Block up = take(activation() * 8 / 3, s);
      gradients.push_back(take(8 * square / 3, s));
      const Block projected = take(3 * activation(), s);
      gradients.push_back(take(3 * square, s));
      gradients.push_back(take(hidden_ * element_, s));
      give({gate, up});
      const Block next = take(activation(), s);
      give({flowing, projected});
      flowing = next;
      give(kept_[layer]);
    }
    give(flowing);
    if (!optimized_) {
      for (std::size_t i = 0; i < 2; ++i) take(vocabulary_ * hidden_ * 4);
      for (std::size_t i = 0; i < 12 * layers_; ++i) take(draw(1, 3) * hidden_ * hidden_ * 4);
    }
    optimized_ = true;
    give(gradients);
  }

  void decode() {
    std::vector<Block> cache;
    for (std::size_t layer = 0; layer < layers_; ++layer) cache.push_back(take(2 * activation() / 8));
    const std::size_t tokens = draw(0, 20);
    for (std::size_t token = 1; token <= tokens; ++token)
      for (Block& block : cache) {
        const Block longer = take(2 * batch_ * (sequence_ + token) * hidden_ * element_ / 8);
        give(block);
        block = longer;
        give(take(batch_ * hidden_ * element_ * 4));
      }
    give(cache);
  }

  std::mt19937 random_;
  bool drift_;
  std::size_t kind_;
  std::size_t hidden_, layers_, vocabulary_, batch_, element_, streams_, sequence_;
  bool trains_;
  bool optimized_ = false;
  Block next_ = 0;
  std::vector<std::vector<Block>> kept_;
  SyntheticTrace trace_;
};

}  // namespace

SyntheticTrace synthetic_trace(std::uint32_t seed, bool drift) {
  return Transformer(seed, drift).run();
}

}  // namespace assay::testing
