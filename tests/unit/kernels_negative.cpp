// SPDX-License-Identifier: Apache-2.0
// Negative controls: every check of every kernel fails when the kernel does something wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/argmax/reference.hpp"
#include "kernels/attention/params.hpp"
#include "kernels/embedding/params.hpp"
#include "kernels/gemm/params.hpp"
#include "kernels/kv_append/params.hpp"
#include "kernels/rmsnorm/params.hpp"
#include "kernels/rope/params.hpp"
#include "kernels/softmax/params.hpp"
#include "kernels/swiglu/params.hpp"
#include "kernels/triad/params.hpp"
#include "tests/unit/kernels_support.hpp"

namespace assay::check {
namespace {

constexpr const char* kDtypes[] = {"f32", "f16", "bf16"};
constexpr const char* kKernels[] = {"copy",   "triad",   "embedding",   "rmsnorm",           "gemm",
                                    "rope",   "softmax", "kv_append",   "attention_prefill", "attention_decode",
                                    "swiglu", "argmax",  "residual_add"};

std::size_t first_output(const Case& the_case) {
  std::size_t i = 0;
  while (!the_case.buffers[i].written) ++i;
  return i;
}
std::size_t element_bytes(const Case& the_case) {
  return the_case.kernel == "argmax" || the_case.dtype == "f32" ? 4 : 2;
}

using Damage = std::function<void(const Case&, std::vector<Bytes>& images)>;

// The right kernel, whose results are then damaged.
Launch damaged(const Damage& damage) {
  const Launch right = executor_launch(host::kernel_build(), host::Executor({1, 1, 0}));
  return [right, damage](const Case& the_case, std::vector<Bytes>& images) -> Result<void> {
    if (auto r = right(the_case, images); !r) return r;
    damage(the_case, images);
    return {};
  };
}

// How many of the quick cases of a kernel fail under `launch`.
int caught(const std::string& kernel, const std::string& dtype, const Launch& launch) {
  int wrong = 0;
  for (const Case& the_case : cases_of(kernel, dtype, Depth::quick, 99)) {
    wrong += run_case(the_case, 1, launch).status == CaseStatus::wrong ? 1 : 0;
  }
  return wrong;
}

class Damaged : public testing::TestWithParam<const char*> {
 protected:
  void expect_caught(const char* what, const Damage& damage) {
    for (const char* dtype : kDtypes) EXPECT_GT(caught(GetParam(), dtype, damaged(damage)), 0) << what << ", " << dtype;
  }
};

TEST_P(Damaged, NothingIsCaughtWhereNothingIsWrong) {
  for (const char* dtype : kDtypes) {
    EXPECT_EQ(caught(GetParam(), dtype, damaged([](const Case&, std::vector<Bytes>&) {})), 0);
  }
}

TEST_P(Damaged, ZeroOutput) {
  expect_caught("zero output", [](const Case& c, std::vector<Bytes>& images) {
    Bytes& image = images[first_output(c)];
    std::fill(image.begin() + kGuardBytes, image.end() - kGuardBytes, std::byte{0});
  });
}

TEST_P(Damaged, OutputLeftAsItWas) {
  expect_caught("no output", [](const Case& c, std::vector<Bytes>& images) {
    const Bytes& before = c.buffers[first_output(c)].before;
    std::copy(before.begin(), before.end(), images[first_output(c)].begin() + kGuardBytes);
  });
}

TEST_P(Damaged, OneElementNeverWritten) {
  expect_caught("unwritten element", [](const Case& c, std::vector<Bytes>& images) {
    Bytes& image = images[first_output(c)];
    std::fill_n(image.end() - static_cast<std::ptrdiff_t>(kGuardBytes + element_bytes(c)), element_bytes(c), kPoison);
  });
}

TEST_P(Damaged, ResultsOneElementTooFar) {
  expect_caught("shifted by one", [](const Case& c, std::vector<Bytes>& images) {
    Bytes& image = images[first_output(c)];
    std::rotate(image.begin() + kGuardBytes,
                image.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + element_bytes(c)), image.end() - kGuardBytes);
  });
}

TEST_P(Damaged, OneByteBeyondTheEndAndOneBeforeTheStart) {
  expect_caught("beyond the end", [](const Case& c, std::vector<Bytes>& images) {
    Bytes& image = images[first_output(c)];
    image[image.size() - kGuardBytes] = std::byte{0};
  });
  expect_caught("before the start", [](const Case& c, std::vector<Bytes>& images) {
    images[first_output(c)][kGuardBytes - 1] = std::byte{0};
  });
}

TEST_P(Damaged, AnInputThatWasChanged) {
  expect_caught("changed input", [](const Case& c, std::vector<Bytes>& images) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (c.buffers[i].written || c.buffers[i].before.empty()) continue;
      images[i][kGuardBytes] ^= std::byte{1};
      return;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, Damaged, testing::ValuesIn(kKernels),
                         [](const auto& of) { return std::string(of.param); });

// The right kernel called with parameters that are subtly not those of the case.
template <class Params>
Launch misled(const std::function<void(Params&)>& mislead) {
  const Launch right = executor_launch(host::kernel_build(), host::Executor({1, 1, 0}));
  return [right, mislead](const Case& the_case, std::vector<Bytes>& images) {
    Case changed = the_case;
    changed.params = [&the_case, &mislead](const std::vector<void*>& arrays) {
      Bytes bytes = the_case.params(arrays);
      Params params;
      std::memcpy(&params, bytes.data(), sizeof(params));
      mislead(params);
      std::memcpy(bytes.data(), &params, sizeof(params));
      return bytes;
    };
    return right(changed, images);
  };
}

template <class Params>
void expect_misled(const std::string& kernel, const char* what, const std::function<void(Params&)>& mislead) {
  for (const char* dtype : kDtypes) {
    EXPECT_GT(caught(kernel, dtype, misled<Params>(mislead)), 0) << kernel << "/" << dtype << ": " << what;
  }
}

TEST(Misled, ElementwiseKernels) {
  expect_misled<kernels::TriadParams>("triad", "wrong scale", [](auto& p) { p.scalar *= 1.1f; });
  expect_misled<kernels::SwigluParams>("swiglu", "gate and up exchanged", [](auto& p) { std::swap(p.gate, p.up); });
}

TEST(Misled, RowKernels) {
  expect_misled<kernels::RmsNormParams>("rmsnorm", "wrong epsilon", [](auto& p) { p.epsilon = 0.1f; });
  expect_misled<kernels::RmsNormParams>("rmsnorm", "last row left out", [](auto& p) { p.rows -= 1; });
  expect_misled<kernels::SoftmaxParams>("softmax", "rows of another width", [](auto& p) {
    p.rows *= p.width;
    p.width = 1;
  });
  expect_misled<kernels::RopeParams>("rope", "wrong base", [](auto& p) { p.theta = 9000.0f; });
  expect_misled<kernels::RopeParams>("rope", "last token left out", [](auto& p) { p.tokens -= 1; });
}

TEST(Misled, RopeAtTheNextPosition) {
  const Launch right = executor_launch(host::kernel_build(), host::Executor({1, 1, 0}));
  for (const char* dtype : kDtypes) {
    const Launch late = [&](const Case& c, std::vector<Bytes>& images) {
      std::vector<Bytes> moved = images;
      for (std::size_t at = kGuardBytes; at < moved[1].size() - kGuardBytes; at += 4) {
        std::int32_t position = 0;
        std::memcpy(&position, &moved[1][at], 4);
        ++position;
        std::memcpy(&moved[1][at], &position, 4);
      }
      const Result<void> done = right(c, moved);
      images[0] = moved[0];
      return done;
    };
    EXPECT_GT(caught("rope", dtype, late), 0) << dtype;
  }
}

TEST(Misled, MovingKernels) {
  using Kv = kernels::KvAppendParams;
  expect_misled<Kv>("kv_append", "one position late", [](auto& p) { p.start += 1; });
  expect_misled<Kv>("kv_append", "one position early", [](auto& p) { p.start -= 1; });
  expect_misled<Kv>("kv_append", "keys and values exchanged", [](auto& p) { std::swap(p.k, p.v); });
  expect_misled<kernels::EmbeddingParams>("embedding", "ids one token late", [](auto& p) {
    ++p.ids;
    p.tokens -= 1;
  });
}

TEST(Misled, Gemm) {
  using Gemm = kernels::GemmParams;
  expect_misled<Gemm>("gemm", "no bias", [](auto& p) { p.bias = nullptr; });
  expect_misled<Gemm>("gemm", "no activation", [](auto& p) { p.activation = kernels::kGemmNone; });
  expect_misled<Gemm>("gemm", "an activation too many", [](auto& p) { p.activation = kernels::kGemmRelu; });
  expect_misled<Gemm>("gemm", "last row left out", [](auto& p) { p.m -= 1; });
}

TEST(Misled, Attention) {
  using Attention = kernels::AttentionParams;
  for (const char* kernel : {"attention_prefill", "attention_decode"}) {
    expect_misled<Attention>(kernel, "one position late", [](auto& p) { p.start += 1; });
    expect_misled<Attention>(kernel, "one position early", [](auto& p) { p.start -= 1; });
    expect_misled<Attention>(kernel, "wrong scale", [](auto& p) { p.scale *= 1.5f; });
    expect_misled<Attention>(kernel, "a window nobody asked for", [](auto& p) { p.window = 3; });
    expect_misled<Attention>(kernel, "keys and values exchanged", [](auto& p) { std::swap(p.cache_k, p.cache_v); });
  }
}

TEST(Misled, ArgmaxThatTakesTheLastOfEqualValues) {
  for (const char* dtype : kDtypes) {
    const Launch last = [&](const Case& c, std::vector<Bytes>& images) -> Result<void> {
      kernels::ArgmaxParams p{};
      std::vector<void*> arrays;
      for (Bytes& image : images) arrays.push_back(image.data() + kGuardBytes);
      const Bytes bytes = c.params(arrays);
      std::memcpy(&p, bytes.data(), sizeof(p));
      const auto value = [&](std::int64_t i) {
        if (c.dtype == "f32") return kernels::read<float>(p.x, i);
        return c.dtype == "f16" ? kernels::read<kernels::f16>(p.x, i) : kernels::read<kernels::bf16>(p.x, i);
      };
      for (std::int64_t row = 0; row < p.rows; ++row) {
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < p.width; ++i) {
          if (value(row * p.width + i) >= value(row * p.width + best)) best = i;
        }
        p.out[row] = static_cast<std::int32_t>(best);
      }
      return {};
    };
    EXPECT_GT(caught("argmax", dtype, last), 0) << dtype;
  }
}

TEST(Misled, AKernelThatDoesNotRunIsNotCorrect) {
  const Launch none = [](const Case&, std::vector<Bytes>&) -> Result<void> { return Error{ErrorCode::fault, "no"}; };
  const assay::Case result = run_case(cases_of("copy", "f32", Depth::quick, 1).front(), 1, none);
  EXPECT_EQ(result.status, CaseStatus::failed);
  EXPECT_FALSE(all_correct({result}));
}

}  // namespace
}  // namespace assay::check
