// SPDX-License-Identifier: Apache-2.0
// The forward pass of the small decoder against a plain fp64 computation of the same network, token by token.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "suite/measure/forward/network.hpp"
#include "suite/measure/runner.hpp"
#include "suite/measure/session.hpp"
#include "tests/unit/measure_support.hpp"

namespace assay::measure {
namespace {

using Vector = std::vector<double>;
using model::Role;

double stored(float value, const std::string& dtype) {
  if (dtype == "f16") return from_f16(to_f16(value));
  if (dtype == "bf16") return from_bf16(to_bf16(value));
  return value;
}

// One sequence through the decoder in fp64, without a cache: every step computes everything again.
class Reference {
 public:
  Reference(const Workload& work, const Network& network) : model_(work.model) {
    const auto fills = network.weight_fills();
    for (std::size_t i = 0; i < fills.size(); ++i) {
      const auto& tensor = network.weights().tensors[i];
      Vector values(static_cast<std::size_t>(tensor.elements));
      for (std::size_t e = 0; e < values.size(); ++e) {
        values[e] = stored(uniform_value(fills[i], work.seed, static_cast<std::int64_t>(e)), work.storage_dtype);
      }
      weights_.push_back({tensor.role, tensor.layer, std::move(values)});
    }
  }

  // Logits of the last token.
  [[nodiscard]] Vector logits(const std::vector<std::int32_t>& tokens) const {
    std::vector<Vector> rows;
    const Vector& table = find(Role::embedding, -1);
    const auto hidden = static_cast<std::size_t>(model_.hidden_size);
    for (const auto token : tokens) {
      const auto at = table.begin() + static_cast<std::ptrdiff_t>(token) * static_cast<std::ptrdiff_t>(hidden);
      rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(hidden));
    }
    for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
      attend(layer, rows);
      for (auto& row : rows) feed_forward(layer, row);
    }
    const Vector& head = model_.tied_embeddings ? table : find(Role::output_head, -1);
    return multiply(head, {}, norm(rows.back(), find(Role::final_norm, -1)));
  }

  std::int64_t shorten_window = 0;  // a mistake made on purpose, to see that it shows

 private:
  struct Weight {
    Role role;
    std::int64_t layer;
    Vector values;
  };

  [[nodiscard]] const Vector& find(Role role, std::int64_t layer) const {
    static const Vector none;
    for (const auto& weight : weights_) {
      if (weight.role == role && weight.layer == layer) return weight.values;
    }
    return none;
  }

  static Vector multiply(const Vector& matrix, const Vector& bias, const Vector& x) {
    Vector y(matrix.size() / x.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) y[i] += matrix[i * x.size() + j] * x[j];
      if (!bias.empty()) y[i] += bias[i];
    }
    return y;
  }

  [[nodiscard]] Vector norm(const Vector& x, const Vector& weight) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(x.size()) + model_.norm_epsilon);
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
    return y;
  }

  void rotate(Vector& x, std::size_t position) const {
    const auto dim = static_cast<std::size_t>(model_.head_dim);
    for (std::size_t head = 0; head < x.size() / dim; ++head) {
      for (std::size_t i = 0; i < dim / 2; ++i) {
        const double power = -2.0 * static_cast<double>(i) / static_cast<double>(dim);
        const double angle = static_cast<double>(position) * std::pow(model_.rope_theta, power);
        double& low = x[head * dim + i];
        double& high = x[head * dim + i + dim / 2];
        const double turned = low * std::cos(angle) - high * std::sin(angle);
        high = high * std::cos(angle) + low * std::sin(angle);
        low = turned;
      }
    }
  }

  void attend(std::int64_t layer, std::vector<Vector>& rows) const {
    std::vector<Vector> q, k, v;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const Vector normed = norm(rows[t], find(Role::input_norm, layer));
      q.push_back(multiply(find(Role::query, layer), find(Role::query_bias, layer), normed));
      k.push_back(multiply(find(Role::key, layer), find(Role::key_bias, layer), normed));
      v.push_back(multiply(find(Role::value, layer), find(Role::value_bias, layer), normed));
      rotate(q.back(), t);
      rotate(k.back(), t);
    }
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const Vector out =
          multiply(find(Role::attention_output, layer), find(Role::attention_output_bias, layer), mix(q[t], k, v, t));
      for (std::size_t i = 0; i < out.size(); ++i) rows[t][i] += out[i];
    }
  }

  [[nodiscard]] Vector mix(const Vector& q, const std::vector<Vector>& k, const std::vector<Vector>& v,
                           std::size_t t) const {
    const auto dim = static_cast<std::size_t>(model_.head_dim);
    const auto group = static_cast<std::size_t>(model_.query_heads / model_.kv_heads);
    const auto window = static_cast<std::size_t>(model_.sliding_window - shorten_window);
    const std::size_t first = model_.sliding_window > 0 && t + 1 > window ? t + 1 - window : 0;
    Vector out(q.size());
    for (std::size_t head = 0; head < q.size() / dim; ++head) {
      Vector scores;
      for (std::size_t p = first; p <= t; ++p) {
        double dot = 0;
        for (std::size_t i = 0; i < dim; ++i) dot += q[head * dim + i] * k[p][head / group * dim + i];
        scores.push_back(dot / std::sqrt(static_cast<double>(dim)));
      }
      const double most = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& score : scores) sum += score = std::exp(score - most);
      for (std::size_t p = first; p <= t; ++p) {
        for (std::size_t i = 0; i < dim; ++i) {
          out[head * dim + i] += scores[p - first] / sum * v[p][head / group * dim + i];
        }
      }
    }
    return out;
  }

  void feed_forward(std::int64_t layer, Vector& x) const {
    const Vector normed = norm(x, find(Role::post_attention_norm, layer));
    Vector gate = multiply(find(Role::gate, layer), {}, normed);
    const Vector up = multiply(find(Role::up, layer), {}, normed);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1.0 + std::exp(-gate[i])) * up[i];
    const Vector down = multiply(find(Role::down, layer), {}, gate);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += down[i];
  }

  DecoderConfig model_;
  std::vector<Weight> weights_;
};

