// SPDX-License-Identifier: Apache-2.0
// The shipped 135M decoder through the whole protocol on the host module, with a short prompt.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "suite/model/bytes.hpp"
#include "suite/model/config.hpp"
#include "tests/unit/measure_support.hpp"

namespace assay::measure {
namespace {

TEST(MeasureShipped, The135MDecoderRunsBalancedAndAsLargeAsItsFormulas) {
  const char* root = std::getenv("ASSAY_SOURCE_DIR");
  const auto shipped = std::filesystem::path(root == nullptr ? "." : root) / "suite/data/models/decoder-135m";
  const auto model = model::load_model(shipped);
  ASSERT_TRUE(model) << model.error().text;
  Workload work;
  work.model = model->config;
  work.source = model->source;
  work.storage_dtype = "bf16";
  work.prompt_tokens = 8;
  work.decode_tokens = 2;
  work.warmups = 0;
  work.repeats = 1;
  auto device = test::host();
  device.options.clear();  // large kernels: every thread there is
  const auto ran = test::launch(work, device);
  ASSERT_TRUE(ran.result) << ran.result.error().text;
  // By hand: 134,515,008 parameters and 23,040 bytes of cache a token, both at 2 bytes an element; 10 tokens.
  constexpr std::int64_t kWeights = 134515008 * 2;
  constexpr std::int64_t kCache = 10 * 23040;
  EXPECT_EQ(model::weights_of(work.model, "bf16")->bytes, kWeights);
  EXPECT_EQ(*model::kv_bytes(work.model, work.kv, 1, 10, "bf16"), kCache);
  for (const auto& phase : ran.phases) {
    EXPECT_TRUE(phase.ledger_start->balanced) << phase.name;
    EXPECT_TRUE(phase.ledger_end->balanced) << phase.name;
    const auto* ns = std::get_if<std::int64_t>(&phase.duration.value);
    std::cout << "  " << phase.name << " " << (ns == nullptr ? 0.0 : static_cast<double>(*ns) / 1e6) << " ms\n";
    if (phase.name == "environment") continue;
    EXPECT_EQ(test::counter(phase.end, "requested_bytes.current", "category:weights"), kWeights) << phase.name;
  }
  EXPECT_EQ(test::counter(ran.find("prefill")->end, "requested_bytes.current", "category:kv"), kCache);
  EXPECT_EQ(test::counter(ran.find("whole_cycle")->end, "requested_bytes.peak", "category:kv"), kCache);
  for (const auto& sample : ran.samples) {
    std::cout << "  " << sample.name << " " << sample.value << " " << sample.unit << "\n";
    EXPECT_TRUE(sample.flag.empty()) << sample.name << ": " << sample.flag;
  }
}

}  // namespace
}  // namespace assay::measure
