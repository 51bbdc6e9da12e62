// SPDX-License-Identifier: Apache-2.0
// Graphs: the CPU has no submission to save, so none are offered.
#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"

namespace assay::host {
namespace {

assay_status unsupported() {
  return fail(ASSAY_UNSUPPORTED, "the host module has no graphs; use the timing modes events or wall");
}

}  // namespace

assay_status graph_begin(assay_stream* stream) noexcept {
  return guarded([&]() -> assay_status {
    const auto status = check("graph_begin", stream);
    return status != ASSAY_OK ? status : unsupported();
  });
}

assay_status graph_end(assay_stream* stream, assay_graph**) noexcept {
  return guarded([&]() -> assay_status {
    const auto status = check("graph_end", stream);
    return status != ASSAY_OK ? status : unsupported();
  });
}

assay_status graph_launch(assay_graph*, assay_stream* stream) noexcept {
  return guarded([&]() -> assay_status {
    const auto status = check("graph_launch", stream);
    return status != ASSAY_OK ? status : unsupported();
  });
}

assay_status graph_destroy(assay_graph*) noexcept {
  return unsupported();
}

}  // namespace assay::host