// What the device computed: logits after prefill and after each step, and all tokens, sequence by sequence.
struct Generated {
  std::vector<std::vector<std::int32_t>> prompts;
  std::vector<std::vector<std::int32_t>> tokens;  // [sequence][step]
  std::vector<std::vector<Vector>> logits;        // [sequence][step]
};

std::string bytes_of(Runner& runner, const Output& output) {
  std::string bytes;
  const auto read = runner.read(output, [&](const std::byte* data, std::size_t size) {
    bytes.append(reinterpret_cast<const char*>(data), size);
  });
  EXPECT_TRUE(read) << read.error().text;
  return bytes;
}

Vector numbers(const std::string& bytes, const std::string& dtype) {
  const std::size_t size = dtype == "f32" ? 4 : 2;
  Vector out;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    float wide = 0;
    std::uint16_t narrow = 0;
    std::memcpy(size == 4 ? static_cast<void*>(&wide) : static_cast<void*>(&narrow), bytes.data() + at, size);
    out.push_back(dtype == "f16" ? from_f16(narrow) : dtype == "bf16" ? from_bf16(narrow) : wide);
  }
  return out;
}

std::vector<std::int32_t> integers(const std::string& bytes) {
  std::vector<std::int32_t> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Generated generated_by(const Workload& work, const PlannedDevice& device) {
  Generated out;
  const auto sequences = static_cast<std::size_t>(work.batch);
  out.prompts.resize(sequences);
  out.tokens.resize(sequences);
  out.logits.resize(sequences);
  auto session = Session::open(device, "caching", "");
  EXPECT_TRUE(session) << session.error().text;
  if (!session) return out;
  EXPECT_TRUE((*session)->prepare(work.storage_dtype));
  const auto network = *make_network(work);
  Runner runner(**session, *network, work.seed, storage_of(work.storage_dtype));
  EXPECT_TRUE(runner.load());
  EXPECT_TRUE(runner.inputs());
  Pass pass;
  for (std::int64_t step = -1; step < work.decode_tokens; ++step) {
    pass.clear();
    step < 0 ? network->prefill(pass) : network->decode(step, pass);
    const auto ran = runner.run(pass);
    EXPECT_TRUE(ran) << ran.error().text;
    if (!ran) return out;
    const Vector all = numbers(bytes_of(runner, network->generation_outputs()[0]), work.storage_dtype);
    for (std::size_t s = 0; s < sequences; ++s) {
      const auto width = static_cast<std::ptrdiff_t>(all.size() / sequences);
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(s) * width;
      out.logits[s].emplace_back(at, at + width);
    }
  }
  const auto tokens = integers(bytes_of(runner, network->generation_outputs()[1]));
  for (std::size_t i = 0; i < tokens.size(); ++i) out.tokens[i % sequences].push_back(tokens[i]);
  for (const auto& fill : network->input_fills()) {
    if (fill.law != FillLaw::token_ids) continue;
    std::vector<std::int32_t> ids(static_cast<std::size_t>(fill.elements));
    generate(fill, work.seed, Storage::f32, 0, fill.elements, reinterpret_cast<std::byte*>(ids.data()));
    for (std::size_t i = 0; i < ids.size(); ++i) out.prompts[i / (ids.size() / sequences)].push_back(ids[i]);
  }
  return out;
}

// The largest difference of any logit at any step, as a share of the largest logit of that step.
double worst_difference(const Generated& made, const Reference& reference) {
  double worst = 0;
  for (std::size_t s = 0; s < made.prompts.size(); ++s) {
    auto tokens = made.prompts[s];
    for (std::size_t step = 0; step < made.logits[s].size(); ++step) {
      const Vector expected = reference.logits(tokens);
      double largest = 0;
      double difference = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        difference = std::max(difference, std::abs(expected[i] - made.logits[s][step][i]));
      }
      worst = std::max(worst, difference / largest);
      tokens.push_back(made.tokens[s][step]);
    }
  }
  return worst;
}

