// SPDX-License-Identifier: Apache-2.0
// assay estimate: bytes from numbers or from a model's configuration, formula beside each.
#include <memory>
#include <ostream>

#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/estimate/estimate.hpp"
#include "suite/estimate/print.hpp"
#include "suite/model/bytes.hpp"
#include "suite/plan/models.hpp"

namespace assay::cli {
namespace {

struct Options {
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
};

std::optional<std::int64_t> given(std::int64_t value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

Exit run_estimate(Options& options, Context& context) {
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
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("estimate", "Bytes a model needs, from numbers; formula beside each");
  auto& o = *options;
  auto* parameters = add_integer(command, "--parameters", o.parameters, "Number of parameters");
  add_integer(command, "--bits", o.request.bits, "Bits of one parameter (16)", {1, 64});
  auto* model = add_text(command, "--model", o.model, "Shipped model, folder or config.json");
  auto* layers = add_integer(command, "--layers", o.layers, "Layers that keep a cache");
  auto* heads = add_integer(command, "--kv-heads", o.kv_heads, "Key-value heads of a layer");
  auto* dim = add_integer(command, "--head-dim", o.head_dim, "Elements of one head");
  add_integer(command, "--tokens", o.tokens, "Tokens of one sequence, prompt and output");
  add_integer(command, "--sequences", o.request.sequences, "Sequences at once (1)");
  add_integer(command, "--bytes-per-element", o.request.bytes_per_element, "Of the cache (2)", {1, 8});
  auto* gib = add_text(command, "--reserve-gib", o.reserve_gib, "A reserve you assume, in GiB; shown apart");
  auto* gb = add_text(command, "--reserve-gb", o.reserve_gb, "The same in GB");
  command.add_flag("--json", o.json, "One JSON object instead of text");
  gib->excludes(gb);
  for (auto* option : {parameters, layers, heads, dim}) model->excludes(option);
  command.footer(
      "Examples:\n"
      "  assay estimate --parameters 7000000000 --bits 16 --reserve-gib 4\n"
      "  assay estimate --layers 32 --kv-heads 8 --head-dim 128 --tokens 8192\n"
      "  assay estimate --model decoder-135m --tokens 2048 --json");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_estimate(*options, context); }; });
}

}  // namespace assay::cli
