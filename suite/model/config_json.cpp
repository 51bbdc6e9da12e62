// SPDX-License-Identifier: Apache-2.0
// Reads the config.json of a dense decoder: which families, which fields, which defaults, and what is refused by name.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/json/json.hpp"
#include "suite/identity/sha256.hpp"
#include "suite/model/config.hpp"

namespace assay::model {
namespace {

using Json = nlohmann::ordered_json;

// A config.json is a few kilobytes; a larger file is not one.
constexpr std::size_t kMaxFileBytes = std::size_t{10} << 20;

// What a family's configuration class in transformers fills in when the file is silent.
struct Family {
  const char* model_type;
  const char* architecture;
  std::int64_t default_kv_heads;  // 0: as many as query heads
  bool attention_bias;            // without a field of that name
  bool window;                    // honours sliding_window
  bool window_by_switch;          // only with use_sliding_window
};

constexpr Family kFamilies[] = {{"llama", "LlamaForCausalLM", 0, false, false, false},
                                {"mistral", "MistralForCausalLM", 8, false, true, false},
                                {"qwen2", "Qwen2ForCausalLM", 32, true, true, true}};

// A field whose presence (with a value other than null, false, 0 or 1) means another architecture than a dense decoder.
struct Foreign {
  const char* field;
  const char* kind;
};

constexpr Foreign kForeign[] = {{"num_local_experts", "a mixture of experts"},
                                {"num_experts", "a mixture of experts"},
                                {"n_routed_experts", "a mixture of experts"},
                                {"moe_intermediate_size", "a mixture of experts"},
                                {"kv_lora_rank", "multi-head latent attention"},
                                {"q_lora_rank", "multi-head latent attention"},
                                {"is_encoder_decoder", "an encoder with a decoder"},
                                {"encoder_layers", "an encoder with a decoder"},
                                {"text_config", "a model of several parts around a text model"},
                                {"vision_config", "a model of several parts around a text model"},
                                {"state_size", "a state-space model"},
                                {"ssm_cfg", "a state-space model"},
                                {"mlp_bias", "a decoder with biases in its feed-forward layers"},
                                {"quantization_config", "a model with quantised weights"},
                                {"quantization", "a model with quantised weights"}};

// Reads fields of one object; the first thing wrong is kept, later reads give zeros.
class Fields {
 public:
  Fields(const Json& object, std::string_view name) : object_(object), name_(name) {}

  // The member, or null when it is absent or null.
  [[nodiscard]] const Json* find(const char* field) const {
    const auto at = object_.find(field);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  std::int64_t count(const char* field, std::optional<std::int64_t> fallback = std::nullopt) {
    const Json* value = find(field);
    if (value == nullptr) {
      if (!fallback) fail(field, "missing", "a decoder cannot be built without it; add the field");
      return fallback.value_or(0);
    }
    if (!value->is_number_integer()) {
      fail(field, shown(*value), "a positive integer is expected; correct the field");
      return 0;
    }
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxInteger)) {
      fail(field, shown(*value), "the largest number that is accepted is 2^53 - 1; correct the field");
      return 0;
    }
    const auto number = value->get<std::int64_t>();
    if (number <= 0)
      fail(field, shown(*value), "a decoder needs at least 1; correct the field or choose another model");
    return number;
  }

  double real(const char* field, double fallback) {
    const Json* value = find(field);
    if (value == nullptr) return fallback;
    if (!value->is_number()) fail(field, shown(*value), "a number is expected; correct the field");
    return value->is_number() ? value->get<double>() : 0.0;
  }

  bool flag(const char* field, bool fallback) {
    const Json* value = find(field);
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) fail(field, shown(*value), "true or false is expected; correct the field");
    return value->is_boolean() && value->get<bool>();
  }

  std::string text(const char* field) {
    const Json* value = find(field);
    if (value == nullptr) return {};
    if (!value->is_string()) fail(field, shown(*value), "a text is expected; correct the field");
    return value->is_string() ? value->get<std::string>() : std::string();
  }

