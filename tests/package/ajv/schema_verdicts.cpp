// SPDX-License-Identifier: Apache-2.0
// Writes random documents, most of them spoilt in one place, and says of each what Assay's own validator thinks of it;
// the script beside this file asks a second validator. Usage: schema_verdicts FOLDER [FILE...]
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results-schema/json/json.hpp"
#include "tests/unit/json_generator.hpp"

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kDocuments = 25;
constexpr int kSpoilt = 24;  // of each

// Every object of a document, root first.
void objects_of(Json& value, std::vector<Json*>& out) {
  if (value.is_object() && !value.empty()) out.push_back(&value);
  if (value.is_structured())
    for (auto& item : value) objects_of(item, out);
}

// Changes one member of one object, so that it may or may not still satisfy the schema.
void spoil(Json& document, assay::test::Generator& random) {
  static const std::array<Json, 7> replacements{nullptr, "", "text", -1, 0.5, true, Json::object()};
  std::vector<Json*> objects;
  objects_of(document, objects);
  Json& object = *objects[static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(objects.size()) - 1))];
  auto member = object.begin();
  std::advance(member, random.number(0, static_cast<std::int64_t>(object.size()) - 1));
  const auto choice = static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(replacements.size()) + 1));
  if (choice < replacements.size())
    *member = replacements[choice];
  else if (choice == replacements.size())
    object.erase(member);
  else
    object["unknown_key"] = 1;
}

void judge(const std::string& file, const std::string& text) {
  std::printf("%s\t%s\n", assay::json::validate(text, file) ? "valid" : "invalid", file.c_str());
}

void write_and_judge(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  judge(file.string(), text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::filesystem::path folder = argv[1];
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (int i = 2; i < argc; ++i) {
    const auto text = assay::json::read_file(argv[i]);
    if (!text) return 65;
    judge(argv[i], *text);
  }
  for (std::uint64_t seed = 0; seed < kDocuments; ++seed) {
    assay::test::Generator random(seed);
    const auto text = assay::json::write_document(random.document());
    if (!text) return 70;
    const std::string stem = "document-" + std::to_string(seed);
    write_and_judge(folder / (stem + ".json"), *text);
    const auto document = assay::json::parse(*text, stem);
    if (!document) return 70;
    for (int n = 0; n < kSpoilt; ++n) {
      Json spoilt = *document;
      spoil(spoilt, random);
      write_and_judge(folder / (stem + "-" + std::to_string(n) + ".json"), spoilt.dump());
    }
  }
  return 0;
}
