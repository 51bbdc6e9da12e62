// SPDX-License-Identifier: Apache-2.0
// From paths to headers: which files, in which order, and what index, headers and folder say of each other.
#include "suite/weights/model_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <unordered_set>

#include "results-schema/json/json.hpp"
#include "suite/identity/sha256.hpp"
#include "suite/weights/folder.hpp"
#include "suite/weights/mapped_file.hpp"
#include "suite/weights/reject.hpp"

namespace assay::weights {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxConfigBytes = std::size_t{16} << 20;

class Reader {
 public:
  explicit Reader(const ReadOptions& options) : options_(options) {}

  Result<ModelFiles> read(const std::vector<fs::path>& paths) {
    if (paths.empty()) return Error{ErrorCode::usage, "no model was given; give a folder or a file"};
    auto done = paths.size() == 1 ? one(paths.front()) : several(paths);
    if (!done) return done.error();
    if (out_.name.empty()) out_.name = name_of(paths.front());
    return std::move(out_);
  }

 private:
  static std::string name_of(const fs::path& path) {
    std::error_code ignored;
    const auto absolute = fs::absolute(path, ignored).lexically_normal();
    const auto last = absolute.has_filename() ? absolute : absolute.parent_path();
    const auto file = last.filename().string();
    // config.json and the like are named after their folder.
    if (file.ends_with(".json")) return last.parent_path().filename().string();
    return file;
  }

  Result<void> one(const fs::path& path) {
    std::error_code failure;
    const auto status = fs::status(path, failure);
    if (!fs::exists(status)) return bad(path, "does not exist; give a folder, a weight file or a config.json");
    if (fs::is_directory(status)) return folder(path);
    const auto name = path.filename().string();
    if (name.ends_with(".index.json")) {
      if (auto done = read_configs(path.parent_path()); !done) return done;
      return indexed(path.parent_path(), path);
    }
    if (name.ends_with(".json")) return read_config(path, out_.config);
    return several({path});
  }

  Result<void> folder(const fs::path& path) {
    auto contents = look_into(path);
    if (!contents) return contents.error();
    out_.notes = contents->notes;
    if (auto done = read_configs(path); !done) return done;
    if (contents->index) return indexed(path, *contents->index);
    for (const auto& file : contents->weights) {
      if (auto inside = stays_inside(path, file); !inside) return inside;
      if (auto done = read_weights(file); !done) return done;
    }
    if (contents->weights.empty() && !out_.config)
      return bad(path, "holds no weight file (.safetensors, .gguf) and no config.json; give the model's folder");
    return finish_gguf();
  }

  // Files named one by one.
  Result<void> several(std::vector<fs::path> paths) {
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      std::error_code failure;
      if (!fs::exists(path, failure)) return bad(path, "does not exist; give the weight files of one model");
      if (fs::is_directory(path, failure) || path.extension() == ".json")
        return bad(path, "cannot be given together with other files; give weight files only, or one folder");
      if (auto done = read_weights(path); !done) return done;
    }
    if (out_.format == FileFormat::safetensors) {
      if (auto done = read_configs(paths.front().parent_path()); !done) return done;
      std::set<std::int64_t> numbers;
      std::int64_t count = 0;
      for (const auto& path : paths)
        if (const auto shard = shard_name(path.filename().string())) {
          numbers.insert(shard->number);
          count = std::max(count, shard->count);
        }
      if (static_cast<std::int64_t>(numbers.size()) < count)
        out_.contradictions.push_back(
            fmt::format("the names speak of {} files and {} were given: what the others hold is not counted", count,
                        numbers.size()));
    }
    if (out_.format == FileFormat::gguf && paths.size() == 1)
      if (auto done = split_siblings(paths.front()); !done) return done;
    return finish_gguf();
  }

  // The other parts of a split GGUF file lie beside the first one.
  Result<void> split_siblings(const fs::path& path) {
    const auto count = out_.gguf.front().integer("split.count").value_or(0);
    if (count <= 1) return {};
    const auto shard = shard_name(path.filename().string());
    if (!shard || shard->count != count)
      return bad(path, fmt::format("says that it is one of {} parts, but its name does not say which; rename it as "
                                   "NAME-00001-of-{:05}.gguf",
                                   count, count));
    auto contents = look_into_set(path, *shard);
    if (!contents) return contents.error();
    out_ = ModelFiles{};
    for (const auto& part : *contents)
      if (auto done = read_weights(part); !done) return done;
    return {};
  }