double worst_difference(const Generated& a, const Generated& b) {
  double worst = 0;
  for (std::size_t s = 0; s < a.logits.size(); ++s) {
    for (std::size_t step = 0; step < a.logits[s].size(); ++step) {
      double largest = 0;
      double difference = 0;
      for (std::size_t i = 0; i < a.logits[s][step].size(); ++i) {
        largest = std::max(largest, std::abs(a.logits[s][step][i]));
        difference = std::max(difference, std::abs(a.logits[s][step][i] - b.logits[s][step][i]));
      }
      worst = std::max(worst, difference / largest);
    }
  }
  return worst;
}

// f32 sums of at most 80 products through 3 layers: 1e-5 of the largest logit is some hundred roundings. 16-bit storage
// rounds every activation to 2^-11 or 2^-8 about forty times on the way.
constexpr double kF32Error = 1e-5;
constexpr double kF16Error = 1e-2;
constexpr double kBf16Error = 8e-2;

TEST(MeasureReference, EveryLogitOfEveryStepIsThatOfTheNetwork) {
  for (const bool biases : {false, true}) {
    for (const bool tied : {false, true}) {
      Workload work = test::tiny();
      work.model.attention_bias = biases;
      work.model.tied_embeddings = tied;
      if (biases) work.model.model_type = "llama";
      const auto network = *make_network(work);
      const Generated made = generated_by(work, test::host());
      Reference reference(work, *network);
      EXPECT_LT(worst_difference(made, reference), kF32Error);
      for (std::size_t s = 0; s < made.tokens.size(); ++s) {
        ASSERT_EQ(made.tokens[s].size(), 6u);
        for (std::size_t step = 0; step < 6; ++step) {
          const auto& logits = made.logits[s][step];
          const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
          EXPECT_EQ(made.tokens[s][step], best) << "the most likely token is the next one";
        }
      }
      reference.shorten_window = 1;
      EXPECT_GT(worst_difference(made, reference), 10 * kF32Error) << "a window one token shorter must show";
    }
  }
}

TEST(MeasureReference, SixteenBitStorageStaysWithinItsRounding) {
  for (const auto& [dtype, error] : {std::pair{"f16", kF16Error}, {"bf16", kBf16Error}}) {
    Workload work = test::tiny();
    work.storage_dtype = dtype;
    const Generated made = generated_by(work, test::host());
    const double worst = worst_difference(made, Reference(work, **make_network(work)));
    EXPECT_LT(worst, error) << dtype;
    EXPECT_GT(worst, kF32Error) << dtype << " was not rounded at all";
  }
}

TEST(MeasureReference, EveryKindOfCacheGivesTheSameTokens) {
  for (const std::int64_t prompt : {1, 4, 6, 9}) {
    Workload work = test::tiny();
    work.prompt_tokens = prompt;
    work.decode_tokens = 9;
    const Generated fixed = generated_by(work, test::host());
    for (const KvKind kind : {KvKind::growing, KvKind::sliding_window}) {
      work.kv = kind;
      const Generated other = generated_by(work, test::host());
      EXPECT_EQ(other.tokens, fixed.tokens) << "prompt " << prompt;
      EXPECT_LT(worst_difference(fixed, other), kF32Error);
    }
  }
}

TEST(MeasureReference, RealBlockShapesAgreeWithOneThreadABlock) {
  const Workload work = test::tiny();
  const Generated fast = generated_by(work, test::host());
  for (const char* wave : {"32", "64"}) {
    const Generated checked = generated_by(work, test::host({{"wave", wave}}));
    EXPECT_LT(worst_difference(fast, checked), kF32Error) << "wave " << wave;
    EXPECT_EQ(fast.tokens, checked.tokens) << "wave " << wave;
  }
}

}  // namespace
}  // namespace assay::measure
