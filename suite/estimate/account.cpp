// SPDX-License-Identifier: Apache-2.0
// Lines of an account from the terms of a ledger, the estimate beside them, and what is known to move each line.
#include "suite/estimate/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "suite/estimate/executed.hpp"
#include "suite/report/facts.hpp"
#include "suite/report/table.hpp"

namespace assay::estimate {
namespace {

using report::device_line;
using report::launches_of;
using report::Table;
using report::workload_line;
using report::wrapped;

struct Part {
  std::string_view term;  // of the ledger
  std::string_view name;
  std::string_view lever;
};
constexpr std::array kParts{
    Part{"weights", "weights", "a 16-bit --dtype, or a model with fewer layers"},
    Part{"inputs", "inputs", "a smaller --batch or --prompt"},
    Part{"kv", "KV cache", "a smaller --batch, --prompt or --decode, or a 16-bit --dtype"},
    Part{"activation", "activations", "a smaller --batch or --prompt"},
    Part{"workspace", "workspace", "a smaller --batch or --prompt"},
    Part{"output", "output", "a smaller --batch"},
    Part{"slack", "rounding and slack", "the allocator's policy and options"},
    Part{"inactive_pieces", "cache: free pieces", "the allocator's policy and options"},
    Part{"free_segments", "cache: free segments", "--empty-cache, or the allocator's policy and options"},
    Part{"device_rounding", "device rounding", "an allocator that asks for larger segments"},
    Part{"baseline", "context and modules", "none that Assay knows"},
    Part{"external", "external", "none in this process: look at what else holds memory of the device"},
};

std::optional<std::int64_t> term(const Ledger& ledger, std::string_view name) {
  for (const auto& one : ledger.terms) {
    if (one.name != name) continue;
    if (const auto* bytes = std::get_if<std::int64_t>(&one.first.value)) return *bytes;
  }
  return std::nullopt;
}

std::optional<std::int64_t> estimated_at(std::string_view phase, bool decodes, const std::vector<ExecutedLine>& lines) {
  if (phase == "environment") return 0;
  std::vector<std::string_view> parts{"weights_bytes"};
  if (phase != "model_load") parts.insert(parts.end(), {"inputs_bytes", "output_bytes"});
  if (phase == "prefill" && decodes) parts.emplace_back("prefill.kv_bytes");  // every other phase releases the cache
  std::int64_t sum = 0;
  for (const auto part : parts) {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.name == part; });
    if (found == lines.end() || !found->bytes.value) return std::nullopt;
    sum += *found->bytes.value;
  }
  return sum;
}

std::string shown(const std::optional<std::int64_t>& bytes) {
  return bytes ? std::to_string(*bytes) : "n/a";
}

}  // namespace

std::vector<Account> accounts(const Launch& launch, const Workload& workload) {
  // A document may state any shape: a workload that would take long to follow has no estimate here.
  constexpr std::int64_t kMaxLayerSteps = 1 << 18;
  const bool small = std::max<std::int64_t>(workload.model.layers, workload.depth) <=
                     kMaxLayerSteps / (std::clamp<std::int64_t>(workload.decode_tokens, 0, kMaxLayerSteps - 1) + 1);
  const auto executed = small ? executed_lines(workload) : std::vector<ExecutedLine>{};
  std::vector<Account> out;
  for (const auto& phase : launch.phases) {
    if (!phase.ledger_end) continue;
    Account account;
    account.checkpoint = phase.ledger_end->checkpoint;
    account.used = term(*phase.ledger_end, "device_used");
    account.estimated = estimated_at(phase.name, workload.decode_tokens > 0, executed);
    std::int64_t sum = 0;
    std::int64_t largest = 0;
    for (const auto& part : kParts) {
      const auto bytes = term(*phase.ledger_end, part.term);
      if (!bytes && part.term == "device_rounding") continue;  // only under a policy of single buffers
      account.lines.push_back({std::string(part.name), bytes});
      sum += bytes.value_or(0);
      if (bytes.value_or(0) > largest) {
        largest = *bytes;
        account.dominates = part.name;
      }
    }
    const auto rest = account.used ? std::optional(*account.used - sum) : std::nullopt;
    account.lines.push_back({"unexplained", rest});
    if (rest.value_or(0) > largest) account.dominates = "unexplained";
    out.push_back(std::move(account));
  }
  return out;
}

std::string account_pages(const RunDocument& document) {
  std::string out = fmt::format("Account of {}, allocator {}\n", document.run.id, document.plan.allocator);
  for (const auto& device : document.devices) {
    out += '\n' + wrapped(device_line(device), "Device ", "  ");
    for (std::size_t i = 0; i < document.plan.workloads.size(); ++i) {
      const auto launches = launches_of(device, static_cast<std::int64_t>(i));
      if (launches.empty()) continue;
      const auto& workload = document.plan.workloads[i];
      const auto ok = std::find_if(launches.begin(), launches.end(),
                                   [](const Launch* launch) { return launch->outcome == LaunchOutcome::ok; });
      const Launch& launch = ok != launches.end() ? **ok : *launches.front();
      out += wrapped(workload_line(workload), "  Workload: ", "    ");
      for (const auto& account : accounts(launch, workload)) {
        out += fmt::format("  {}, launch {}, bytes\n", account.checkpoint, launch.index);
        Table table({"Line", ">Bytes"});
        for (const auto& line : account.lines) table.add({line.name, shown(line.bytes)});
        table.add({"= device used", shown(account.used)});
        table.add({"estimated live request", shown(account.estimated)});
        out += table.text("    ");
        const auto* part =
            std::find_if(kParts.begin(), kParts.end(), [&](const auto& one) { return one.name == account.dominates; });
        if (part != kParts.end())
          out += wrapped(fmt::format("{}. Levers: {}.", part->name, part->lever), "    Largest: ", "      ");
      }
    }
  }
  out += wrapped("the estimate is worked out from the plan in this document; it is beside the sum, not in it.",
                 "Read so: ", "  ");
  return out;
}

}  // namespace assay::estimate
