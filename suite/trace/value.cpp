// SPDX-License-Identifier: Apache-2.0
// The arena of plain values.
#include "suite/trace/value.hpp"

namespace assay::trace {
namespace {

Value handle(ValueKind kind, std::size_t index) {
  Value value;
  value.kind = kind;
  value.index = index;
  return value;
}

}  // namespace

Value Arena::text(std::string_view content) {
  const auto found = known_texts_.find(content);
  if (found != known_texts_.end()) return handle(ValueKind::text, found->second);
  texts_.emplace_back(content);
  known_texts_.emplace(texts_.back(), texts_.size() - 1);
  return handle(ValueKind::text, texts_.size() - 1);
}

Value Arena::list() {
  lists_.emplace_back();
  return handle(ValueKind::list, lists_.size() - 1);
}

Value Arena::dictionary() {
  dictionaries_.emplace_back();
  return handle(ValueKind::dictionary, dictionaries_.size() - 1);
}

const Value* Arena::find(Value dictionary, std::string_view key) const {
  const auto& pairs = dictionary_of(dictionary);
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair)
    if (pair->first.kind == ValueKind::text && text_of(pair->first) == key) return &pair->second;
  return nullptr;
}

}  // namespace assay::trace
