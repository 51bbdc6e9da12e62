// SPDX-License-Identifier: Apache-2.0
// What the compile gates share.
#include "tests/gates/gate.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace assay::test {

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string{} : std::string(value);
}

Presence presence_of(const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const std::string state = environment("ASSAY_" + upper + "_STATE");
  Presence presence;
  presence.built = state == "built";
  if (presence.built) return presence;
  presence.sentence = state == "off" ? "the " + name + " module was turned off by ASSAY_" + upper + "=OFF"
                                     : "the " + name + " module was not built: its compiler was not found";
  const std::string required = "," + environment("ASSAY_REQUIRE") + ",";
  presence.required_but_missing = state != "off" && required.find("," + name + ",") != std::string::npos;
  return presence;
}

std::string module_path(const std::string& name) {
  return environment("ASSAY_BIN_DIR") + "/libassay-" + name + environment("ASSAY_MODULE_SUFFIX") + ".so";
}

const assay_backend* load_module(const std::string& name) {
  void* handle = dlopen(module_path(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  const auto entry = reinterpret_cast<assay_entry_fn>(dlsym(handle, ASSAY_ENTRY_SYMBOL));
  if (entry == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  return entry();
}

}  // namespace assay::test