  static Result<std::vector<fs::path>> look_into_set(const fs::path& path, const ShardName& shard) {
    std::vector<fs::path> parts;
    for (std::int64_t i = 1; i <= shard.count; ++i) {
      auto part = path.parent_path() / fmt::format("{}-{:05}-of-{:05}.gguf", shard.stem, i, shard.count);
      std::error_code failure;
      if (!fs::exists(part, failure))
        return bad(part, fmt::format("is missing: {} is one of {} parts; download the others beside it",
                                     shown(path.filename().string()), shard.count));
      parts.push_back(std::move(part));
    }
    return parts;
  }

  Result<void> finish_gguf() {
    if (out_.format != FileFormat::gguf) return {};
    std::set<std::int64_t> numbers;
    std::int64_t count = 0;
    for (const auto& header : out_.gguf) {
      count = std::max(count, header.integer("split.count").value_or(0));
      if (const auto number = header.integer("split.no"); number && !numbers.insert(*number).second && count > 1)
        return Error{ErrorCode::bad_input,
                     fmt::format("{} holds split part {} twice; give every part once", shown(out_.name), *number)};
    }
    if (count > 1 && static_cast<std::int64_t>(numbers.size()) != count)
      return Error{ErrorCode::bad_input,
                   fmt::format("{} of {} parts of a split GGUF file were given; give them all", numbers.size(), count)};
    const auto tensors = out_.gguf.front().integer("split.tensors.count");
    if (tensors && count > 1 && *tensors != static_cast<std::int64_t>(out_.tensors.all().size()))
      out_.contradictions.push_back(fmt::format("split.tensors.count says {} tensors and the headers hold {}", *tensors,
                                                out_.tensors.all().size()));
    return {};
  }

  Result<void> indexed(const fs::path& folder, const fs::path& index_path) {
    if (auto inside = stays_inside(folder, index_path); !inside) return inside;
    auto mapped = MappedFile::open(index_path);
    if (!mapped) return mapped.error();
    TensorTable names;
    auto index = read_index(mapped->bytes(), index_path.string(), names);
    if (!index) return index.error();
    out_.index_name = index_path.filename().string();
    out_.index_total_bytes = index->total_bytes;
    out_.index_total_parameters = index->total_parameters;
    std::vector<fs::path> shards;
    std::size_t there = 0;
    for (const auto& shard : index->shards) {
      shards.push_back(folder / shard);
      std::error_code failure;
      if (fs::exists(fs::symlink_status(shards.back(), failure))) ++there;
    }
    if (there == 0) {
      out_.notes.push_back(fmt::format("none of the {} files of {} is here: bytes come from the configuration",
                                       shards.size(), shown(*out_.index_name)));
      return {};
    }
    for (const auto& shard : shards) {
      std::error_code failure;
      if (!fs::exists(fs::symlink_status(shard, failure)))
        return bad(shard, fmt::format("is missing: {} names it; download it into the folder", shown(*out_.index_name)));
      if (auto inside = stays_inside(folder, shard); !inside) return inside;
      if (auto done = read_weights(shard); !done) return done;
    }
    return hold_against(*index, index_path);
  }