  void fail(std::string_view field, const std::string& value, const std::string& reason) {
    if (error_) return;
    error_ = Error{ErrorCode::bad_input,
                   std::string(name_) + ": \"" + std::string(field) + "\" is " + value + ": " + reason};
  }

  // A value as a message shows it: short, whatever the file holds.
  static std::string shown(const Json& value) {
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const Json& object_;
  std::string_view name_;
  std::optional<Error> error_;
};

bool means_something(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() > 1;
  return true;
}

void refuse_foreign(Fields& fields) {
  for (const auto& foreign : kForeign) {
    const Json* value = fields.find(foreign.field);
    if (value == nullptr || !means_something(*value)) continue;
    fields.fail(foreign.field, Fields::shown(*value),
                std::string("this is ") + foreign.kind +
                    ", and only dense decoders (llama, mistral, qwen2) are executed; choose one of those");
  }
}

// Whether an architecture is a class of the family: "LlamaForCausalLM", "LlamaModel", not "Qwen2MoeForCausalLM".
bool belongs(std::string_view architecture, const Family& family) {
  constexpr std::string_view kHead = "ForCausalLM";
  std::string_view stem = family.architecture;
  stem.remove_suffix(kHead.size());
  if (!architecture.starts_with(stem)) return false;
  const auto rest = architecture.substr(stem.size());
  return rest.starts_with("For") || rest == "Model";
}

// By model_type, or by the first of `architectures` when the file has no model_type. The two must not contradict.
const Family* family_of(Fields& fields) {
  const std::string type = fields.text("model_type");
  std::vector<std::string> architectures;
  if (const Json* list = fields.find("architectures"); list != nullptr && !list->is_null()) {
    const bool texts =
        list->is_array() && std::all_of(list->begin(), list->end(), [](const Json& item) { return item.is_string(); });
    if (!texts)
      fields.fail("architectures", Fields::shown(*list), "a list of class names is expected; correct the field");
    if (texts) architectures = list->get<std::vector<std::string>>();
  }
  const std::string first = architectures.empty() ? std::string() : architectures.front();
  for (const auto& family : kFamilies) {
    if (type.empty() ? first != family.architecture : type != family.model_type) continue;
    for (const auto& architecture : architectures)
      if (!belongs(architecture, family))
        fields.fail("architectures", Fields::shown(Json(architecture)),
                    "it contradicts model_type \"" + std::string(family.model_type) + "\"; correct one of the two");
    return &family;
  }
  const bool typed = !type.empty();
  const std::string value = typed || !first.empty() ? Fields::shown(Json(typed ? type : first)) : "missing";
  fields.fail(typed || first.empty() ? "model_type" : "architectures", value,
              "only dense decoders of the types llama, mistral and qwen2 are executed; choose one of those");
  return nullptr;
}

// Tokens of the window, or 0. A model whose layers differ in it is refused: every layer is executed alike.
std::int64_t window_of(Fields& fields, const Family& family, std::int64_t layers) {
  if (!family.window) return 0;
  if (family.window_by_switch && !fields.flag("use_sliding_window", false)) return 0;
  if (fields.find("sliding_window") == nullptr) return 0;
  const std::int64_t window = fields.count("sliding_window");
  const std::int64_t full_layers = family.window_by_switch && fields.find("max_window_layers") != nullptr &&
                                           fields.find("max_window_layers")->is_number_integer()
                                       ? fields.find("max_window_layers")->get<std::int64_t>()
                                       : 0;
  if (full_layers >= layers) return 0;
  if (full_layers > 0) {
    fields.fail("max_window_layers", std::to_string(full_layers),
                "a window on some layers only is not executed; choose a model whose layers are all alike");
  }
  return window;
}

void refuse_mixed_layers(Fields& fields) {
  const Json* types = fields.find("layer_types");
  if (types == nullptr || !types->is_array() || types->empty()) return;
  for (const auto& type : *types) {
    if (type != types->front()) {
      fields.fail("layer_types", Fields::shown(*types),
                  "layers of different kinds are not executed; choose a model whose layers are all alike");
      return;
    }
  }
}

double rope_theta_of(Fields& fields, std::string_view name) {
  constexpr double kDefault = 10000.0;  // of all three configuration classes
  const Json* nested = fields.find("rope_parameters");
  if (fields.find("rope_theta") != nullptr || nested == nullptr || !nested->is_object()) {
    return fields.real("rope_theta", kDefault);
  }
  Fields inner(*nested, name);
  const double theta = inner.real("rope_theta", kDefault);
  if (inner.error()) fields.fail("rope_parameters", Fields::shown(*nested), "rope_theta in it must be a number");
  return theta;
}

void refuse_activation(Fields& fields) {
  const std::string activation = fields.text("hidden_act");
  if (activation.empty() || activation == "silu" || activation == "swish") return;
  fields.fail("hidden_act", "\"" + activation + "\"",
              "only the gated silu of llama, mistral and qwen2 is executed; choose a model that uses it");
}

}  // namespace

