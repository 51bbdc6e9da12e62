// SPDX-License-Identifier: Apache-2.0
// Loading a module and reading what it states without a device.
#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "backends/device/device.hpp"
#include "backends/device/fields.hpp"

namespace assay::device {
namespace {

Error not_a_module(const std::string& path, const std::string& reason) {
  return Error{ErrorCode::bad_input, "module " + path + " cannot be used: " + reason};
}

// Nothing but size and abi_version may be read before both are known to fit.
Result<void> check_table(const assay_backend* table, const std::string& path) {
  if (table == nullptr) return not_a_module(path, "its entry returned no table; rebuild the module");
  if (table->abi_version != ASSAY_ABI_VERSION)
    return not_a_module(path, "it has version " + std::to_string(table->abi_version) +
                                  " of the device table and this program needs version " +
                                  std::to_string(ASSAY_ABI_VERSION) + "; build both from the same source");
  if (table->size < sizeof(assay_backend))
    return not_a_module(path, "its device table has " + std::to_string(table->size) + " bytes and this program needs " +
                                  std::to_string(sizeof(assay_backend)) + "; build both from the same source");
  return {};
}

}  // namespace

Result<Module> Module::load(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status))
    return Error{ErrorCode::no_device, "module " + path +
                                           " is not there: " + (code ? code.message() : std::string("no such file")) +
                                           "; give the path of a libassay-<name>.so"};
  if (std::filesystem::is_directory(status))
    return Error{ErrorCode::no_device, "module " + path + " is a folder; give the path of a libassay-<name>.so"};
  // A name without a slash would be searched in the library path instead of the working directory.
  const std::string exact = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = ::dlopen(exact.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return Error{ErrorCode::no_device,
                 "module " + path + " does not load: " + (reason != nullptr ? reason : "the loader gave no reason")};
  }
  void* symbol = ::dlsym(library, ASSAY_ENTRY_SYMBOL);
  if (symbol == nullptr)
    return not_a_module(path, std::string("it has no symbol ") + ASSAY_ENTRY_SYMBOL +
                                  ", so it is no Assay module, or one of another version of the device table");
  assay_entry_fn entry = nullptr;
  static_assert(sizeof entry == sizeof symbol);
  std::memcpy(&entry, &symbol, sizeof entry);
  const assay_backend* table = entry();
  if (auto checked = check_table(table, path); !checked) return checked.error();
  return Module(table, path);
}

Result<Module> Module::wrap(const assay_backend* table) {
  if (auto checked = check_table(table, "in this process"); !checked) return checked.error();
  return Module(table, "");
}

Result<std::vector<IdentityField>> Module::describe() const {
  FieldCollector collector;
  if (const auto status = table_->describe(&FieldCollector::sink, &collector); status != ASSAY_OK)
    return error_from(*table_, status, "describing the module");
  return collector.take();
}

Result<std::int32_t> Module::device_count() const {
  std::int32_t count = 0;  // a runtime may leave it unwritten when it fails
  if (const auto status = table_->device_count(&count); status != ASSAY_OK)
    return error_from(*table_, status, "counting devices");
  return count;
}

Result<std::vector<assay_kernel_info>> Module::kernels() const {
  std::int32_t count = 0;
  if (const auto status = table_->kernel_count(&count); status != ASSAY_OK)
    return error_from(*table_, status, "counting kernels");
  std::vector<assay_kernel_info> out;
  for (std::int32_t index = 0; index < count; ++index) {
    assay_kernel_info info{};
    if (const auto status = table_->kernel_info(index, &info); status != ASSAY_OK)
      return error_from(*table_, status, "reading kernel " + std::to_string(index));
    out.push_back(info);
  }
  return out;
}

Result<std::int32_t> Module::find_kernel(std::string_view name, std::string_view dtype,
                                         std::string_view implementation) const {
  const auto list = kernels();
  if (!list) return list.error();
  std::int32_t index = 0;
  for (const auto& info : *list) {
    if (name == info.name && dtype == info.dtype && implementation == info.implementation) return index;
    ++index;
  }
  return Error{ErrorCode::unsupported, "kernel " + std::string(name) + " for " + std::string(dtype) + " (" +
                                           std::string(implementation) + ") is not in this module"};
}

}  // namespace assay::device
