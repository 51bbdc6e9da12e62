// SPDX-License-Identifier: Apache-2.0
// Bad input of every kind: one sentence, the right exit code, nothing written, no crash.
#include <algorithm>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

class BadInput : public Program {
 protected:
  void refused(const std::string& arguments, int exit) const {
    const auto before = files();
    const auto ran = run(arguments);
    EXPECT_EQ(ran.exit, exit) << arguments << '\n' << ran.err;
    EXPECT_EQ(ran.out, "") << arguments;
    EXPECT_TRUE(ran.err.starts_with("assay: ")) << arguments << '\n' << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << arguments << '\n' << ran.err;
    EXPECT_EQ(files(), before) << arguments;
  }
  void config(const std::string& name, const std::string& text) const { std::ofstream(root_ / name) << text; }
};

TEST_F(BadInput, NumbersAndNames) {
  for (const char* value : {"-5", "0", "99999999999999999999", "1x", "1e3", "''", "' 1'", "0x10", "1.5"})
    refused(std::string("measure --backend host --batch ") + value, 64);
  for (const char* line : {"",
                           "rum",
                           "run --suite slow",
                           "run --backend",
                           "measure --dtype f8",
                           "measure --kv paged --backend host",
                           "measure --allocator magic",
                           "measure --backend host --allocator-options nonsense:1",
                           "measure --time-limit 0",
                           "measure --host-memory 4",
                           "measure --host-memory -4GiB",
                           "measure --backend host --host-wave 33",
                           "measure --backend host --seed -1",
                           "measure --model ''",
                           "measure --backend host --model no-such-model",
                           "measure --backend host --width 8",
                           "measure --backend host --workload dense --decode 2",
                           "measure --backend host --layers 2",
                           "measure --backend host --prompt 4000",
                           "measure --backend host --kv sliding_window",
                           "measure --batchh 3",
                           "estimate --parameterz 7",
                           "report",
                           "validate",
                           "recover --no-such x",
                           "estimate --reserve-gib 1 --reserve-gb 1 --parameters 1",
                           "run --device host --device host",
                           "measure --backend host --batch 1 --batch 2",
                           "report --reserve-gib 1 x",
                           "run --plan x --suite quick"})
    refused(line, 64);
}

TEST_F(BadInput, BackendsThatAreNotThere) {
  refused("measure --backend vulkan", 2);
  refused("measure --device cuda:0", 2);
  refused("run", 2);
  refused("measure --module ./no-such.so", 2);
  refused("environment --backend hip", 2);
  const auto modules = faulty_.parent_path().string();
  refused("measure --module " + modules + "/libassay-wrong_version.so", 65);
  refused("measure --module " + modules + "/libassay-wrong_size.so", 65);
}

TEST_F(BadInput, Configurations) {
  refused("measure --backend host --model ./missing/config.json", 65);
  const std::string good =
      R"("model_type":"llama","intermediate_size":8,"num_hidden_layers":1,"vocab_size":8,"max_position_embeddings":64)";
  config("truncated.json", "{" + good.substr(0, 40));
  config("nan.json", "{" + good + R"(,"hidden_size":NaN,"num_attention_heads":2})");
  config("zero.json", "{" + good + R"(,"hidden_size":8,"num_attention_heads":0})");
  config("odd.json", "{" + good + R"(,"hidden_size":9,"num_attention_heads":2})");
  config("negative.json", "{" + good + R"(,"hidden_size":-8,"num_attention_heads":2})");
  config("huge.json", "{" + good + R"(,"hidden_size":99999999999999999999,"num_attention_heads":2})");
  config("overflow.json", "{" + good + R"(,"hidden_size":4503599627370496,"num_attention_heads":2})");
  config("deep.json", std::string(1'000'000, '['));
  config("empty.json", "");
  for (const char* name : {"truncated", "nan", "zero", "odd", "negative", "huge", "overflow", "deep", "empty"}) {
    refused(std::string("measure --backend host --model ") + name + ".json", 65);
    refused(std::string("estimate --tokens 8 --model ") + name + ".json", 65);
  }
}

TEST_F(BadInput, Documents) {
  config("text.json", "no document");
  config("newer.json", R"({"schema":"assay","schema_version":"99.0.0","kind":"run"})");
  config("deep.json", std::string(1'000'000, '['));
  for (const char* command : {"report ", "report --card ", "validate ", "recover -o x.json ", "run --resume "})
    for (const char* name : {"text.json", "newer.json", "deep.json", "missing.json", "."})
      refused(std::string(command) + name, 65);
  refused("run --plan text.json --backend host", 65);
}

}  // namespace
}  // namespace assay::testing_cli
