// SPDX-License-Identifier: Apache-2.0
// Reads and validates one Assay document with the installed library and prints its kind.
#include <cstdio>
#include <string>

#include "backends/abi/assay_backend.h"
#include "results-schema/json/json.hpp"

static_assert(ASSAY_ABI_VERSION == 1u);

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const auto text = assay::json::read_file(argv[1]);
  if (!text) return std::fprintf(stderr, "%s\n", text.error().text.c_str()), 65;
  const auto document = assay::json::read_document(*text, argv[1]);
  if (!document) return std::fprintf(stderr, "%s\n", document.error().text.c_str()), 65;
  std::printf("%s with %zu devices\n", std::string(assay::json::to_text(document->kind)).c_str(), document->devices.size());
  return 0;
}
