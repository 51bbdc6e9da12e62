// SPDX-License-Identifier: Apache-2.0
// Bounds and contradictions of a plan's file, each named by its place.
#include "suite/plan/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "results-schema/json/json.hpp"
#include "suite/model/config.hpp"
#include "suite/plan/limits.hpp"
#include "suite/plan/request.hpp"

namespace assay::planning {
namespace {

struct Bound {
  const char* field;
  std::int64_t value;
  std::int64_t least;
  std::int64_t most;
};

class Checker {
 public:
  explicit Checker(std::string_view name) : name_(name) {}

  Error refuse(const std::string& place, std::string_view reason) const {
    return {ErrorCode::bad_input, fmt::format("{}: {} {}; correct it and try again", name_, place, reason)};
  }

  template <std::size_t N>
  Result<void> within(const std::string& place, const std::array<Bound, N>& bounds) const {
    for (const auto& bound : bounds)
      if (bound.value < bound.least || bound.value > bound.most)
        return refuse(fmt::format("{}/{}", place, bound.field),
                      fmt::format("is {}, and {} to {} are accepted", bound.value, bound.least, bound.most));
    return {};
  }

  Result<void> workload(const Workload& w, std::size_t index) const {
    const auto place = fmt::format("/workloads/{}", index);
    const bool decoder = w.kind == WorkloadKind::decoder;
    const std::int64_t least = decoder ? 0 : 1;  // of what only the dense network has
    const std::array<Bound, 9> bounds{{{"batch", w.batch, 1, kLargest},
                                       {"prompt_tokens", w.prompt_tokens, 1, kLargest},
                                       {"decode_tokens", w.decode_tokens, 0, decoder ? kLargest : 0},
                                       {"warmups", w.warmups, 0, kMostPasses},
                                       {"repeats", w.repeats, 1, kMostPasses},
                                       {"width", w.width, least, kLargest},
                                       {"depth", w.depth, least, kLargest},
                                       {"occupy_bytes", w.occupy_bytes, 0, kLargest},
                                       {"seed", static_cast<std::int64_t>(w.seed), 0, kLargest}}};
    if (auto fits = within(place, bounds); !fits) return fits;
    if (w.compute_dtype != "f32")
      return refuse(place + "/compute_dtype", fmt::format("is \"{}\", and only f32 is executed", w.compute_dtype));
    if (decoder) {
      auto fits = model::check_dimensions(w.model, place + "/model");
      if (!fits)
        return Error{ErrorCode::bad_input, fmt::format("{}: {}", name_, worded(fits.error().text, Wording::plan))};
    }
    if (auto fits = check_workload(w); !fits) return refuse(place, fmt::format("cannot be run: {}", fits.error().text));
    return {};
  }

