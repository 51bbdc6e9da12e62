// SPDX-License-Identifier: Apache-2.0
// The published examples: the valid ones are read and written back the same, each invalid one is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results-schema/json/compare.hpp"
#include "results-schema/json/json.hpp"

namespace assay::json {
namespace {

std::vector<std::filesystem::path> examples(bool valid) {
  std::vector<std::filesystem::path> out;
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  if (source == nullptr) return out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source) / "results-schema/v1/examples"))
    if (entry.path().filename().string().starts_with("invalid-") != valid) out.push_back(entry.path());
  return out;
}

TEST(JsonExamples, ValidOnesComeBackTheSame) {
  const auto files = examples(true);
  ASSERT_GE(files.size(), 6U);
  for (const auto& file : files) {
    const auto text = read_file(file);
    ASSERT_TRUE(text);
    const auto kind = validate(*text, file.string());
    ASSERT_TRUE(kind) << kind.error().text;
    if (*kind == DocumentKind::compare) {
      const auto compared = read_compare(*text, file.string());
      ASSERT_TRUE(compared) << compared.error().text;
      const auto written = write_compare(*compared);
      ASSERT_TRUE(written) << written.error().text;
      EXPECT_EQ(nlohmann::ordered_json::parse(*written), nlohmann::ordered_json::parse(*text)) << file;
    }
    if (*kind != DocumentKind::run && *kind != DocumentKind::measure) continue;
    const auto document = read_document(*text, file.string());
    ASSERT_TRUE(document) << document.error().text;
    const auto written = write_document(*document);
    ASSERT_TRUE(written) << written.error().text;
    EXPECT_EQ(nlohmann::ordered_json::parse(*written), nlohmann::ordered_json::parse(*text)) << file;
    // What an example says of itself as a whole is what its launches and cases give.
    RunDocument derived = *document;
    finish(derived);
    EXPECT_TRUE(derived == *document) << file << "\n" << *write_document(derived);
  }
}

TEST(JsonExamples, InvalidOnesAreRefusedInOneSentence) {
  const auto files = examples(false);
  ASSERT_GE(files.size(), 40U);
  for (const auto& file : files) {
    const auto text = read_file(file);
    ASSERT_TRUE(text);
    const auto kind = validate(*text, file.filename().string());
    ASSERT_FALSE(kind) << file;
    EXPECT_EQ(kind.error().code, ErrorCode::bad_input) << file;
    EXPECT_TRUE(kind.error().text.starts_with(file.filename().string())) << kind.error().text;
    EXPECT_EQ(kind.error().text.find('\n'), std::string::npos) << kind.error().text;
  }
}

// Cutting a document anywhere leaves no document, and never ends the reader.
// Under AddressSanitizer a parse takes twenty times as long: there every eleventh prefix stands for all.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStep = 11;
#else
constexpr std::size_t kStep = 1;
#endif

TEST(JsonExamples, EveryPrefixIsRefused) {
  ASSERT_GE(examples(true).size(), 6U);
  for (const auto& file : examples(true)) {
    if (file.filename() != "estimate-reserved.json" && file.filename() != "measure-dense.json") continue;
    const std::string text =
        parse(*read_file(file), "example")->dump();  // without the indentation: fewer bytes to cut at
    const std::size_t whole = text.size();
    for (std::size_t size = 0; size < whole; size += kStep) {
      const auto kind = validate(std::string_view(text).substr(0, size), "cut");
      ASSERT_FALSE(kind) << file << " cut at byte " << size;
      ASSERT_EQ(kind.error().code, ErrorCode::bad_input);
    }
  }
}

}  // namespace
}  // namespace assay::json
