// SPDX-License-Identifier: Apache-2.0
// From launches to values: the median of a launch's samples is its one value, flagged launches are left out visibly.
#include "suite/compare/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "suite/report/counters.hpp"
#include "suite/report/facts.hpp"
#include "suite/stats/summary.hpp"

namespace assay::compare {
namespace {

std::string model_of(const Workload& w) {
  if (w.kind == WorkloadKind::dense) return fmt::format("dense {} x {}", w.depth, w.width);
  const auto& m = w.model;
  return fmt::format("{} hidden, {} inner, {} layers, {}/{} heads of {}, {} words, window {}, {} embeddings, bias {}",
                     m.hidden_size, m.intermediate_size, m.layers, m.query_heads, m.kv_heads, m.head_dim, m.vocabulary,
                     m.sliding_window, m.tied_embeddings ? "tied" : "separate", m.attention_bias ? "yes" : "no");
}

std::vector<std::pair<std::string, std::string>> things_of(const Workload& w) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  return {{"kind", w.kind == WorkloadKind::dense ? "dense" : "decoder"},
          {"load", w.load_name},
          {"model", model_of(w)},
          {"storage dtype", w.storage_dtype},
          {"compute dtype", w.compute_dtype},
          {"batch", number(w.batch)},
          {"prompt", number(w.prompt_tokens)},
          {"decode", number(w.decode_tokens)},
          {"kv", std::string(report::to_text(w.kv))},
          {"warm-ups", number(w.warmups)},
          {"seed", number(w.seed)},
          {"cache emptied", w.empty_cache ? "yes" : "no"},
          {"occupied bytes", number(w.occupy_bytes)},
          {"timing mode", "wall"}};
}

std::string board_of(const Part& part) {
  const auto uuid = report::field_text(part.section->identity, "uuid");
  return uuid == "unknown" || uuid == "not_applicable" ? part.source->path + " " + part.section->name : uuid;
}

bool is_rate(const std::string& unit) {
  return unit.ends_with("/s");
}

// Kernels are checked before anything is launched: where one is wrong, nothing this device computes is believed.
std::string wrong_check(const DeviceSection& section) {
  for (const auto& checked : section.cases)
    if (checked.status == CaseStatus::wrong)
      return fmt::format("{} on {} differs from its reference", checked.name, section.name);
  return {};
}

// Name and things in one text, for maps.
std::string text_of(const CaseKey& key) {
  std::string text = key.name;
  for (const auto& [thing, value] : key.things) text += '\n' + thing + '\t' + value;
  return text;
}

class Collector {
 public:
  void add(const Part& part, CaseKey key, const SampleSeries& samples, LaunchValue value, bool anchor,
           const std::string& wrong) {
    auto& timed = find(std::move(key), samples, anchor);
    if (!wrong.empty() && timed.wrong.empty()) timed.wrong = wrong;
    value.board = board_of(part);
    const auto leave_out = [&](std::string why) { timed.left_out.push_back({value.id, std::move(why)}); };
    if (samples.values.empty()) return leave_out("it has no sample");
    const auto flagged =
        std::count_if(samples.flags.begin(), samples.flags.end(), [](const auto& flag) { return !flag.empty(); });
    if (static_cast<double>(flagged) > kMostFlagged * static_cast<double>(samples.values.size()))
      return leave_out(fmt::format(
          "{} of {} samples are flagged: {}", flagged, samples.values.size(),
          *std::find_if(samples.flags.begin(), samples.flags.end(), [](const auto& flag) { return !flag.empty(); })));
    value.median = stats::median(samples.values);
    if (!(value.median > 0) || !std::isfinite(value.median)) return leave_out("its median is not above zero");
    timed.launches.push_back(std::move(value));
  }

  std::vector<TimedCase> take() {
    for (auto& timed : cases_)
      std::stable_sort(timed.launches.begin(), timed.launches.end(), [](const LaunchValue& a, const LaunchValue& b) {
        return std::tie(a.started_at, a.order) < std::tie(b.started_at, b.order);
      });
    return std::move(cases_);
  }

 private:
  TimedCase& find(CaseKey key, const SampleSeries& samples, bool anchor) {
    const auto [at, fresh] = places_.emplace(text_of(key), cases_.size());
    if (!fresh) return cases_[at->second];
    TimedCase timed;
    timed.key = std::move(key);
    timed.unit = samples.unit;
    timed.better = is_rate(samples.unit) ? Better::higher : Better::lower;
    timed.anchor = anchor;
    return cases_.emplace_back(std::move(timed));
  }

