// SPDX-License-Identifier: Apache-2.0
// Lines and sums that summary and card share.
#include "suite/report/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/report/format.hpp"

namespace assay::report {

std::string_view to_text(DocumentStatus status) {
  switch (status) {
    case DocumentStatus::ok:
      return "ok";
    case DocumentStatus::partial:
      return "partial";
    case DocumentStatus::failed:
      return "failed";
  }
  return "partial";
}

std::string_view to_text(LaunchOutcome outcome) {
  switch (outcome) {
    case LaunchOutcome::ok:
      return "ok";
    case LaunchOutcome::failed:
      return "failed";
    case LaunchOutcome::crashed:
      return "crashed";
    case LaunchOutcome::hung:
      return "hung";
    case LaunchOutcome::interrupted:
      return "interrupted";
    case LaunchOutcome::running:
      return "running";
  }
  return "running";
}

std::string_view to_text(PhaseStatus status) {
  switch (status) {
    case PhaseStatus::ok:
      return "ok";
    case PhaseStatus::failed:
      return "failed";
    case PhaseStatus::partial:
      return "partial";
  }
  return "partial";
}

std::string_view to_text(KvKind kind) {
  switch (kind) {
    case KvKind::growing:
      return "growing";
    case KvKind::fixed:
      return "static";
    case KvKind::sliding_window:
      return "sliding_window";
  }
  return "static";
}

std::string field_text(const Identity& identity, std::string_view key) {
  const auto* field = identity.find(key);
  if (field == nullptr || field->state != FieldState::value)
    return field != nullptr && field->state == FieldState::not_applicable ? "not_applicable" : "unknown";
  if (const auto* text = std::get_if<std::string>(&field->value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&field->value)) return fmt::format("{}", *integer);
  return std::get<bool>(field->value) ? "yes" : "no";
}

namespace {

// "decoder-135m (llama: 30 layers, hidden 576, feed-forward 1536, 9 heads, 3 KV heads of 64, vocabulary 49152)".
std::string decoder_text(const Workload& w) {
  const auto& m = w.model;
  auto text = w.source.name.empty() || w.source.name == "dimensions" ? "decoder from given dimensions" : w.source.name;
  if (!w.source.path.empty() && w.source.path != w.source.name) text += " from " + w.source.path;
  text += fmt::format(" ({}: {} layers, hidden {}, feed-forward {}, {} heads, {} KV heads of {}, vocabulary {}",
                      m.model_type, m.layers, m.hidden_size, m.intermediate_size, m.query_heads, m.kv_heads, m.head_dim,
                      m.vocabulary);
  if (m.sliding_window > 0) text += fmt::format(", window {}", m.sliding_window);
  return text + ")";
}

// "f32 storage (torch_dtype of the model)".
std::string storage_text(const Workload& w) {
  auto text = w.storage_dtype + " storage";
  if (w.dtype_from == "torch_dtype") text += " (torch_dtype of the model)";
  return text;
}

// Samples this far apart, as a share of their median, are called wide: then the median alone says little.
constexpr double kWideSpread = 0.2;

}  // namespace

std::string workload_line(const Workload& w) {
  const bool decoder = w.kind == WorkloadKind::decoder;
  const auto name = decoder ? decoder_text(w) : fmt::format("dense network {} x {}", w.depth, w.width);
  auto line = fmt::format("{}, load {}: batch {}, {} {}", name, w.load_name, w.batch, decoder ? "prompt" : "context",
                          w.prompt_tokens);
  if (decoder) line += fmt::format(", decode {}, KV {}", w.decode_tokens, to_text(w.kv));
  line += fmt::format(", {}, {} compute, {} warm-up{}, {} repeat{}, seed {}", storage_text(w), w.compute_dtype,
                      w.warmups, w.warmups == 1 ? "" : "s", w.repeats, w.repeats == 1 ? "" : "s", w.seed);
  if (w.empty_cache) line += ", cache emptied between phases";
  if (w.occupy_bytes > 0) line += fmt::format(", {} occupied outside the allocator", binary_bytes(w.occupy_bytes));
  return line;
}

std::string device_line(const DeviceSection& device) {
  const auto& id = device.identity;
  const auto product = field_text(id, is_cpu(device) ? "cpu" : "device_name");
  return fmt::format("{}: {} {}, backend {}, execution {}, {}", device.name, field_text(id, "platform"),
                     field_text(id, "arch"), field_text(id, "backend"), field_text(id, "execution"), product);
}

bool is_cpu(const DeviceSection& device) {
  return field_text(device.identity, "platform") == "cpu";
}

LedgerVerdict ledger_verdict(const Launch& launch) {
  LedgerVerdict verdict;
  for (const auto& phase : launch.phases) {
    for (const auto* ledger : {&phase.ledger_start, &phase.ledger_end}) {
      if (!ledger->has_value()) continue;
      ++verdict.checkpoints;
      if ((*ledger)->balanced) {
        ++verdict.balanced;
        continue;
      }
      for (const auto& equation : (*ledger)->equations) {
        if (equation.balanced || !equation.difference.has_value()) continue;
        const auto* off = std::get_if<std::int64_t>(&equation.difference.value);
        verdict.problems.push_back(
            off != nullptr && *off != 0
                ? fmt::format("{}: {} is off by {} bytes", (*ledger)->checkpoint, equation.text, *off)
                : fmt::format("{}: {}: two readings of one term differ", (*ledger)->checkpoint, equation.text));
      }
    }
  }
  return verdict;
}

std::vector<const Launch*> launches_of(const DeviceSection& device, std::int64_t workload) {
  std::vector<const Launch*> out;
  for (const auto& launch : device.launches)
    if (launch.workload == workload) out.push_back(&launch);
  std::stable_sort(out.begin(), out.end(), [](const Launch* a, const Launch* b) { return a->index < b->index; });
  return out;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<SampleSummary> sample_summaries(const DeviceSection& device, std::int64_t workload) {
  std::vector<SampleSummary> out;
  std::vector<std::vector<double>> values;
  for (const Launch* launch : launches_of(device, workload)) {
    if (launch->outcome != LaunchOutcome::ok) continue;
    for (const auto& series : launch->samples) {
      const auto known = std::find_if(out.begin(), out.end(), [&](const auto& s) { return s.name == series.name; });
      const auto at = static_cast<std::size_t>(known - out.begin());
      if (known == out.end()) {
        out.push_back({series.name, series.unit});
        values.emplace_back();
      }
      values[at].insert(values[at].end(), series.values.begin(), series.values.end());
      out[at].flagged += static_cast<std::size_t>(
          std::count_if(series.flags.begin(), series.flags.end(), [](const auto& flag) { return !flag.empty(); }));
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].count = values[i].size();
    if (values[i].empty()) continue;
    out[i].median = median(values[i]);
    const auto [low, high] = std::minmax_element(values[i].begin(), values[i].end());
    out[i].minimum = *low;
    out[i].maximum = *high;
  }
  std::erase_if(out, [](const SampleSummary& sample) { return sample.count == 0; });
  return out;
}

std::string sample_label(std::string_view name) {
  if (name == "time_to_first_token") return "Time to first token";
  if (name == "decode_tokens_per_second") return "Decoded tokens per second, all sequences";
  if (name == "prefill_tokens_per_second") return "Prefill tokens per second, all sequences";
  std::string label(name);
  std::replace(label.begin(), label.end(), '_', ' ');
  if (!label.empty() && label[0] >= 'a' && label[0] <= 'z') label[0] = static_cast<char>(label[0] - 'a' + 'A');
  return label;
}

std::string sample_text(const SampleSummary& sample) {
  const auto value = [&](double x) { return sample.unit == "ns" ? duration(x) : number(x); };
  auto text = value(sample.median);
  if (sample.unit != "ns" && sample.unit != "1" && !sample.unit.empty()) text += " " + sample.unit;
  text += sample.count == 1
              ? " (1 sample)"
              : fmt::format(" (median of {}, {} to {})", sample.count, value(sample.minimum), value(sample.maximum));
  const double spread = sample.median > 0 ? (sample.maximum - sample.minimum) / sample.median : 0;
  if (sample.count > 1 && spread > kWideSpread)
    text += fmt::format(", WIDE: spread {:.0f} % of the median", spread * 100);
  if (sample.flagged > 0) text += fmt::format(", {} flagged", sample.flagged);
  return text;
}

}  // namespace assay::report
