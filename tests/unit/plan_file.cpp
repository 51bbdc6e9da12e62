// SPDX-License-Identifier: Apache-2.0
// A plan from a file is held to the bounds of the command line, and every refusal names its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "results-schema/json/json.hpp"
#include "suite/plan/limits.hpp"
#include "suite/plan/plan_file.hpp"
#include "suite/plan/request.hpp"

namespace assay::planning {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

Plan good_plan() {
  Plan plan;
  Workload decoder;
  decoder.model.hidden_size = 64;
  decoder.model.intermediate_size = 96;
  decoder.model.layers = 2;
  decoder.model.query_heads = 4;
  decoder.model.kv_heads = 2;
  decoder.model.head_dim = 16;
  decoder.model.vocabulary = 100;
  decoder.model.max_positions = 256;
  decoder.model.model_type = "llama";
  decoder.source = {"mine", "mine/config.json", ""};
  Workload dense;
  dense.kind = WorkloadKind::dense;
  dense.width = dense.depth = 8;
  plan.devices = {{"host:0", "host", "/nowhere/libassay-host.so", 0, {}}};
  plan.workloads = {decoder, dense};
  return plan;
}

struct Change {
  const char* name;
  std::function<void(Json&)> apply;
  const char* place;
};

class PlanFile : public ::testing::TestWithParam<Change> {};

TEST_P(PlanFile, IsRefusedByPlace) {
  auto plan = Json::parse(json::write_plan(good_plan()));
  const auto base = parse_plan(plan.dump(), "p.json");
  ASSERT_TRUE(base) << base.error().text;
  GetParam().apply(plan);
  const auto read = parse_plan(plan.dump(), "p.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  EXPECT_TRUE(read.error().text.starts_with("p.json")) << read.error().text;
  EXPECT_THAT(read.error().text, HasSubstr(GetParam().place));
  EXPECT_EQ(read.error().text.find('\n'), std::string::npos);
}

Json& first(Json& plan) {
  return plan["workloads"][0];
}

INSTANTIATE_TEST_SUITE_P(
    Absurd, PlanFile,
    ::testing::Values(
        Change{"launches_none", [](Json& p) { p["launches"] = 0; }, "/launches"},
        Change{"launches_many", [](Json& p) { p["launches"] = kMostLaunches + 1; }, "/launches"},
        Change{"time_none", [](Json& p) { p["time_limit_s"] = 0; }, "/time_limit_s"},
        Change{"time_endless", [](Json& p) { p["time_limit_s"] = 9'000'000'000'000'000; }, "/time_limit_s"},
        Change{"no_workload", [](Json& p) { p["workloads"] = Json::array(); }, "/workloads"},
        Change{"many_workloads",
               [](Json& p) {
                 for (int i = 0; i < 1001; ++i) p["workloads"].push_back(first(p));
               },
               "/workloads"},
        Change{"repeats_none", [](Json& p) { first(p)["repeats"] = 0; }, "/workloads/0/repeats"},
        Change{"repeats_many", [](Json& p) { first(p)["repeats"] = 9'000'000'000'000'000; }, "/workloads/0/repeats"},
        Change{"warmups_negative", [](Json& p) { first(p)["warmups"] = -1; }, "/workloads/0/warmups"},
        Change{"warmups_many", [](Json& p) { first(p)["warmups"] = kMostPasses + 1; }, "/workloads/0/warmups"},
        Change{"batch_none", [](Json& p) { first(p)["batch"] = 0; }, "/workloads/0/batch"},
        Change{"batch_overflow", [](Json& p) { first(p)["batch"] = 9'000'000'000'000'000; }, "/workloads/0"},
        Change{"prompt_beyond", [](Json& p) { first(p)["prompt_tokens"] = 4000; }, "/workloads/0"},
        Change{"decode_negative", [](Json& p) { first(p)["decode_tokens"] = -4; }, "/workloads/0/decode_tokens"},
        Change{"dense_decodes", [](Json& p) { p["workloads"][1]["decode_tokens"] = 4; }, "/workloads/1/decode_tokens"},
        Change{"dense_width", [](Json& p) { p["workloads"][1]["width"] = 0; }, "/workloads/1/width"},
        Change{"dense_depth", [](Json& p) { p["workloads"][1]["depth"] = 9'000'000'000'000'000; }, "/workloads/1"},
        Change{"kv_heads_do_not_divide", [](Json& p) { first(p)["model"]["kv_heads"] = 3; }, "\"kv_heads\" is 3"},
        Change{"kv_heads_none", [](Json& p) { first(p)["model"]["kv_heads"] = 0; }, "kv_heads"},
        Change{"kv_heads_many", [](Json& p) { first(p)["model"]["kv_heads"] = 9'000'000'000'000'000; }, "\"kv_heads\""},
        Change{"layers_many", [](Json& p) { first(p)["model"]["layers"] = 1'000'000; }, "\"layers\" is 1000000"},
        Change{"vocabulary_many", [](Json& p) { first(p)["model"]["vocabulary"] = 5'000'000'000; }, "\"vocabulary\""},
        Change{"head_odd", [](Json& p) { first(p)["model"]["head_dim"] = 15; }, "\"head_dim\" is 15"},
        Change{"window_negative", [](Json& p) { first(p)["model"]["sliding_window"] = -1; }, "sliding_window"},
        Change{"window_absent", [](Json& p) { first(p)["kv"] = "sliding_window"; }, "/workloads/0"},
        Change{"dtype", [](Json& p) { first(p)["storage_dtype"] = "f8"; }, "/workloads/0/storage_dtype"},
        Change{"occupied", [](Json& p) { first(p)["occupy_bytes"] = -1; }, "/workloads/0/occupy_bytes"},
        Change{"kind", [](Json& p) { first(p)["kind"] = "encoder"; }, "/workloads/0"},
        Change{"unknown_key", [](Json& p) { p["lunches"] = 3; }, "p.json"},
        Change{"text", [](Json& p) { p["launches"] = "3"; }, "/launches"}),
    [](const auto& row) { return std::string(row.param.name); });

class PlannedDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("assay-plan-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "libassay-host.so") << "x";
    plan_ = good_plan();
    plan_.devices = {{"host:0", "host", (folder_ / "libassay-host.so").string(), 0, {{"wave", "32"}}}};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void refused(const std::function<void(Plan&)>& change, const char* place) {
    auto plan = plan_;
    change(plan);
    const auto checked = check_planned_devices(plan, "p.json");
    ASSERT_FALSE(checked) << place;
    EXPECT_EQ(checked.error().code, ErrorCode::bad_input);
    EXPECT_THAT(checked.error().text, HasSubstr(std::string("p.json: ") + place));
  }
  std::filesystem::path folder_;
  Plan plan_;
};

TEST_F(PlannedDevices, ThatCannotBeMeantAreRefused) {
  EXPECT_TRUE(check_planned_devices(plan_, "p.json"));
  refused([](Plan& p) { p.devices[0].backend = "vulkan"; }, "/devices/0/name");
  refused([](Plan& p) { p.devices[0].backend = "vulkan", p.devices[0].name = "vulkan:0"; }, "/devices/0/backend");
  refused([](Plan& p) { p.devices[0].module_path = "/no/libassay-host.so"; }, "/devices/0/module_path");
  refused([&](Plan& p) { p.devices[0].module_path = folder_.string(); }, "/devices/0/module_path");
  refused([](Plan& p) { p.devices[0].ordinal = -1; }, "/devices/0/ordinal");
  refused([](Plan& p) { p.devices[0].ordinal = 9'000'000'000'000'000; }, "/devices/0/ordinal");
  refused([](Plan& p) { p.devices.push_back(p.devices[0]); }, "/devices/1");
  refused([](Plan& p) { p.devices[0].options[0].second = "33"; }, "/devices/0/options/0");
  refused([](Plan& p) { p.devices[0].options.emplace_back("magic", "1"); }, "/devices/0/options/1");
  refused([](Plan& p) { p.devices[0].options.emplace_back("wave", "64"); }, "/devices/0/options/1");
  refused([](Plan& p) { p.devices[0].options.emplace_back("memory_bytes", "0"); }, "/devices/0/options/1");
  refused([](Plan& p) { p.devices[0].options.emplace_back("threads", "5000"); }, "/devices/0/options/1");
}

TEST(DeviceOption, TakesWhatTheHostTakes) {
  for (const auto& [key, value] :
       {std::pair{"wave", "1"}, std::pair{"wave", "64"}, std::pair{"threads", "0"}, std::pair{"threads", "4096"},
        std::pair{"memory_bytes", "1"}, std::pair{"block", "1024"}})
    EXPECT_TRUE(check_device_option(key, value)) << key;
  for (const auto& [key, value] :
       {std::pair{"wave", "2"}, std::pair{"wave", ""}, std::pair{"threads", "-1"}, std::pair{"threads", "1x"},
        std::pair{"memory_bytes", "9007199254740992"}, std::pair{"block", "1025"}, std::pair{"", ""}})
    EXPECT_FALSE(check_device_option(key, value)) << key << value;
}

TEST(Wording, NamesFieldsAsTheReaderWroteThem) {
  const std::string text = "\"num_key_value_heads\" is 3: it does not divide num_attention_heads (4)";
  EXPECT_EQ(worded(text, Wording::plan), "\"kv_heads\" is 3: it does not divide query_heads (4)");
  EXPECT_EQ(worded(text, Wording::options), "\"--kv-heads\" is 3: it does not divide --query-heads (4)");
}

TEST(Workloads, TakeTheModelsStorageTypeUnlessOneIsGiven) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("assay-dtype-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto with = [&](const std::string& more) {
    std::ofstream(folder / "config.json")
        << R"({"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,)"
        << R"("num_attention_heads":4,"vocab_size":100,"max_position_embeddings":4096)" << more << "}";
  };
  struct Row {
    const char* field;
    const char* asked;
    const char* suite;
    const char* dtype;
    const char* from;
  };
  for (const auto& row :
       {Row{"", "", "", "f32", "default"}, Row{R"(,"torch_dtype":"bfloat16")", "", "", "bf16", "torch_dtype"},
        Row{R"(,"torch_dtype":"float16")", "", "quick", "f16", "torch_dtype"},
        Row{R"(,"dtype":"float32")", "", "standard", "f32", "torch_dtype"},
        Row{R"(,"torch_dtype":null)", "", "", "f32", "default"},
        Row{R"(,"torch_dtype":"float8_e4m3fn")", "", "", "f32", "default"},
        Row{R"(,"torch_dtype":"bfloat16")", "f16", "", "f16", "--dtype"},
        Row{R"(,"torch_dtype":"bfloat16")", "", "full", "f32", "suite"}}) {
    with(row.field);
    WorkloadRequest request;
    request.model = folder.string();
    request.dtype = row.asked;
    const auto made = make_workloads(row.suite, request);
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_EQ(made->front().storage_dtype, row.dtype) << row.field;
    EXPECT_EQ(made->front().dtype_from, row.from) << row.field;
  }
  with(R"(,"torch_dtype":16)");
  WorkloadRequest request;
  request.model = folder.string();
  const auto made = make_workloads("", request);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::bad_input);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace assay::planning
