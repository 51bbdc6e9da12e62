// SPDX-License-Identifier: Apache-2.0
// Value: plain data (numbers, strings, lists, dictionaries) in one arena, as a pickle or a JSON snapshot holds it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::trace {

enum class ValueKind : std::uint8_t { none, boolean, integer, real, text, list, dictionary };

// A value is a handle: containers and texts live in the arena and may be shared, even in a circle, without being owned.
struct Value {
  ValueKind kind = ValueKind::none;
  union {
    std::int64_t integer = 0;  // also boolean
    double real;
    std::uint64_t index;  // of text, list, dictionary
  };
};

class Arena {
 public:
  using List = std::vector<Value>;
  using Dictionary = std::vector<std::pair<Value, Value>>;  // in file order

  [[nodiscard]] static Value integer(std::int64_t number) {
    Value value;
    value.kind = ValueKind::integer;
    value.integer = number;
    return value;
  }
  [[nodiscard]] static Value boolean(bool truth) {
    Value value = integer(truth ? 1 : 0);
    value.kind = ValueKind::boolean;
    return value;
  }
  [[nodiscard]] static Value real(double number) {
    Value value;
    value.kind = ValueKind::real;
    value.real = number;
    return value;
  }
  // Equal texts share one place: a trace repeats the same few keys millions of times.
  Value text(std::string_view content);
  Value list();
  Value dictionary();

  [[nodiscard]] std::string_view text_of(Value value) const { return texts_[value.index]; }
  [[nodiscard]] const List& list_of(Value value) const { return lists_[value.index]; }
  [[nodiscard]] List& list_of(Value value) { return lists_[value.index]; }
  [[nodiscard]] const Dictionary& dictionary_of(Value value) const { return dictionaries_[value.index]; }
  [[nodiscard]] Dictionary& dictionary_of(Value value) { return dictionaries_[value.index]; }

  // The value under `key`, or nullptr; the last one wins, as in Python.
  [[nodiscard]] const Value* find(Value dictionary, std::string_view key) const;

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint64_t> known_texts_;
  std::deque<List> lists_;
  std::deque<Dictionary> dictionaries_;
};

}  // namespace assay::trace
