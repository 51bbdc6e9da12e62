// SPDX-License-Identifier: Apache-2.0
// Splitting a common run into its sides.
#include "suite/duel/duel.hpp"

#include <utility>

#include "results-schema/json/json.hpp"
#include "suite/run/consistency.hpp"

namespace assay::duel {
namespace {

RunDocument side_of(const RunDocument& both, std::size_t device, const char* ending) {
  RunDocument out = both;
  out.run.id += ending;
  out.plan.devices = {both.plan.devices[device]};
  out.devices = {both.devices[device]};
  if (both.run.plan_sha256)
    if (auto hash = run::plan_hash(out.plan)) out.run.plan_sha256 = *hash;
  json::finish(out);
  return out;
}

}  // namespace

Sides split(const RunDocument& both) {
  return {side_of(both, 0, "-a"), side_of(both, 1, "-b")};
}

Plan plan_of(const Plan& a, const Plan& b) {
  Plan out = a;
  out.devices = {a.devices.front(), b.devices.front()};
  out.devices[0].name = "a:" + out.devices[0].name;
  out.devices[1].name = "b:" + out.devices[1].name;
  return out;
}

}  // namespace assay::duel
