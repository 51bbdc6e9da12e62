// SPDX-License-Identifier: Apache-2.0
// Libraries that are looked for at run time, and the file behind a symbol.
#pragma once

#include <functional>
#include <string>

namespace assay::gpu {

// The file that holds `symbol`: a shared library, or the module itself; empty when the dynamic linker knows none.
std::string library_path(const void* symbol);

// The file of a library that is already in the process, by its name; empty when it is not loaded.
std::string loaded_library_path(const char* name, const char* symbol);

// Finds a symbol by name; null when there is none.
using SymbolLookup = std::function<void*(const char* symbol)>;
// Loads a library by name; an empty function when it is not there. Tests hand in fake libraries here.
using LibraryLoader = std::function<SymbolLookup(const char* library)>;

// dlopen with RTLD_NOW | RTLD_LOCAL; a library that loads stays for the rest of the process.
SymbolLookup load_library(const char* library);

}  // namespace assay::gpu