Result<DecoderConfig> parse_config(std::string_view text, std::string_view name) {
  auto parsed = json::parse(text, name);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) {
    return Error{ErrorCode::bad_input, std::string(name) + ": the file holds " + Fields::shown(*parsed) +
                                           " where an object of a model's dimensions is expected; give a config.json"};
  }
  Fields fields(*parsed, name);
  refuse_foreign(fields);
  const Family* family = fields.error() ? nullptr : family_of(fields);
  if (fields.error()) return *fields.error();

  DecoderConfig config;
  config.model_type = family->model_type;
  config.hidden_size = fields.count("hidden_size");
  config.intermediate_size = fields.count("intermediate_size");
  config.layers = fields.count("num_hidden_layers");
  config.query_heads = fields.count("num_attention_heads");
  const std::int64_t default_kv = family->default_kv_heads > 0 ? family->default_kv_heads : config.query_heads;
  config.kv_heads = fields.count("num_key_value_heads", default_kv);
  if (fields.find("head_dim") != nullptr) config.head_dim = fields.count("head_dim");
  config.vocabulary = fields.count("vocab_size");
  config.max_positions = fields.count("max_position_embeddings");
  config.rope_theta = rope_theta_of(fields, name);
  config.norm_epsilon = fields.real("rms_norm_eps", 1e-6);
  config.tied_embeddings = fields.flag("tie_word_embeddings", false);
  // A qwen2 file says nothing about its biases: they belong to the family.
  config.attention_bias = family->attention_bias || fields.flag("attention_bias", false);
  config.sliding_window = window_of(fields, *family, config.layers);
  refuse_mixed_layers(fields);
  refuse_activation(fields);
  if (fields.error()) return *fields.error();
  return from_dimensions(config, name);
}

Result<std::string> parse_dtype(std::string_view text, std::string_view name) {
  auto parsed = json::parse(text, name);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return std::string();
  Fields fields(*parsed, name);
  const char* field = fields.find("torch_dtype") != nullptr ? "torch_dtype" : "dtype";
  const std::string word = fields.find(field) != nullptr ? fields.text(field) : std::string();
  if (fields.error()) return *fields.error();
  if (word == "float32") return std::string("f32");
  if (word == "float16") return std::string("f16");
  if (word == "bfloat16") return std::string("bf16");
  return std::string();
}

Result<Model> load_model(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::filesystem::path file = folder ? path / "config.json" : path;
  auto text = json::read_file(file, kMaxFileBytes);
  if (!text) return text.error();
  auto config = parse_config(*text, file.string());
  if (!config) return config.error();
  auto dtype = parse_dtype(*text, file.string());
  if (!dtype) return dtype.error();
  Model model;
  model.config = *config;
  model.dtype = *dtype;
  model.source.path = path.string();
  const auto absolute = std::filesystem::absolute(file, ignored);
  model.source.name = absolute.parent_path().filename().string();
  auto hash = identity::sha256(*text);
  if (!hash) return hash.error();
  model.source.sha256 = *hash;
  return model;
}

}  // namespace assay::model
