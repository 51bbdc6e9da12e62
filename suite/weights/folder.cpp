// SPDX-License-Identifier: Apache-2.0
// A folder's files sorted into sets of shards; more than one set is more than one model.
#include "suite/weights/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <system_error>

#include "suite/weights/reject.hpp"

namespace assay::weights {

namespace fs = std::filesystem;

namespace {

bool digits(std::string_view text, std::int64_t& out) {
  if (text.empty() || text.size() > 9) return false;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc{} && end == text.data() + text.size();
}

// All numbers 1..count are there, once each.
Result<void> complete(const fs::path& folder, const std::vector<fs::path>& set) {
  const auto first = shard_name(set.front().filename().string());
  if (!first) return {};
  std::set<std::int64_t> numbers;
  for (const auto& file : set) {
    const auto name = shard_name(file.filename().string());
    if (name->count != first->count)
      return bad(folder, fmt::format("holds shards of two models: {} and {}; give the files of one of them",
                                     shown(set.front().filename().string()), shown(file.filename().string())));
    numbers.insert(name->number);
  }
  for (std::int64_t i = 1; i <= first->count; ++i)
    if (!numbers.contains(i))
      return bad(folder, fmt::format("lacks shard {} of the {} of {}; download it, or give the files that are there", i,
                                     first->count, shown(first->stem)));
  return {};
}

}  // namespace

std::optional<ShardName> shard_name(const std::string& file) {
  const auto dot = file.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view base = std::string_view(file).substr(0, dot);
  for (const std::string_view joint : {"-of-", "_of_"}) {
    const auto of = base.rfind(joint);
    if (of == std::string_view::npos) continue;
    const auto before = base.substr(0, of).find_last_of("-_");
    if (before == std::string_view::npos) continue;
    ShardName name;
    if (!digits(base.substr(before + 1, of - before - 1), name.number) || !digits(base.substr(of + 4), name.count))
      continue;
    if (name.number < 1 || name.count < 1 || name.number > name.count || name.count > 10'000) continue;
    name.stem = std::string(base.substr(0, before));
    name.extension = file.substr(dot);
    return name;
  }
  return std::nullopt;
}

Result<FolderContents> look_into(const fs::path& folder) {
  FolderContents contents;
  std::vector<fs::path> indexes;
  std::map<std::string, std::vector<fs::path>> sets;  // by extension and stem
  std::error_code failure;
  std::size_t seen = 0;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    if (++seen > 100'000) return bad(folder, "holds more than 100,000 entries; give the model's files themselves");
    const auto name = it->path().filename().string();
    std::error_code ignored;
    if (fs::is_directory(it->path(), ignored) || name.starts_with('.')) continue;
    if (name.ends_with(".safetensors.index.json")) {
      indexes.push_back(it->path());
    } else if (name.ends_with(".safetensors") || name.ends_with(".gguf")) {
      if (name.starts_with("adapter_")) {
        contents.notes.push_back(shown(name) + " holds an adapter, not the model: it is not counted");
        continue;
      }
      const auto shard = shard_name(name);
      const auto extension = it->path().extension().string();
      sets[extension + (shard ? shard->stem + "/" : name)].push_back(it->path());
    }
  }
  if (failure) return bad(folder, "cannot be listed: " + failure.message() + "; check its permissions");
  std::sort(indexes.begin(), indexes.end());
  for (auto& [key, set] : sets) std::sort(set.begin(), set.end());

  if (indexes.size() > 1)
    return bad(folder, fmt::format("holds two models: {} and {}; give one of the two files",
                                   shown(indexes[0].filename().string()), shown(indexes[1].filename().string())));
  std::vector<const std::vector<fs::path>*> candidates;
  for (const auto& [key, set] : sets) {
    const bool indexed = !indexes.empty() && set.front().extension() == ".safetensors";
    if (!indexed) candidates.push_back(&set);
  }
  const std::size_t models = candidates.size() + indexes.size();
  if (models > 1) {
    const auto other = indexes.empty() ? candidates[0]->front() : indexes[0];
    const auto& last = candidates.back()->front();
    return bad(folder, fmt::format("holds two models: {} and {}; give the file of one of them",
                                   shown(other.filename().string()), shown(last.filename().string())));
  }
  if (!indexes.empty()) contents.index = indexes.front();
  if (!candidates.empty()) {
    if (auto whole = complete(folder, *candidates.front()); !whole) return whole.error();
    contents.weights = *candidates.front();
    contents.gguf = contents.weights.front().extension() == ".gguf";
  }
  return contents;
}

Result<void> stays_inside(const fs::path& folder, const fs::path& file) {
  std::error_code failure;
  if (!fs::is_symlink(fs::symlink_status(file, failure))) return {};
  const auto home = fs::canonical(folder.empty() ? fs::path(".") : folder, failure);
  const auto target = failure ? fs::path() : fs::canonical(file, failure);
  if (failure) return bad(file, "is a symbolic link to nothing; download the file again");
  const auto within = [&target](const fs::path& root) {
    const auto [end, ignored] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
    return end == root.end();
  };
  if (within(home)) return {};
  // A hub cache keeps models--X/snapshots/REVISION/file -> models--X/blobs/HASH.
  if (home.parent_path().filename() == "snapshots" && within(home.parent_path().parent_path() / "blobs")) return {};
  return bad(file, "is a symbolic link out of its folder; give the file it points to, or copy it into the folder");
}

}  // namespace assay::weights
