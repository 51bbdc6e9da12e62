// SPDX-License-Identifier: Apache-2.0
// Fields of the C table as values of the identity types.
#include "backends/device/fields.hpp"

#include <utility>

namespace assay::device {
namespace {

std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr || text[0] == '\0' ? otherwise : text;
}

IdentityField convert(const assay_field& field) {
  IdentityField out;
  out.key = text_or(field.key, "");
  out.source = text_or(field.source, "");
  switch (field.state) {
    case ASSAY_FIELD_VALUE:
      break;
    case ASSAY_FIELD_NOT_APPLICABLE:
      out.state = FieldState::not_applicable;
      out.reason = text_or(field.text, "the module gave no reason");
      return out;
    default:
      out.reason = text_or(field.text, "the module gave no reason");
      return out;
  }
  switch (field.type) {
    case ASSAY_TYPE_INTEGER:
      out.value = field.integer;
      break;
    case ASSAY_TYPE_BOOLEAN:
      out.value = field.integer != 0;
      break;
    case ASSAY_TYPE_TEXT:
      if (field.text != nullptr) {
        out.value = std::string(field.text);
        break;
      }
      out.reason = "the module gave a text field without its text";
      return out;
    default:
      out.reason = "the module gave a value of a type this program does not know";
      return out;
  }
  out.state = FieldState::value;
  return out;
}

}  // namespace

void FieldCollector::sink(void* context, const assay_field* field) noexcept {
  auto& self = *static_cast<FieldCollector*>(context);
  if (field == nullptr) return;
  try {
    self.fields_.push_back(convert(*field));
  } catch (...) {
    self.failure_ = std::current_exception();
  }
}

std::vector<IdentityField> FieldCollector::take() {
  if (failure_) std::rethrow_exception(failure_);
  return std::move(fields_);
}

}  // namespace assay::device
