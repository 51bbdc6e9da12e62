// SPDX-License-Identifier: Apache-2.0
// Libraries that are looked for at run time.
#include "backends/gpu/library.hpp"

#include <dlfcn.h>

namespace assay::gpu {

std::string library_path(const void* symbol) {
  Dl_info info{};
  if (symbol == nullptr || ::dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

std::string loaded_library_path(const char* name, const char* symbol) {
  void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  std::string path = library_path(::dlsym(handle, symbol));
  ::dlclose(handle);  // only the extra reference that RTLD_NOLOAD took
  return path;
}

SymbolLookup load_library(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {};
  return [handle](const char* symbol) { return ::dlsym(handle, symbol); };
}

}  // namespace assay::gpu
