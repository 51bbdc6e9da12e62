// SPDX-License-Identifier: Apache-2.0
// Options of device_open, checked one by one.
#include "backends/host/options.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "backends/host/status.hpp"

namespace assay::host {
namespace {

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

assay_status bad_value(const assay_option& option, const char* expected) {
  return fail(ASSAY_INVALID_VALUE, "option %.64s=%.64s is outside its range; give %s", option.key, option.value,
              expected);
}

assay_status apply(const assay_option& option, DeviceOptions* out) {
  const std::string_view key = option.key;
  const std::string_view value = option.value;
  if (key == "memory_bytes") {
    const auto bytes = parse_integer(value, 1, (std::int64_t{1} << 53) - 1);
    if (!bytes) return bad_value(option, "a number of bytes from 1 to 2^53-1");
    out->memory_bytes = *bytes;
  } else if (key == "wave") {
    const auto wave = parse_integer(value, 1, 64);
    if (!wave || (*wave != 1 && *wave != 32 && *wave != 64)) return bad_value(option, "1, 32 or 64");
    out->executor.wave = static_cast<std::uint32_t>(*wave);
  } else if (key == "threads") {
    const auto threads = parse_integer(value, 0, 4096);
    if (!threads) return bad_value(option, "0 for all, or a number up to 4096");
    out->executor.threads = static_cast<std::uint32_t>(*threads);
  } else if (key == "block") {
    const auto block = parse_integer(value, 0, 1024);
    if (!block) return bad_value(option, "0, or a number of threads up to 1024");
    out->executor.block = static_cast<std::uint32_t>(*block);
  } else {
    return fail(ASSAY_INVALID_VALUE,
                "option %.64s is unknown to the host module; it knows memory_bytes, wave, threads and block",
                option.key);
  }
  return ASSAY_OK;
}

}  // namespace

assay_status parse_options(const assay_option* options, std::size_t count, DeviceOptions* out) {
  if (options == nullptr && count != 0)
    return fail(ASSAY_INVALID_VALUE, "device_open: %zu options announced and none given; pass the array", count);
  for (std::size_t i = 0; i < count; ++i) {
    const assay_option& option = options[i];
    if (option.key == nullptr || option.value == nullptr)
      return fail(ASSAY_INVALID_VALUE, "device_open: option %zu has no key or no value; give both", i);
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (std::string_view(options[earlier].key) == option.key)
        return fail(ASSAY_INVALID_VALUE, "option %.64s is given twice; give it once", option.key);
    if (const auto status = apply(option, out); status != ASSAY_OK) return status;
  }
  const ExecutorOptions& executor = out->executor;
  if (executor.block != 0 && (executor.wave == 1 || executor.block % executor.wave != 0))
    return fail(ASSAY_INVALID_VALUE, "option block=%u needs a wave of 32 or 64 that divides it; give both or neither",
                executor.block);
  return ASSAY_OK;
}

}  // namespace assay::host
