// SPDX-License-Identifier: Apache-2.0
// assay estimate on files: what a loader could meet in a folder, refused in one sentence with exit 65.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/golden/cli_support.hpp"
#include "tests/support/weight_files.hpp"

namespace assay::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kConfig =
    R"({"model_type":"llama","hidden_size":64,"intermediate_size":160,"num_hidden_layers":2,"num_attention_heads":4,)"
    R"("num_key_value_heads":2,"vocab_size":512,"torch_dtype":"bfloat16"})";

class EstimateFiles : public Program {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  static std::string weights(const std::string& tensor = "model.norm.weight") {
    return test::safetensors_header({test::safe_tensor(tensor, "BF16", {64}, 2)});
  }
  static std::string index(const std::string& shard) {
    return R"({"metadata":{"total_size":128},"weight_map":{"model.norm.weight":")" + shard + "\"}}";
  }
  void refused(const std::string& path, const std::string& says) const {
    const auto ran = run("estimate " + path);
    EXPECT_EQ(ran.exit, 65) << path << '\n' << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(says));
  }
};

TEST_F(EstimateFiles, BadInputIsOneSentence) {
  const auto header = weights();
  write("outside.safetensors", header);
  write("index-up/model.safetensors.index.json", index("../outside.safetensors"));
  refused("index-up", "leaves the folder");
  write("index-absolute/model.safetensors.index.json", index("/etc/hostname"));
  refused("index-absolute", "absolute path");
  write("index-missing/model.safetensors.index.json",
        R"({"weight_map":{"a":"here.safetensors","b":"gone.safetensors"}})");
  write("index-missing/here.safetensors", weights("a"));
  refused("index-missing", "gone.safetensors is missing");
  write("index-wrong/model.safetensors.index.json", index("other.safetensors"));
  write("index-wrong/other.safetensors", weights("something.else"));
  refused("index-wrong", "which does not hold it");
  fs::create_directories(root_ / "link");
  fs::create_symlink(root_ / "outside.safetensors", root_ / "link/model.safetensors");
  refused("link", "symbolic link out of its folder");
  fs::create_directories(root_ / "config-link");
  fs::create_symlink("/etc/hostname", root_ / "config-link/config.json");
  refused("config-link", "symbolic link out of its folder");
  fs::create_directories(root_ / "dangling");
  fs::create_symlink("nowhere", root_ / "dangling/model.safetensors");
  refused("dangling", "symbolic link to nothing");
  write("empty-file/model.safetensors", "");
  refused("empty-file", "byte 0: it is empty");
  write("two/a.safetensors", header);
  write("two/b.safetensors", header);
  refused("two", "holds two models");
  write("two-kinds/model.safetensors", header);
  write("two-kinds/model.gguf", test::Gguf().tensor("a", {8}, 0, 32).header());
  refused("two-kinds", "holds two models");
  write("two-indexes/a.safetensors.index.json", index("a.safetensors"));
  write("two-indexes/b.safetensors.index.json", index("a.safetensors"));
  refused("two-indexes", "holds two models");
  write("hole/model-00001-of-00002.safetensors", header);
  refused("hole", "lacks shard 2 of the 2");
  fs::create_directories(root_ / "nothing");
  refused("nothing", "holds no weight file");
}