  std::vector<TimedCase> cases_;
  std::map<std::string, std::size_t> places_;
};

void add_launches(Collector& collector, const Part& part, const std::string& wrong) {
  const auto& plan = part.source->document.plan;
  std::vector<CaseKey> keys;
  for (const auto& workload : plan.workloads) keys.push_back({workload_name(workload), things_of(workload)});
  for (const auto& launch : part.section->launches) {
    if (launch.outcome != LaunchOutcome::ok) continue;
    const auto& base = keys[static_cast<std::size_t>(launch.workload)];
    const LaunchValue value{launch_id(*part.source, launch), launch.started_at, launch.order, 0, {}};
    for (const auto& samples : launch.samples) {
      const bool anchor = samples.name == kAnchor;
      // The copy is the same whatever the workload beside it was.
      CaseKey key = anchor ? CaseKey{kAnchor, {{"timing mode", "wall"}}} : base;
      if (!anchor) key.name += ": " + samples.name;
      collector.add(part, std::move(key), samples, value, anchor, wrong);
    }
  }
}

// Kernel cases stand beside the launches, once a document: the document's process is their launch.
void add_kernel_cases(Collector& collector, const Part& part) {
  for (const auto& checked : part.section->cases) {
    const std::string wrong =
        checked.status == CaseStatus::wrong ? checked.name + " differs from its reference" : std::string();
    for (const auto& samples : checked.samples) {
      CaseKey key{checked.name + ": " + samples.name,
                  {{"kernel", checked.kernel},
                   {"dtype", checked.dtype},
                   {"implementation", checked.implementation},
                   {"kernel source version", fmt::format("{}", checked.source_version)}}};
      const LaunchValue value{part.source->document.run.id, part.source->document.run.started_at, 0, 0, {}};
      collector.add(part, std::move(key), samples, value, checked.kernel == "copy", wrong);
    }
  }
}

struct Peak {
  const char* counter;
  const char* text;
};
constexpr std::array kPeaks{Peak{"allocated_bytes.all.peak", "peak allocated"},
                            Peak{"requested_bytes.all.peak", "peak requested"},
                            Peak{"reserved_bytes.all.peak", "peak reserved"}};

bool is_exact(const Phase& phase, const char* name) {
  return std::any_of(phase.end.begin(), phase.end.end(), [&](const Counter& counter) {
    return counter.name == name && counter.perimeter == "allocator" && counter.exactness == Exactness::exact;
  });
}

}  // namespace

std::string difference(const CaseKey& a, const CaseKey& b) {
  std::string out;
  for (std::size_t i = 0; i < std::max(a.things.size(), b.things.size()); ++i) {
    static const std::pair<std::string, std::string> none;
    const auto& left = i < a.things.size() ? a.things[i] : none;
    const auto& right = i < b.things.size() ? b.things[i] : none;
    if (left == right && !left.second.empty()) continue;
    const auto shown = [](const std::string& text) { return text.empty() ? std::string("unknown") : text; };
    out += fmt::format("{}{} {} and {}", out.empty() ? "" : "; ", left.first.empty() ? right.first : left.first,
                       shown(left.second), shown(right.second));
  }
  return out;
}

std::string workload_name(const Workload& w) {
  if (w.kind == WorkloadKind::dense)
    return fmt::format("dense {}x{} {} b{} c{} {}", w.depth, w.width, w.load_name, w.batch, w.prompt_tokens,
                       w.storage_dtype);
  return fmt::format("{} {} b{} p{} d{} {} {}", w.source.name.empty() ? "decoder" : w.source.name, w.load_name, w.batch,
                     w.prompt_tokens, w.decode_tokens, w.storage_dtype, report::to_text(w.kv));
}

std::vector<TimedCase> timed_cases(const Series& series) {
  Collector collector;
  for (const auto& part : series.parts) {
    add_launches(collector, part, wrong_check(*part.section));
    add_kernel_cases(collector, part);
  }
  return collector.take();
}

std::vector<MemoryCase> memory_cases(const Series& series) {
  std::vector<MemoryCase> out;
  std::map<std::string, std::size_t> places;
  for (const auto& part : series.parts) {
    const auto& workloads = part.source->document.plan.workloads;
    for (const auto& launch : part.section->launches) {
      const auto& workload = workloads[static_cast<std::size_t>(launch.workload)];
      const auto name = workload_name(workload);
      for (const auto& phase : launch.phases) {
        if (phase.status != PhaseStatus::ok) continue;
        for (const auto& peak : kPeaks) {
          const auto bytes = report::counter(phase.end, peak.counter, "allocator");
          if (!bytes || !is_exact(phase, peak.counter)) continue;
          CaseKey key{fmt::format("{}: {}, {}", name, phase.name, peak.text), things_of(workload)};
          const auto [at, fresh] = places.emplace(text_of(key), out.size());
          if (fresh) out.push_back({std::move(key), peak.counter, *bytes});
          auto& known = out[at->second];
          known.highest = std::max(known.highest, *bytes);
        }
      }
    }
  }
  return out;
}

}  // namespace assay::compare
