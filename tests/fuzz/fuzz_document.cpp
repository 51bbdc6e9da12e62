// SPDX-License-Identifier: Apache-2.0
// Any bytes as a document, a plan, an identity: refused or read, and what is read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "results-schema/json/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::string warning;
  const auto document = json::read_document(text, "input", &warning);
  if (!document && document.error().code != ErrorCode::bad_input) std::abort();
  // A newer minor version may hold what this version's schema refuses to write.
  if (document && warning.empty()) {
    const auto written = json::write_document(*document);
    if (!written) std::abort();
    const auto again = json::read_document(*written, "written");
    if (!again || !(*again == *document)) std::abort();
  }
  (void)json::validate(text, "input");
  if (const auto plan = json::read_plan(text, "input"); plan && !json::read_plan(json::write_plan(*plan), "written"))
    std::abort();
  (void)json::read_identity(text, "input");
  return 0;
}