  // Index against headers: every name in its file, nothing beside.
  Result<void> hold_against(const Index& index, const fs::path& index_path) {
    std::size_t elsewhere = 0;
    for (const auto& entry : index.entries) {
      const auto* tensor = out_.tensors.find(entry.name);
      if (tensor == nullptr)
        return bad(index_path, fmt::format("maps tensor \"{}\" to {}, which does not hold it; download both again",
                                           shown(entry.name), shown(index.shards[entry.shard])));
      if (tensor->file != entry.shard) ++elsewhere;
    }
    if (elsewhere > 0)
      out_.contradictions.push_back(
          fmt::format("{} maps {} tensors to other files than hold them", shown(*out_.index_name), elsewhere));
    if (index.entries.size() < out_.tensors.all().size()) {
      std::unordered_set<std::string_view> mapped;
      for (const auto& entry : index.entries) mapped.insert(entry.name);
      std::int64_t bytes = 0;
      for (const auto& tensor : out_.tensors.all())
        if (!mapped.contains(tensor.name)) bytes += tensor.bytes;
      out_.contradictions.push_back(fmt::format("the files hold {} tensors ({} bytes) that {} does not map",
                                                out_.tensors.all().size() - index.entries.size(), bytes,
                                                shown(*out_.index_name)));
    }
    std::int64_t bytes = 0;
    for (const auto& file : out_.files) bytes += file.facts.tensor_bytes;
    if (!index.total_bytes)
      out_.notes.push_back(fmt::format("{} states no total_size", shown(*out_.index_name)));
    else if (*index.total_bytes != bytes)
      out_.contradictions.push_back(fmt::format("{} states a total_size of {} bytes and the headers add up to {}",
                                                shown(*out_.index_name), *index.total_bytes, bytes));
    return {};
  }

  Result<void> read_weights(const fs::path& path) {
    auto mapped = MappedFile::open(path);
    if (!mapped) return mapped.error();
    const auto bytes = mapped->bytes();
    const bool gguf = path.extension() == ".gguf" || (path.extension() != ".safetensors" && bytes.starts_with("GGUF"));
    const auto format = gguf ? FileFormat::gguf : FileFormat::safetensors;
    if (out_.format != FileFormat::none && out_.format != format)
      return bad(path, "is of another format than the files before it; give the files of one model");
    out_.format = format;
    const auto file = static_cast<std::uint32_t>(out_.files.size());
    WeightFile weights{path.filename().string(), {}};
    if (gguf) {
      auto header = read_gguf(bytes, path.string(), file, !options_.headers_only, out_.tensors);
      if (!header) return header.error();
      weights.facts = header->facts;
      out_.gguf.push_back(std::move(*header));
    } else {
      auto facts = read_safetensors(bytes, path.string(), file, !options_.headers_only, out_.tensors);
      if (!facts) return facts.error();
      weights.facts = *facts;
    }
    if (weights.facts.trailing_bytes > 0)
      out_.contradictions.push_back(fmt::format("{} bytes follow the last tensor of {}: no loader reads them",
                                                weights.facts.trailing_bytes, shown(weights.name)));
    out_.files.push_back(std::move(weights));
    return {};
  }

  Result<void> read_config(const fs::path& path, std::optional<ConfigFile>& target) {
    auto text = json::read_file(path, kMaxConfigBytes);
    if (!text) return text.error();
    ConfigFile config;
    config.name = path.filename().string();
    auto tree = parse_config_text(*text, path.string(), config.unknown);
    if (!tree) return tree.error();
    if (!tree->is_object()) return bad(path, "does not hold a JSON object; give a model's config.json");
    config.tree = std::make_shared<const nlohmann::ordered_json>(std::move(*tree));
    auto hash = identity::sha256(*text);
    if (!hash) return hash.error();
    config.sha256 = *hash;
    target = std::move(config);
    return {};
  }

  Result<void> read_configs(const fs::path& folder) {
    const auto look = [&](const char* name, std::optional<ConfigFile>& target) -> Result<void> {
      const auto path = folder / name;
      std::error_code failure;
      if (target || !fs::exists(fs::symlink_status(path, failure))) return {};
      if (auto inside = stays_inside(folder, path); !inside) return inside;
      return read_config(path, target);
    };
    for (const char* name : {"config.json", "params.json"})
      if (auto done = look(name, out_.config); !done) return done;
    for (const char* name : {"quantize_config.json", "hf_quant_config.json"})
      if (auto done = look(name, out_.quantize); !done) return done;
    return {};
  }

  ReadOptions options_;
  ModelFiles out_;
};

}  // namespace

Result<ModelFiles> read_model(const std::vector<fs::path>& paths, const ReadOptions& options) {
  return Reader(options).read(paths);
}

}  // namespace assay::weights