TEST_F(EstimateFiles, ConfigurationsOfTheWrongKind) {
  for (const char* config :
       {"[]", "{", R"({"model_type":"llama","hidden_size":-5})", R"({"model_type":"llama","num_hidden_layers":0})",
        R"({"model_type":"llama","num_attention_heads":1.5})", R"({"hidden_size":"big"})",
        R"({"model_type":"llama","num_hidden_layers":99999999})", R"({"hidden_size":1,"hidden_size":2})",
        R"({"model_type":"deepseek_v3","num_nextn_predict_layers":1000000})",
        R"({"hidden_size":99999999999999999999})"}) {
    write("bad/config.json", config);
    const auto ran = run("estimate bad");
    EXPECT_EQ(ran.exit, 65) << config << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(EstimateFiles, NanAndInfinityAreOneUnknownField) {
  auto config = kConfig;
  config.insert(1, R"("time_step_limit":[0.0,Infinity],"rms_norm_eps":NaN,"note":"NaN in a text: Infinity",)");
  write("m/config.json", config);
  const auto ran = run("estimate m --context 10 --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto out = json::parse(ran.out);
  EXPECT_EQ(out["kv_cache"]["bytes_per_token"], 2 * 2 * 2 * 16 * 2);
  EXPECT_EQ(out["contradictions"].size(), 2U);
  EXPECT_THAT(out["contradictions"][0].get<std::string>(), HasSubstr("\"time_step_limit\" is Infinity"));
  // A dimension: what needs it is unknown, with the reason, and never zero.
  config.replace(config.find("160"), 3, "NaN");
  write("m/config.json", config);
  const auto part = json::parse(run("estimate m --context 10 --json").out);
  EXPECT_TRUE(part["weights"]["resident_bytes"].is_null());
  EXPECT_THAT(part["weights"]["reason"]["resident_bytes"].get<std::string>(), HasSubstr("intermediate_size"));
  EXPECT_EQ(part["kv_cache"]["bytes"], 256 * 10);
}

TEST_F(EstimateFiles, AHubCacheIsReadThroughItsLinks) {
  write("models--x/blobs/0a1b", weights());
  write("models--x/blobs/2c3d", kConfig);
  fs::create_directories(root_ / "models--x/snapshots/rev");
  fs::create_symlink("../../blobs/0a1b", root_ / "models--x/snapshots/rev/model.safetensors");
  fs::create_symlink("../../blobs/2c3d", root_ / "models--x/snapshots/rev/config.json");
  const auto ran = run("estimate models--x/snapshots/rev --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["weights"]["tensor_bytes"], 128);
}

TEST_F(EstimateFiles, KeysThatProgramsRelyOn) {
  write("m/config.json", kConfig);
  const auto out =
      json::parse(run("estimate m --prompt 90 --decode 10 --batch 3 --memory 1GiB --boards --train adam --json").out);
  for (const char* key : {"/parameters", "/weights/file_bytes", "/weights/tensor_bytes", "/weights/resident_bytes",
                          "/kv_cache/bytes_per_token", "/kv_cache/bytes", "/kv_cache/bounds/0/name",
                          "/kv_cache/bounds/0/bytes_per_sequence", "/total_bytes", "/concurrency/tokens",
                          "/boards/0/room_bytes/as stated", "/training/0/bytes"}) {
    EXPECT_TRUE(out.contains(json::json_pointer(key))) << key;
  }
  for (const char* key : {"/formula/parameters", "/weights/formula/tensor_bytes", "/kv_cache/formula/bytes"})
    EXPECT_TRUE(out.contains(json::json_pointer(key))) << key;
  EXPECT_EQ(out["kv_cache"]["bytes"], 3 * 100 * 256);
  EXPECT_EQ(run("estimate m --prompt 5 --context 9").exit, 64);
  EXPECT_EQ(run("estimate m --boards --tp 2").exit, 64);
  EXPECT_EQ(run("estimate no-such-model").exit, 64);
  EXPECT_EQ(run("estimate ./no-such-model").exit, 65);
}

TEST_F(EstimateFiles, MistralsOwnWords) {
  write("m/params.json",
        R"({"dim":64,"n_layers":2,"head_dim":16,"hidden_dim":160,"n_heads":4,"n_kv_heads":2,"vocab_size":512})");
  write("n/config.json", kConfig);
  const auto own = json::parse(run("estimate m --context 7 --json").out);
  const auto other = json::parse(run("estimate n --context 7 --json").out);
  EXPECT_EQ(own["parameters"], other["parameters"]);
  EXPECT_EQ(own["kv_cache"]["bytes"], other["kv_cache"]["bytes"]);
}

TEST_F(EstimateFiles, ADocumentIsWrittenOnceAndValidates) {
  write("m/config.json", kConfig);
  ASSERT_EQ(run("estimate m --context 10 --boards --train sgd --output e.json").exit, 0);
  const auto document = json::parse(text_of(root_ / "e.json"));
  EXPECT_EQ(document["kind"], "estimate");
  EXPECT_EQ(document["body"]["figures"][0]["name"], "parameters");
  EXPECT_EQ(run("validate e.json").exit, 0);
  EXPECT_EQ(run("estimate m --output e.json").exit, 73);
}

TEST_F(EstimateFiles, TextFitsAScreen) {
  write("m/config.json", kConfig);
  const auto ran = run("estimate m --context 100 --boards --train adamw8bit --zero 2 --replicas 8 --memory 24GiB");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

}  // namespace
}  // namespace assay::testing_cli
