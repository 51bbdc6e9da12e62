// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors or GGUF header, an index, a configuration: read, or refused as bad input.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "suite/weights/config_text.hpp"
#include "suite/weights/gguf.hpp"
#include "suite/weights/index.hpp"
#include "suite/weights/safetensors.hpp"

namespace {

template <class T>
void judge(const assay::Result<T>& read) {
  if (!read && read.error().code != assay::ErrorCode::bad_input) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const bool whole : {true, false}) {
    weights::TensorTable table;
    const auto safetensors = weights::read_safetensors(text, "input", 0, whole, table);
    judge(safetensors);
    if (safetensors && safetensors->declared_bytes != safetensors->header_bytes + safetensors->tensor_bytes)
      std::abort();
    weights::TensorTable blocks;
    judge(weights::read_gguf(text, "input", 0, whole, blocks));
  }
  weights::TensorTable names;
  judge(weights::read_index(text, "input", names));
  std::vector<weights::UnknownField> unknown;
  judge(weights::parse_config_text(text, "input", unknown));
  return 0;
}
