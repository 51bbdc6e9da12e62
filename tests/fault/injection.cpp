// SPDX-License-Identifier: Apache-2.0
// Parsing and counting of injected faults.
#include "tests/fault/injection.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace assay::fault {
namespace {

enum class Action { status, hang, crash, abort };

struct Fault {
  std::size_t entry = kEntryCount;  // kEntryCount: any
  std::uint64_t call = 0;
  bool onwards = false;
  Action action = Action::status;
  assay_status status = ASSAY_OK;
};

struct Word {
  std::string_view text;
  Action action;
  assay_status status;
};
constexpr std::array kWords = {
    Word{"not_ready", Action::status, ASSAY_NOT_READY},
    Word{"invalid_value", Action::status, ASSAY_INVALID_VALUE},
    Word{"out_of_memory", Action::status, ASSAY_OUT_OF_MEMORY},
    Word{"map_limit", Action::status, ASSAY_MAP_LIMIT},
    Word{"no_device", Action::status, ASSAY_NO_DEVICE},
    Word{"unsupported", Action::status, ASSAY_UNSUPPORTED},
    Word{"kernel_fault", Action::status, ASSAY_KERNEL_FAULT},
    Word{"device_lost", Action::status, ASSAY_DEVICE_LOST},
    Word{"internal", Action::status, ASSAY_INTERNAL},
    Word{"hang", Action::hang, ASSAY_OK},
    Word{"crash", Action::crash, ASSAY_OK},
    Word{"abort", Action::abort, ASSAY_OK},
};

bool parse_entry(std::string_view text, Fault* out) {
  if (text == "any") return true;
  for (std::size_t i = 0; i < kEntryCount; ++i) {
    if (text != kEntryNames[i]) continue;
    out->entry = i;
    return true;
  }
  return false;
}

bool parse_call(std::string_view text, Fault* out) {
  if (!text.empty() && text.back() == '+') {
    out->onwards = true;
    text.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out->call);
  return error == std::errc{} && end == text.data() + text.size() && out->call > 0;
}

bool parse_kind(std::string_view text, Fault* out) {
  for (const Word& word : kWords) {
    if (text != word.text) continue;
    out->action = word.action;
    out->status = word.status;
    return true;
  }
  return false;
}

bool parse_fault(std::string_view text, Fault* out) {
  const auto first = text.find(':');
  if (first == std::string_view::npos) return false;
  const auto second = text.find(':', first + 1);
  if (second == std::string_view::npos) return false;
  return parse_entry(text.substr(0, first), out) && parse_call(text.substr(first + 1, second - first - 1), out) &&
         parse_kind(text.substr(second + 1), out);
}

// Under one mutex. Built for a test program: the variable is changed only while no other thread calls the module.
struct State {
  std::mutex mutex;
  std::string text;
  bool malformed = false;
  std::vector<Fault> faults;
  std::array<std::uint64_t, kEntryCount> calls{};
  std::uint64_t all_calls = 0;
  assay_status sticky = ASSAY_OK;

  void read(std::string_view now) {
    if (now == text) return;
    text = now;
    faults.clear();
    calls.fill(0);
    all_calls = 0;
    sticky = ASSAY_OK;
    malformed = false;
    for (std::string_view rest = text; !rest.empty();) {
      const auto comma = rest.find(',');
      Fault fault;
      if (!parse_fault(rest.substr(0, comma), &fault)) malformed = true;
      faults.push_back(fault);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
  }
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

thread_local char sentence[256] = "";

bool needs_device(Entry entry) {
  switch (entry) {
    case Entry::describe:
    case Entry::kernel_count:
    case Entry::kernel_info:
    case Entry::device_count:
      return false;
    default:
      return true;
  }
}

bool answers_when(assay_status sticky, Entry entry) {
  return sticky == ASSAY_OK || !needs_device(entry) || entry == Entry::device_close ||
         (sticky == ASSAY_KERNEL_FAULT && entry == Entry::memory_info);
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

std::optional<assay_status> answer(assay_status status, Entry entry, const char* why) {
  std::snprintf(sentence, sizeof sentence, "injected by ASSAY_FAULT: %s in %s", why,
                kEntryNames[static_cast<std::size_t>(entry)]);
  return status;
}

}  // namespace

std::optional<assay_status> before_call(Entry entry) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  const char* text = std::getenv("ASSAY_FAULT");
  s.read(text != nullptr ? text : "");
  sentence[0] = '\0';
  if (s.malformed) return answer(ASSAY_INVALID_VALUE, entry, "the variable is malformed; write ENTRY:N:KIND[,...]");
  const auto index = static_cast<std::size_t>(entry);
  ++s.calls[index];
  ++s.all_calls;
  if (!answers_when(s.sticky, entry)) return answer(s.sticky, entry, "the device failed earlier");
  for (const Fault& fault : s.faults) {
    if (fault.entry != kEntryCount && fault.entry != index) continue;
    const std::uint64_t call = fault.entry == kEntryCount ? s.all_calls : s.calls[index];
    if (call != fault.call && !(fault.onwards && call > fault.call)) continue;
    if (fault.action == Action::crash) ::raise(SIGSEGV);
    if (fault.action == Action::abort) std::abort();
    if (fault.action == Action::hang) {
      lock.unlock();  // only this call hangs
      hang();
    }
    if (fault.status == ASSAY_KERNEL_FAULT || fault.status == ASSAY_DEVICE_LOST) s.sticky = fault.status;
    return answer(fault.status, entry, "this call fails");
  }
  return std::nullopt;
}

const char* injected_sentence() {
  return sentence[0] != '\0' ? sentence : nullptr;
}

}  // namespace assay::fault
