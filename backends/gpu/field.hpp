// SPDX-License-Identifier: Apache-2.0
// FieldWriter: hands identity and sensor fields to the sink of the device table, one typed call per state.
#pragma once

#include <cstdint>
#include <string>

#include "backends/abi/assay_backend.h"

namespace assay::gpu {

// Keys are those of the registry in results-schema/types. Strings need to live only for the call.
class FieldWriter {
 public:
  FieldWriter(assay_field_sink sink, void* context) : sink_(sink), context_(context) {}

  void text(const char* key, const std::string& value, const char* source) const {
    emit(key, ASSAY_FIELD_VALUE, ASSAY_TYPE_TEXT, 0, value.c_str(), source);
  }
  void integer(const char* key, std::int64_t value, const char* source) const {
    emit(key, ASSAY_FIELD_VALUE, ASSAY_TYPE_INTEGER, value, "", source);
  }
  void boolean(const char* key, bool value, const char* source) const {
    emit(key, ASSAY_FIELD_VALUE, ASSAY_TYPE_BOOLEAN, value ? 1 : 0, "", source);
  }
  void not_applicable(const char* key, const std::string& reason, const char* source) const {
    emit(key, ASSAY_FIELD_NOT_APPLICABLE, ASSAY_TYPE_TEXT, 0, reason.c_str(), source);
  }
  void unknown(const char* key, const std::string& reason, const char* source) const {
    emit(key, ASSAY_FIELD_UNKNOWN, ASSAY_TYPE_TEXT, 0, reason.c_str(), source);
  }

 private:
  void emit(const char* key, std::int32_t state, std::int32_t type, std::int64_t integer, const char* text,
            const char* source) const {
    const assay_field field{key, state, type, integer, text, source};
    sink_(context_, &field);
  }

  assay_field_sink sink_;
  void* context_;
};

}  // namespace assay::gpu
