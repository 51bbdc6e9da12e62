// SPDX-License-Identifier: Apache-2.0
// Any lines as journal entries folded into a document: refused or applied, and what was read comes back from its line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "results-schema/json/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay;
  std::string_view rest(reinterpret_cast<const char*>(bytes), size);
  RunDocument document;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const auto entry = json::from_line(rest.substr(0, end), "input");
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (!entry) {
      if (entry.error().code != ErrorCode::bad_input) std::abort();
      continue;
    }
    const std::string line = json::to_line(*entry);
    const auto again = json::from_line(line, "again");
    if (!again || json::to_line(*again) != line) std::abort();
    (void)json::apply(document, *entry);
  }
  json::finish(document);
  const RunDocument once = document;
  json::finish(document);
  if (!(document == once)) std::abort();
  return 0;
}
