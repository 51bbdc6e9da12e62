// SPDX-License-Identifier: Apache-2.0
// assay estimate: bytes from numbers, a configuration or the files of a model, formula beside each.
#include <filesystem>
#include <memory>
#include <ostream>

#include "results-schema/json/estimate.hpp"
#include "results-schema/json/json.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/version.hpp"
#include "suite/estimate/estimate.hpp"
#include "suite/estimate/model_estimate.hpp"
#include "suite/estimate/print.hpp"
#include "suite/estimate/to_document.hpp"
#include "suite/model/bytes.hpp"
#include "suite/plan/models.hpp"
#include "suite/run/run.hpp"
#include "suite/weights/model_files.hpp"

namespace assay::cli {
namespace {

struct EstimateOptions {
  std::int64_t parameters = 0;
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t tokens = 0;
  std::string model;
  std::string reserve_gib;
  std::string reserve_gb;
  bool json = false;
  estimate::Request request;
  // A model's files.
  std::vector<std::string> paths;
  std::string dtype;
  std::vector<std::string> with;
  std::int64_t prompt = 0;
  std::int64_t decode = 0;
  std::optional<std::int64_t> memory;
  weights::ReadOptions read;
  estimate::CacheRequest cache;
  bool boards = false;
  std::string optimizer;
  std::string output;
  std::string kv = "static";
  estimate::TrainingRequest training;
};

std::optional<std::int64_t> given(std::int64_t value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

// Paths of a model: a shipped model's name, or files and folders.
Result<std::vector<std::filesystem::path>> paths_of(const std::vector<std::string>& given) {
  std::vector<std::filesystem::path> paths(given.begin(), given.end());
  std::error_code ignored;
  const auto& only = given.front();
  const bool word = given.size() == 1 && only.find_first_of("/.") == std::string::npos;
  if (!word || std::filesystem::exists(only, ignored)) return paths;
  // find_model says what is shipped when the word is neither a model nor a path.
  auto model = planning::find_model(only);
  if (!model) return model.error();
  auto folder = planning::models_folder();
  if (!folder) return folder.error();
  return std::vector{*folder / only};
}

Result<void> write_output(const std::string& path, EstimateBody body, const std::string& started,
                          const Context& context) {
  const auto built = version();
  EstimateDocument document;
  document.run = {run::random_id(), started, run::timestamp(), context.argv, built.version, built.commit, built.dirty};
  document.body = std::move(body);
  auto text = json::write_estimate(document);
  if (!text) return text.error();
  return json::write_new_file(path, *text);
}

Exit run_model(EstimateOptions& options, std::optional<std::int64_t> reserve, Context& context) {
  if ((options.prompt > 0 || options.decode > 0) && options.tokens > 0)
    return context.fail({ErrorCode::usage,
                         "--context is the prompt and the output together: give it, or --prompt and "
                         "--decode"});
  const auto started = run::timestamp();
  if (!options.output.empty())
    if (auto free = json::check_output(options.output); !free) return context.fail(free.error());
  auto paths = paths_of(options.paths);
  if (!paths) return context.fail(paths.error());
  auto files = weights::read_model(*paths, options.read);
  if (!files) return context.fail(files.error());
  estimate::ModelRequest request;
  for (const char c : options.dtype) request.weights.dtype += static_cast<char>(std::toupper(c));
  request.weights.with.insert(options.with.begin(), options.with.end());
  request.cache = options.cache;
  request.cache.sequences = options.request.sequences;
  request.cache.tokens = given(options.tokens > 0 ? options.tokens : options.prompt + options.decode);
  request.memory_bytes = options.memory;
  request.reserve_bytes = reserve;
  request.boards = options.boards;
  if (options.prompt > 0) request.prompt_tokens = options.prompt;
  request.decode_tokens = options.decode;
  request.kv = options.kv == "growing"          ? KvKind::growing
               : options.kv == "sliding_window" ? KvKind::sliding_window
                                                : KvKind::fixed;
  if (!options.optimizer.empty()) {
    request.training = options.training;
    request.training->optimizer = options.optimizer;
    request.training->tokens = request.cache.tokens;
    request.training->sequences = request.cache.sequences;
  }
  auto result = estimate::estimate_model(*files, request);
  if (!result) return context.fail(result.error());
  if (!options.output.empty())
    if (auto written = write_output(options.output, estimate::to_body(*result), started, context); !written)
      return context.fail(written.error());
  context.out << (options.json ? estimate::to_json(*result) : estimate::to_text(*result));
  return Exit::done;
}

Exit run_estimate(EstimateOptions& options, Context& context) {
  auto& request = options.request;
  request.parameters = given(options.parameters);
  request.layers = given(options.layers);
  request.kv_heads = given(options.kv_heads);
  request.head_dim = given(options.head_dim);
  request.tokens = given(options.tokens);
  if (!options.reserve_gib.empty() || !options.reserve_gb.empty()) {
    const bool binary = !options.reserve_gib.empty();
    const auto bytes = parse_scaled(binary ? options.reserve_gib : options.reserve_gb,
                                    binary ? std::int64_t{1} << 30 : std::int64_t{1'000'000'000});
    if (!bytes)
      return context.fail({ErrorCode::usage, (binary ? "--reserve-gib: " : "--reserve-gb: ") + bytes.error().text});
    request.reserve_bytes = *bytes;
  }
  if (!options.paths.empty()) return run_model(options, request.reserve_bytes, context);
  if (!options.model.empty()) {
    auto model = planning::find_model(options.model);
    if (!model) return context.fail(model.error());
    auto list = model::weights_of(model->config, "f16");
    if (!list) return context.fail(list.error());
    request.model = model->config;
    request.model_name = model->source.name;
    request.model_parameters = list->parameters;
  }
  auto result = estimate::estimate(request);
  if (!result) return context.fail(result.error());
  context.out << (options.json ? estimate::to_json(*result) : estimate::to_text(*result));
  return Exit::done;
}

}  // namespace

void add_estimate(CLI::App& app, Context& context) {
  auto options = std::make_shared<EstimateOptions>();
  auto& command = *app.add_subcommand("estimate", "Bytes a model needs, from files or numbers; formula beside each");
  auto& o = *options;
  auto* paths =
      command.add_option("MODEL", o.paths, "Folder, config.json, safetensors or GGUF; or shards")->type_name("");
  add_choice(command, "--dtype", o.dtype, {"f32", "f16", "bf16"}, "Load floating-point weights in this (as stored)")
      ->needs(paths);
  add_choice(command, "--kv-dtype", o.cache.dtype,
             {"f32", "f16", "bf16", "fp8", "int8", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"},
             "Of the cache (f16)")
      ->needs(paths);
  auto* prompt = add_integer(command, "--prompt", o.prompt, "Tokens of the prompt")->needs(paths);
  add_choice(command, "--kv", o.kv, {"growing", "static", "sliding_window"}, "Cache of assay's own workload (static)")
      ->needs(prompt);
  add_integer(command, "--decode", o.decode, "Tokens generated after it")->needs(prompt);
  add_integer(command, "--block-tokens", o.cache.block_tokens, "Of a block of a paged cache (1: not paged)",
              {1, 1 << 20})
      ->needs(paths);
  add_integer(command, "--tp", o.cache.ranks, "Ranks of tensor parallelism (1)", {1, 1 << 16})->needs(paths);
  add_integer(command, "--ubatch", o.cache.ubatch, "Adds llama.cpp's bound for windows, for this batch", {1, 1 << 24})
      ->needs(paths);
  add_integer(command, "--batched-tokens", o.cache.batched, "Adds vLLM's bound for windows, for this many",
              {1, 1 << 24})
      ->needs(paths);
  add_size(command, "--memory", o.memory, "Of the device: how many tokens and sequences fit")->needs(paths);
  add_texts(command, "--with", o.with, "Count as loaded: towers, mtp, buffers")
      ->check(CLI::IsMember({"towers", "mtp", "buffers"}))
      ->needs(paths);
  command.add_flag("--headers-only", o.read.headers_only, "Files may be cut off behind their header")->needs(paths);
  add_text(command, "--output", o.output, "Write the estimate as a document here")->needs(paths);
  command.add_flag("--boards", o.boards, "Room left on each known board, with variations")->needs(paths);
  auto* train = add_choice(command, "--train", o.optimizer, {"adam", "adamw8bit", "sgd"},
                           "Adds training's lines for this optimiser")
                    ->needs(paths);
  add_integer(command, "--trainable", o.training.trainable, "Parameters that are trained (all)")->needs(train);
  add_integer(command, "--zero", o.training.stage, "Stage of sharding over the replicas (0)", {0, 3})->needs(train);
  add_integer(command, "--replicas", o.training.replicas, "Data-parallel ranks (1)", {1, 1 << 20})->needs(train);
  command.add_flag("--checkpointing", o.training.checkpointing, "Layers keep only their input")->needs(train);
  auto* parameters = add_integer(command, "--parameters", o.parameters, "Number of parameters");
  auto* bits = add_integer(command, "--bits", o.request.bits, "Bits of one parameter (16)", {1, 64});
  auto* model = add_text(command, "--model", o.model, "A decoder that assay executes, by dimensions alone");
  auto* layers = add_integer(command, "--layers", o.layers, "Layers that keep a cache");
  auto* heads = add_integer(command, "--kv-heads", o.kv_heads, "Key-value heads of a layer");
  auto* dim = add_integer(command, "--head-dim", o.head_dim, "Elements of one head");
  add_integer(command, "--tokens,--context", o.tokens, "Tokens of one sequence, prompt and output");
  add_integer(command, "--sequences,--batch", o.request.sequences, "Sequences at once (1)");
  auto* width = add_integer(command, "--bytes-per-element", o.request.bytes_per_element, "Of the cache (2)", {1, 8});
  auto* gib = add_text(command, "--reserve-gib", o.reserve_gib, "A reserve you assume, in GiB; shown apart");
  auto* gb = add_text(command, "--reserve-gb", o.reserve_gb, "The same in GB");
  command.add_flag("--json", o.json, "One JSON object instead of text");
  gib->excludes(gb);
  for (auto* option : {parameters, layers, heads, dim}) model->excludes(option);
  for (auto* option : {parameters, bits, model, layers, heads, dim, width}) paths->excludes(option);
  command.footer(
      "Examples:\n"
      "  assay estimate ./Llama-3.2-3B --context 8192 --batch 4\n"
      "  assay estimate model-Q4_K_M.gguf --prompt 4000 --decode 96 --kv-dtype q8_0 --memory 24GiB\n"
      "  assay estimate --parameters 7000000000 --bits 16 --reserve-gib 4\n"
      "  assay estimate --layers 32 --kv-heads 8 --head-dim 128 --tokens 8192\n"
      "  assay estimate --model decoder-135m --tokens 2048 --json");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_estimate(*options, context); }; });
}

}  // namespace assay::cli