 private:
  std::string_view name_;
};

std::string module_file(const PlannedDevice& device) {
  return std::filesystem::path(device.module_path).filename().string();
}

bool is_number(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
}

}  // namespace

Result<void> check_device_option(std::string_view key, std::string_view value) {
  const auto refuse = [&](std::string_view wanted) {
    return Error{ErrorCode::usage, fmt::format("{} is \"{}\"; give {}", key, value, wanted)};
  };
  if (key == "memory_bytes")
    return is_number(value, 1, kLargest) ? Result<void>() : refuse("a number of bytes from 1 to 2^53 - 1");
  if (key == "wave") return value == "1" || value == "32" || value == "64" ? Result<void>() : refuse("1, 32 or 64");
  if (key == "threads")
    return is_number(value, 0, kMostThreads) ? Result<void>()
                                             : refuse(fmt::format("0 for all, or a number up to {}", kMostThreads));
  if (key == "block")
    return is_number(value, 0, 1024) ? Result<void>() : refuse("0, or a number of threads up to 1024");
  return Error{ErrorCode::usage, fmt::format("there is no device option \"{}\"; the host backend knows memory_bytes, "
                                             "wave, threads and block",
                                             key)};
}

Result<Plan> parse_plan(std::string_view text, std::string_view name) {
  auto plan = json::read_plan(text, name);
  if (!plan) return plan.error();
  const Checker check(name);
  const std::array<Bound, 2> bounds{
      {{"launches", plan->launches, 1, kMostLaunches}, {"time_limit_s", plan->time_limit_s, 1, kMostSeconds}}};
  if (auto fits = check.within("", bounds); !fits) return fits.error();
  if (std::cmp_greater(plan->workloads.size(), kMostWorkloads))
    return check.refuse("/workloads", fmt::format("has more than {} entries", kMostWorkloads));
  for (std::size_t i = 0; i < plan->workloads.size(); ++i)
    if (auto fits = check.workload(plan->workloads[i], i); !fits) return fits.error();
  return plan;
}

Result<Plan> read_plan_file(const std::string& path) {
  auto text = json::read_file(path);
  if (!text) return text.error();
  return parse_plan(*text, path);
}

Result<void> check_planned_devices(const Plan& plan, std::string_view name) {
  const Checker check(name);
  if (std::cmp_greater(plan.devices.size(), kMostDevices))
    return check.refuse("/devices", fmt::format("has more than {} entries", kMostDevices));
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const auto& device = plan.devices[i];
    const auto place = fmt::format("/devices/{}", i);
    const std::array<Bound, 1> bounds{{{"ordinal", device.ordinal, 0, kMostOrdinal}}};
    if (auto fits = check.within(place, bounds); !fits) return fits;
    if (device.name != fmt::format("{}:{}", device.backend, device.ordinal))
      return check.refuse(place + "/name", fmt::format("is \"{}\", which is not ordinal {} of backend \"{}\"",
                                                       device.name, device.ordinal, device.backend));
    if (std::any_of(plan.devices.begin(), plan.devices.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const auto& other) { return other.name == device.name; }))
      return check.refuse(place, fmt::format("names {} a second time", device.name));
    std::error_code failure;
    if (!std::filesystem::is_regular_file(device.module_path, failure))
      return check.refuse(place + "/module_path",
                          fmt::format("is \"{}\", where no module is (--device names another)", device.module_path));
    const auto file = module_file(device);
    if (file != "libassay-" + device.backend + ".so" && file != device.backend)
      return check.refuse(place + "/backend",
                          fmt::format("is \"{}\" and its module is {}", device.backend, device.module_path));
    for (std::size_t k = 0; k < device.options.size(); ++k) {
      const auto& [key, value] = device.options[k];
      if (auto fits = check_device_option(key, value); !fits)
        return check.refuse(fmt::format("{}/options/{}", place, k), "is refused: " + fits.error().text);
      for (std::size_t earlier = 0; earlier < k; ++earlier)
        if (device.options[earlier].first == key)
          return check.refuse(fmt::format("{}/options/{}", place, k), "gives " + key + " a second time");
    }
  }
  return {};
}

std::string worded(std::string text, Wording wording) {
  struct Name {
    std::string_view config;
    std::string_view plan;
    std::string_view option;
  };
  // Names that contain another come first.
  static constexpr std::array<Name, 10> kNames{{{"num_key_value_heads", "kv_heads", "--kv-heads"},
                                                {"num_attention_heads", "query_heads", "--query-heads"},
                                                {"num_hidden_layers", "layers", "--layers"},
                                                {"intermediate_size", "intermediate_size", "--intermediate-size"},
                                                {"hidden_size", "hidden_size", "--hidden-size"},
                                                {"head_dim", "head_dim", "--head-dim"},
                                                {"vocab_size", "vocabulary", "--vocabulary"},
                                                {"max_position_embeddings", "max_positions", "the positions"},
                                                {"sliding_window", "sliding_window", "--sliding-window"},
                                                {"rms_norm_eps", "norm_epsilon", "the norm's epsilon"}}};
  for (const auto& name : kNames) {
    const auto into = wording == Wording::plan ? name.plan : name.option;
    for (auto at = text.find(name.config); at != std::string::npos; at = text.find(name.config, at + into.size()))
      text.replace(at, name.config.size(), into);
  }
  return text;
}

}  // namespace assay::planning
