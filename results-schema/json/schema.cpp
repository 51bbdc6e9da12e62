// SPDX-License-Identifier: Apache-2.0
// The only file that includes valijson, which is slow to compile.
#include "results-schema/json/schema.hpp"

#include <array>
#include <exception>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace assay::json::detail {
namespace {

using Plain = nlohmann::json;  // what valijson's adapter takes
using Adapter = valijson::adapters::NlohmannJsonAdapter;

constexpr std::array<const char*, 3> kRoots{"document.schema.json", "defs.schema.json#/definitions/plan",
                                            "defs.schema.json#/definitions/identity"};

// Where `reference`, made in the file `from`, points inside the one value that holds all files.
std::string inner_reference(const std::string& reference, const std::string& from) {
  const auto hash = reference.find('#');
  const std::string file = reference.substr(0, hash);
  const std::string pointer = hash == std::string::npos ? "" : reference.substr(hash + 1);
  return "#/files/" + (file.empty() ? from : file) + pointer;
}

void redirect(Plain& schema, const std::string& from) {
  if (!schema.is_structured()) return;
  for (auto& [key, member] : schema.items()) {
    if (key == "$ref" && member.is_string())
      member = inner_reference(member.get<std::string>(), from);
    else
      redirect(member, from);
  }
}

// The three roots, parsed. References between files are redirected into one value first: valijson caches what it has
// parsed by the pointer alone and mixes files up; and nothing is ever looked for outside this library.
class Schemas {
 public:
  Schemas() {
    Plain files = Plain::object();
    for (const auto& [file, text] : embedded_schemas()) {
      Plain schema = Plain::parse(text);
      redirect(schema, std::string(file));
      files[std::string(file)] = std::move(schema);
    }
    for (std::size_t part = 0; part < kRoots.size(); ++part) {
      const Plain root{{"files", files}, {"allOf", {{{"$ref", inner_reference(kRoots[part], "")}}}}};
      valijson::SchemaParser parser;
      parser.populateSchema(Adapter(root), roots_[part]);
    }
  }

  [[nodiscard]] const valijson::Schema& root(SchemaPart part) const { return roots_[static_cast<std::size_t>(part)]; }

 private:
  std::array<valijson::Schema, kRoots.size()> roots_;
};

// valijson's context ("<root>", "[devices]", "[0]") as a JSON pointer.
std::string pointer(const std::vector<std::string>& context) {
  std::string out;
  for (const auto& step : context)
    if (step.size() >= 2 && step.front() == '[')
      out += "/" + printable(std::string_view(step).substr(1, step.size() - 2));
  return out.empty() ? "the top level" : out;
}

// The violation that lies deepest: those above it only repeat that a part of theirs is wrong.
std::string describe(const valijson::ValidationResults& results) {
  const valijson::ValidationResults::Error* deepest = nullptr;
  for (const auto& error : results)
    if (deepest == nullptr || error.context.size() > deepest->context.size()) deepest = &error;
  if (deepest == nullptr) return "the top level: does not satisfy the schema";
  std::string text = printable(deepest->description, 300);
  while (text.ends_with('.')) text.pop_back();
  return pointer(deepest->context) + ": " + text;
}

}  // namespace

Result<void> check_schema(const Json& value, SchemaPart part, std::string_view name) {
  try {
    static const Schemas schemas;
    const Plain plain = value;
    valijson::ValidationResults results;
    if (valijson::Validator().validate(schemas.root(part), Adapter(plain), &results)) return {};
    return bad_input(std::string(name) + " does not satisfy its schema at " + describe(results) +
                     "; correct it and try again");
  } catch (const std::exception& error) {  // valijson reports a schema it cannot use by throwing
    return internal_error("the compiled-in schema cannot be used: " + std::string(error.what()) + "; report this");
  }
}

}  // namespace assay::json::detail
