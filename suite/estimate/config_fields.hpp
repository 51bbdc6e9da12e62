// SPDX-License-Identifier: Apache-2.0
// ConfigFields: a model configuration read by any of the names its numbers go by; nothing missing becomes a zero.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/weights/model_files.hpp"

namespace assay::estimate {

// No dimension of a model is larger: products of two, doubled, stay below 2^63.
inline constexpr std::int64_t kLargestDimension = std::int64_t{1} << 30;

class ConfigFields {
 public:
  using Json = nlohmann::ordered_json;
  using Names = std::initializer_list<const char*>;

  // Members of a nested text model (text_config, language_config, llm_config) come before those around it.
  explicit ConfigFields(const weights::ConfigFile& file);

  // The first of the names that is there and not null.
  [[nodiscard]] const Json* find(Names names, const char** found = nullptr) const;
  // At least 1, at most kLargestDimension; anything else that is there is an error.
  std::optional<std::int64_t> count(Names names);
  // As count, 0 included.
  std::optional<std::int64_t> whole(Names names);
  std::optional<bool> flag(Names names);
  std::string text(Names names);
  // A list of whole numbers, or nothing when the member is no list.
  std::optional<std::vector<std::int64_t>> list(Names names);

  void fail(std::string_view field, const Json& value, std::string_view reason);
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool nested() const { return inner_ != outer_; }
  [[nodiscard]] const Json& outer() const { return *outer_; }

 private:
  std::optional<std::int64_t> integer(Names names, std::int64_t least);

  std::string file_;
  const Json* inner_;
  const Json* outer_;
  std::optional<Error> error_;
};

}  // namespace assay::estimate
