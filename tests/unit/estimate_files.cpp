// SPDX-License-Identifier: Apache-2.0
// Estimates from headers: three numbers kept apart, what is not loaded, and contradictions said and never averaged.
#include "tests/unit/estimate_support.hpp"

namespace assay {
namespace {

using namespace test;
using estimate::Group;
using estimate::Part;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const LlamaShape kSmall{64, 160, 2, 4, 2, 16, 512};
std::string small_config(const std::string& more = "") {
  return R"({"model_type":"llama","hidden_size":64,"intermediate_size":160,"num_hidden_layers":2,"num_attention_heads":4,)"
         R"("num_key_value_heads":2,"vocab_size":512,"tie_word_embeddings":false,"torch_dtype":"bfloat16")" +
         more + "}";
}

TEST(FilesEstimate, ThreeNumbersApart) {
  const ScratchFolder folder;
  (void)folder.write("config.json", small_config());
  const auto tensors = llama_tensors(kSmall, "BF16", 2);
  const auto header = safetensors_header(tensors, 7);
  (void)folder.write("model.safetensors", header);
  const auto e = estimate_of(folder.path(), request_for(10));
  EXPECT_EQ(e.base.tensor_bytes.value, bytes_of_all(tensors));
  EXPECT_EQ(e.base.file_bytes.value, bytes_of_all(tensors) + static_cast<std::int64_t>(header.size()));
  EXPECT_EQ(e.base.resident_bytes.value, bytes_of_all(tensors));
  EXPECT_EQ(e.base.parameters.value, bytes_of_all(tensors) / 2);
  EXPECT_THAT(e.contradictions, IsEmpty());
  auto request = request_for(10);
  request.weights.dtype = "F32";
  EXPECT_EQ(estimate_of(folder.path(), request).base.resident_bytes.value, 2 * bytes_of_all(tensors));
}

TEST(FilesEstimate, ShardsOfOneTensorWithAnIndex) {
  const auto tensors = llama_tensors({3072, 8192, 28, 24, 8, 128, 128256, false}, "BF16", 2);
  ASSERT_EQ(tensors.size(), 254U);
  const ScratchFolder folder;
  std::string map;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto number = std::to_string(i + 1);
    const auto name = "model-" + std::string(5 - number.size(), '0') + number + "-of-00254.safetensors";
    (void)folder.write(name, safetensors_header({tensors[i]}));
    map += (i > 0 ? ",\"" : "\"") + tensors[i].name + "\":\"" + name + "\"";
  }
  const auto index = [&](const std::string& total) {
    (void)folder.write("model.safetensors.index.json", R"({"metadata":{)" + total + R"(},"weight_map":{)" + map + "}}");
    return estimate_of(folder.path(), request_for(8192));
  };
  (void)folder.write("config.json",
                     R"({"model_type":"llama","hidden_size":3072,"intermediate_size":8192,"num_hidden_layers":28,)"
                     R"("num_attention_heads":24,"num_key_value_heads":8,"head_dim":128,"vocab_size":128256,)"
                     R"("tie_word_embeddings":true,"torch_dtype":"bfloat16"})");
  const auto right = index(R"("total_size":6425499648)");
  EXPECT_EQ(right.base.tensor_bytes.value, 6'425'499'648);
  EXPECT_EQ(right.base.parameters.value, 3'212'749'824);
  EXPECT_EQ(right.base.kv_bytes.value, 939'524'096);
  EXPECT_THAT(right.contradictions, IsEmpty());
  // A wrong total is said; the headers are believed.
  for (const char* total : {R"("total_size":0)", R"("total_size":6425499649,"total_parameters":333312)"}) {
    const auto wrong = index(total);
    EXPECT_EQ(wrong.base.tensor_bytes.value, 6'425'499'648);
    EXPECT_THAT(wrong.contradictions, Contains(HasSubstr("total_size")));
  }
  EXPECT_THAT(index("").notes, Contains(HasSubstr("no total_size")));
}

TEST(FilesEstimate, StoredInF32WithBuffers) {
  auto tensors = llama_tensors({4096, 11008, 32, 32, 32, 128, 32000}, "F32", 4);
  for (int i = 0; i < 32; ++i)
    tensors.push_back(
        safe_tensor("model.layers." + std::to_string(i) + ".self_attn.rotary_emb.inv_freq", "F32", {64}, 4));
  ASSERT_EQ(tensors.size(), 323U);
  const ScratchFolder folder;
  (void)folder.write(
      "config.json",
      R"({"model_type":"llama","hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,)"
      R"("num_attention_heads":32,"vocab_size":32000,"tie_word_embeddings":false,"torch_dtype":"float32"})");
  (void)folder.write("model.safetensors", safetensors_header(tensors));
  auto request = request_for(1);
  const auto stored = estimate_of(folder.path(), request);
  EXPECT_EQ(stored.base.tensor_bytes.value, 26'953'670'656);
  EXPECT_EQ(stored.base.resident_bytes.value, 26'953'662'464);
  EXPECT_EQ(stored.base.parameters.value, 6'738'415'616);
  EXPECT_EQ(not_loaded(stored, Group::buffers), 2048 * 4);
  request.weights.dtype = "F16";
  EXPECT_EQ(estimate_of(folder.path(), request).base.resident_bytes.value, 13'476'831'232);
}

TEST(FilesEstimate, WhatALoaderLeavesOutIsALineOfItsOwn) {
  auto tensors = llama_tensors(kSmall, "BF16", 2);
  const auto own = bytes_of_all(tensors);
  tensors.push_back(safe_tensor("model.layers.2.eh_proj.weight", "BF16", {64, 128}, 2));
  tensors.push_back(safe_tensor("mtp.fc.weight", "BF16", {64, 64}, 2));
  tensors.push_back(safe_tensor("model.visual.blocks.0.attn.qkv.weight", "BF16", {96, 32}, 2));
  const ScratchFolder folder;
  (void)folder.write("config.json", small_config());
  (void)folder.write("model.safetensors", safetensors_header(tensors));
  auto request = request_for(1);
  const auto e = estimate_of(folder.path(), request);
  EXPECT_EQ(e.base.resident_bytes.value, own);
  EXPECT_EQ(e.base.tensor_bytes.value, bytes_of_all(tensors));
  EXPECT_EQ(not_loaded(e, Group::prediction), (64 * 128 + 64 * 64) * 2);
  EXPECT_EQ(not_loaded(e, Group::tower), 96 * 32 * 2);
  request.weights.with = {"towers", "mtp"};
  EXPECT_EQ(estimate_of(folder.path(), request).base.resident_bytes.value, bytes_of_all(tensors));
}

TEST(FilesEstimate, ATiedCopyIsNotLoaded) {
  const ScratchFolder folder;
  auto config = nlohmann::json::parse(small_config());
  config["tie_word_embeddings"] = true;
  (void)folder.write("config.json", config.dump());
  (void)folder.write("model.safetensors", safetensors_header(llama_tensors(kSmall, "BF16", 2)));
  const auto e = estimate_of(folder.path(), request_for(1));
  EXPECT_EQ(not_loaded(e, Group::output_head), 512 * 64 * 2);
}

TEST(FilesEstimate, ContradictionsAreSaid) {
  const ScratchFolder folder;
  (void)folder.write("config.json", small_config(R"(,"num_hidden_layers_unused":3)"));
  (void)folder.write("model.safetensors", safetensors_header(llama_tensors({64, 160, 1, 4, 2, 16, 512}, "F32", 4)));
  const auto e = estimate_of(folder.path(), request_for(1));
  EXPECT_THAT(e.contradictions, Contains(HasSubstr("says 2 layers and the files hold 1")));
  EXPECT_THAT(e.contradictions, Contains(HasSubstr("says BF16 and the files hold F32")));
}

// Packed files: the layouts written down again, tensor by tensor.
TEST(FilesEstimate, PackedWeightsAreUnpackedForTheCountOnly) {
  struct Case {
    const char* name;
    const char* more;
    std::vector<SafeTensor> tensors;
    std::int64_t logical;
  };
  const std::string m = "model.layers.0.mlp.up_proj";
  const std::vector<Case> cases{
      {"gptq 3 bits",
       R"(,"quantization_config":{"quant_method":"gptq","bits":3,"group_size":-1})",
       {safe_tensor(m + ".qweight", "I32", {64 * 3 / 32, 160}, 4), safe_tensor(m + ".qzeros", "I32", {1, 15}, 4),
        safe_tensor(m + ".scales", "F16", {1, 160}, 2), safe_tensor(m + ".g_idx", "I32", {64}, 4)},
       64 * 160},
      {"awq 4 bits",
       R"(,"quantization_config":{"quant_method":"awq","bits":4,"group_size":32})",
       {safe_tensor(m + ".qweight", "I32", {64, 20}, 4), safe_tensor(m + ".qzeros", "I32", {2, 20}, 4),
        safe_tensor(m + ".scales", "F16", {2, 160}, 2)},
       64 * 160},
      {"bitsandbytes nf4",
       R"(,"quantization_config":{"quant_method":"bitsandbytes","load_in_4bit":true})",
       {safe_tensor(m + ".weight", "U8", {5120, 1}, 1), safe_tensor(m + ".weight.absmax", "F32", {160}, 4),
        safe_tensor(m + ".weight.quant_map", "F32", {16}, 4),
        safe_tensor(m + ".weight.quant_state.bitsandbytes__nf4", "U8", {90}, 1)},
       64 * 160},
      {"mlx 4 bits",
       R"(,"quantization":{"bits":4,"group_size":32})",
       {safe_tensor(m + ".weight", "U32", {160, 8}, 4), safe_tensor(m + ".scales", "F16", {160, 2}, 2),
        safe_tensor(m + ".biases", "F16", {160, 2}, 2)},
       64 * 160},
      {"fp8 in blocks",
       R"(,"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]})",
       {safe_tensor(m + ".weight", "F8_E4M3", {160, 64}, 1), safe_tensor(m + ".weight_scale_inv", "F32", {2, 1}, 4)},
       64 * 160},
      {"nvfp4",
       "",
       {safe_tensor(m + ".weight", "U8", {160, 32}, 1), safe_tensor(m + ".weight_scale", "F8_E4M3", {160, 4}, 1),
        safe_tensor(m + ".weight_scale_2", "F32", {}, 4)},
       64 * 160}};
  for (const auto& item : cases) {
    const ScratchFolder folder;
    (void)folder.write("config.json", small_config(item.more));
    (void)folder.write("model.safetensors", safetensors_header(item.tensors));
    const auto e = estimate_of(folder.path(), request_for(1));
    EXPECT_EQ(e.base.parameters.value, item.logical) << item.name << ": " << e.base.parameters.reason;
    EXPECT_EQ(e.base.tensor_bytes.value, bytes_of_all(item.tensors)) << item.name;
    EXPECT_EQ(bytes_of_part(e, Part::weights), item.tensors.front().bytes) << item.name;
    // The same matrix by the configuration's layout.
    weights::ModelFiles only_config;
    auto read = weights::read_model({folder.path() / "config.json"}, {});
    ASSERT_TRUE(read);
    const auto scheme = estimate::quantisation_of(*read);
    if (scheme.method == estimate::Method::none) continue;
    std::int64_t bytes = 0;
    for (const auto& part : estimate::stored_parts(scheme, m, 160, 64, "F16", 2)) bytes += part.bytes;
    const auto extra = scheme.zero_bias ? 320 : 0;  // AutoGPTQ's bias
    const auto text = scheme.method == estimate::Method::nf4 ? 90 : 0;
    EXPECT_EQ(bytes - extra, bytes_of_all(item.tensors) - text) << item.name;
  }
}

TEST(FilesEstimate, LlamaTwoInGguf) {
  const auto build = [](bool mixed) {
    Gguf gguf(2);
    gguf.text("general.architecture", "llama").u32("llama.block_count", 32).u32("llama.embedding_length", 4096);
    gguf.u32("llama.attention.head_count", 32)
        .u32("llama.attention.head_count_kv", 32)
        .u32("llama.feed_forward_length", 11008);
    const auto add = [&](const std::string& name, std::int64_t in, std::int64_t out, bool six) {
      const std::uint32_t type = !mixed ? 8 : six ? 14 : 12;
      const std::int64_t block = !mixed ? 32 : 256;
      const std::int64_t bytes = !mixed ? 34 : six ? 210 : 144;
      gguf.tensor(name, {in, out}, type, in * out / block * bytes);
    };
    const std::vector<int> six{0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31};
    add("token_embd.weight", 4096, 32000, false);
    for (int i = 0; i < 32; ++i) {
      const auto p = "blk." + std::to_string(i) + ".";
      const bool more = std::find(six.begin(), six.end(), i) != six.end();
      add(p + "attn_q.weight", 4096, 4096, false);
      add(p + "attn_k.weight", 4096, 4096, false);
      add(p + "attn_v.weight", 4096, 4096, more);
      add(p + "attn_output.weight", 4096, 4096, false);
      add(p + "ffn_gate.weight", 4096, 11008, false);
      add(p + "ffn_up.weight", 4096, 11008, false);
      add(p + "ffn_down.weight", 11008, 4096, more);
      gguf.tensor(p + "attn_norm.weight", {4096}, 0, 16384);
      gguf.tensor(p + "ffn_norm.weight", {4096}, 0, 16384);
    }
    gguf.tensor("output_norm.weight", {4096}, 0, 16384);
    add("output.weight", 4096, 32000, true);
    // The vocabulary fills the header up to where the published file's data begins.
    const auto filler = 741056 - gguf.header().size() - 31 - 8;
    gguf.text("filler", std::string(filler, 'x'));
    return gguf;
  };
  const ScratchFolder folder;
  for (const bool mixed : {true, false}) {
    const auto path = folder.write(mixed ? "q4.gguf" : "q8.gguf", build(mixed).header());
    auto request = request_for(1);
    const auto e = estimate_of(path, request);
    EXPECT_EQ(e.base.parameters.value, 6'738'415'616);
    EXPECT_EQ(e.weights.tensors, 291);
    EXPECT_EQ(e.base.tensor_bytes.value, mixed ? 4'080'263'168 : 7'160'348'672);
    EXPECT_EQ(e.base.file_bytes.value, mixed ? 4'081'004'224 : 7'161'089'728);
    EXPECT_EQ(e.base.kv_bytes_per_token.value, 524'288);
  }
}

TEST(FilesEstimate, GgufHybridsLatentsAndLists) {
  const ScratchFolder folder;
  Gguf hybrid;
  hybrid.text("general.architecture", "qwen35").u32("qwen35.block_count", 64).u32("qwen35.embedding_length", 5120);
  hybrid.u32("qwen35.attention.head_count", 24).u32("qwen35.attention.head_count_kv", 4);
  hybrid.u32("qwen35.attention.key_length", 256).u32("qwen35.attention.value_length", 256);
  hybrid.u32("qwen35.full_attention_interval", 4).u32("qwen35.ssm.inner_size", 6144).u32("qwen35.ssm.state_size", 128);
  hybrid.u32("qwen35.ssm.conv_kernel", 4).u32("qwen35.ssm.group_count", 16);
  hybrid.tensor("token_embd.weight", {5120, 8}, 30, 81920);
  const auto h = estimate_of(folder.write("h.gguf", hybrid.header()), request_for(262144, 4));
  EXPECT_EQ(h.base.kv_bytes_per_token.value, 65'536);
  EXPECT_EQ(h.cache.state_bytes.value, 627'572'736);

  Gguf latent;
  latent.text("general.architecture", "deepseek2")
      .u32("deepseek2.block_count", 61)
      .u32("deepseek2.embedding_length", 7168);
  latent.u32("deepseek2.attention.head_count", 128).u32("deepseek2.attention.head_count_kv", 1);
  latent.u32("deepseek2.attention.key_length", 576).u32("deepseek2.attention.value_length", 512);
  latent.u32("deepseek2.attention.key_length_mla", 192).u32("deepseek2.attention.value_length_mla", 128);
  latent.u32("deepseek2.attention.kv_lora_rank", 512).u32("deepseek2.rope.dimension_count", 64);
  latent.tensor("token_embd.weight", {7168, 8}, 30, 114688);
  const auto l = estimate_of(folder.write("l.gguf", latent.header()), request_for(1));
  EXPECT_EQ(l.base.kv_bytes_per_token.value, 70'272);
  EXPECT_EQ(l.base.kv_bounds.at(1).bytes_per_token.value, 4'997'120);

  Gguf lists;
  lists.text("general.architecture", "x")
      .u32("x.block_count", 3)
      .u32("x.embedding_length", 64)
      .u32("x.attention.head_count", 4);
  lists.list("x.attention.head_count_kv", {2, 0, 1}).tensor("token_embd.weight", {64, 8}, 30, 1024);
  EXPECT_EQ(estimate_of(folder.write("p.gguf", lists.header()), request_for(1)).base.kv_bytes_per_token.value,
            2 * (2 + 1) * 16 * 2);
}

TEST(FilesEstimate, SplitGgufIsReadWhole) {
  const ScratchFolder folder;
  for (int i = 0; i < 2; ++i) {
    Gguf part;
    if (i == 0) part.text("general.architecture", "llama").u32("llama.block_count", 2);
    part.entry("split.no", 2, little_endian(static_cast<std::uint64_t>(i), 2))
        .entry("split.count", 2, little_endian(2, 2));
    part.tensor("blk." + std::to_string(i) + ".ffn_up.weight", {32, 4}, 0, 512);
    (void)folder.write("m-0000" + std::to_string(i + 1) + "-of-00002.gguf", part.header());
  }
  const auto whole = estimate_of(folder.path() / "m-00001-of-00002.gguf", request_for(1));
  EXPECT_EQ(whole.base.tensor_bytes.value, 1024);
  EXPECT_EQ(estimate_of(folder.path(), request_for(1)).base.tensor_bytes.value, 1024);
  std::filesystem::remove(folder.path() / "m-00002-of-00002.gguf");
  EXPECT_FALSE(weights::read_model({folder.path()}, {}));
  EXPECT_FALSE(weights::read_model({folder.path() / "m-00001-of-00002.gguf"}, {}));
}

}  // namespace
}  // namespace assay
