// SPDX-License-Identifier: Apache-2.0
// The members of the estimate document, as members.hpp lists those of the others.
#pragma once

#include "results-schema/json/members.hpp"
#include "results-schema/types/estimate.hpp"

namespace assay::json::detail {

template <class A, Of<EstimateFigure> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("quantity", x.quantity);
  a("formula", x.formula);
  a("inputs", x.inputs);
}

template <class A, Of<EstimateLine> T>
void members(A& a, T& x) {
  a("group", x.group);
  a("part", x.part);
  a("dtype", x.dtype);
  a("tensors", x.tensors);
  a("file_bytes", x.file_bytes);
  a("resident_bytes", x.resident_bytes);
  a("loaded", x.loaded);
  a("why", x.why);
}

template <class A, Of<EstimateBody> T>
void members(A& a, T& x) {
  a("model", x.model);
  a("model_type", x.model_type);
  a("config_sha256", x.config_sha256);
  a("storage_format", x.storage_format);
  a("compute_format", x.compute_format);
  a("cache_dtype", x.cache_dtype);
  a("figures", x.figures);
  a("lines", x.lines);
  a("contradictions", x.contradictions);
  a("notes", x.notes);
  a("not_included", x.not_included);
}

template <class A, Of<EstimateDocument> T>
void members(A& a, T& x) {
  a("kind", x.kind);
  a("run", x.run);
  a("body", x.body);
  a("status", x.status);
  a("failures", x.failures);
}

}  // namespace assay::json::detail
