// SPDX-License-Identifier: Apache-2.0
// From the types to JSON values and back. Encoding never fails; decoding refuses what does not fit its type.
#pragma once

#include <cstdint>
#include <string_view>

#include "results-schema/json/guard.hpp"
#include "results-schema/types/compare.hpp"
#include "results-schema/types/document.hpp"
#include "results-schema/types/estimate.hpp"
#include "results-schema/types/replay.hpp"

namespace assay::json::detail {

// Doubles represent every integer up to here: the largest magnitude an integer in a document may have.
inline constexpr std::int64_t kMaxInteger = (std::int64_t{1} << 53) - 1;

Json encode(const RunDocument& document);
Json encode(const ReplayDocument& document);
Json encode(const ReplayedTrace& trace);
Json encode(const EstimateDocument& document);
Json encode(const CompareDocument& document);
Json encode(const Comparison& comparison);
Json encode(const Plan& plan);
Json encode(const Identity& identity);
Json encode(const JournalEntry& entry);

// `name` is what messages call the input. Keys that the type does not have are skipped: the schema decides about them.
// Errors: bad_input with the JSON pointer of the first value that does not fit.
Result<RunDocument> decode_document(const Json& value, std::string_view name);
Result<ReplayedTrace> decode_replayed_trace(const Json& value, std::string_view name);
Result<ReplayDocument> decode_replay(const Json& value, std::string_view name);
Result<CompareDocument> decode_compare(const Json& value, std::string_view name);
Result<Plan> decode_plan(const Json& value, std::string_view name);
Result<Identity> decode_identity(const Json& value, std::string_view name);
Result<JournalEntry> decode_entry(const Json& value, std::string_view name);

}  // namespace assay::json::detail
