// SPDX-License-Identifier: Apache-2.0
// What the compile gates share: whether a module was built, and loading it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "backends/abi/assay_backend.h"

namespace assay::test {

// Skips the calling test when the module is not there, with the reason; fails when ASSAY_REQUIRE names it, unless the
// build turned it off by name.
#define ASSAY_NEED_MODULE(name)                                                \
  do {                                                                         \
    const ::assay::test::Presence presence = ::assay::test::presence_of(name); \
    if (presence.required_but_missing) FAIL() << presence.sentence;            \
    if (!presence.built) GTEST_SKIP() << presence.sentence;                    \
  } while (false)

struct Presence {
  bool built = false;
  bool required_but_missing = false;
  std::string sentence;
};
Presence presence_of(const std::string& name);

std::string module_path(const std::string& name);

// Null, with a failed expectation, when the module does not load. Never unloaded.
const assay_backend* load_module(const std::string& name);

// An environment variable, or an empty text.
std::string environment(const std::string& name);

}  // namespace assay::test
