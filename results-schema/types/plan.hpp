// SPDX-License-Identifier: Apache-2.0
// Plan: everything that will be executed, decided before anything is measured; it travels in the document whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// The dimensions of a dense decoder, as a transformers config.json states them. All counts are positive;
// query heads are a multiple of key-value heads; hidden_size is a multiple of query heads unless head_dim is given.
struct DecoderConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_positions = 0;
  std::int64_t sliding_window = 0;  // 0: full attention
  double rope_theta = 10000.0;
  double norm_epsilon = 1e-5;
  bool tied_embeddings = false;
  bool attention_bias = false;
  std::string model_type;
  bool operator==(const DecoderConfig&) const = default;
};

// Where the model came from.
struct ModelSource {
  std::string name;    // "decoder-135m", or the folder's name
  std::string path;    // as given
  std::string sha256;  // of the config file's bytes; empty when the dimensions were given on the command line
  bool operator==(const ModelSource&) const = default;
};

enum class WorkloadKind { decoder, dense };
enum class KvKind { growing, fixed, sliding_window };  // "growing", "static", "sliding_window" in documents

// One workload through the memory protocol. Counts are positive unless a comment says otherwise.
struct Workload {
  WorkloadKind kind = WorkloadKind::decoder;
  std::string load_name = "usual";  // "usual", "long", "limit": loads are matched by name and shape
  DecoderConfig model;              // kind decoder
  ModelSource source;
  std::int64_t width = 0;             // kind dense: features in and out of every layer
  std::int64_t depth = 0;             // kind dense: layers
  std::string storage_dtype = "f32";  // "f32", "f16", "bf16"
  std::string compute_dtype = "f32";  // accumulation; f32 today
  std::int64_t batch = 1;
  std::int64_t prompt_tokens = 32;  // kind dense: context, the rows of one sequence
  std::int64_t decode_tokens = 0;   // may be 0: no generation
  KvKind kv = KvKind::fixed;
  std::int64_t warmups = 1;  // may be 0
  std::int64_t repeats = 3;
  std::uint64_t seed = 1;
  bool empty_cache = false;                    // between phases and repetitions: a recorded condition
  std::optional<std::string> dtype_from = {};  // who chose storage_dtype: "--dtype", "torch_dtype", "default"
  std::int64_t occupy_bytes = 0;  // allocated outside the allocator before the workload: a recorded condition
  bool operator==(const Workload&) const = default;
};

// A device as it was chosen: module file and ordinal.
struct PlannedDevice {
  std::string name;     // "host:0"
  std::string backend;  // module name, "cuda-12.4"
  std::string module_path;
  std::int64_t ordinal = 0;
  std::vector<std::pair<std::string, std::string>> options;  // of device_open
  bool operator==(const PlannedDevice&) const = default;
};

struct Plan {
  std::string suite = "quick";
  std::vector<PlannedDevice> devices;
  std::vector<Workload> workloads;  // at least one
  std::string allocator = "caching";
  std::string allocator_options;    // PYTORCH_CUDA_ALLOC_CONF syntax
  std::int64_t launches = 1;        // processes a device and workload
  std::int64_t time_limit_s = 600;  // of one launch
  bool operator==(const Plan&) const = default;
};

}  // namespace assay
