// SPDX-License-Identifier: Apache-2.0
// Documents of kind replay as JSON text, in and out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "results-schema/types/replay.hpp"
#include "results-schema/types/result.hpp"

namespace assay::json {

// As write_document and read_document (json.hpp).
Result<std::string> write_replay_document(const ReplayDocument& document);
Result<ReplayDocument> read_replay_document(std::string_view text, std::string_view name,
                                            std::string* warning = nullptr);

// One trace of such a document, as `assay replay --json` builds on it; and back, without a schema.
nlohmann::ordered_json to_json(const ReplayedTrace& trace);
Result<ReplayedTrace> read_replayed_trace(std::string_view text, std::string_view name);

}  // namespace assay::json
