// SPDX-License-Identifier: Apache-2.0
// A fake module: it executes nothing and states the identity, or misbehaves in the way, that ASSAY_CANNED names.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "backends/abi/assay_backend.h"
#include "tests/support/canned_identities.hpp"

namespace {

using assay::canned::Kind;

std::string situation() {
  const char* name = std::getenv("ASSAY_CANNED");
  return name == nullptr ? "" : name;
}

template <class Entry>
struct Stub;
template <class... Arguments>
struct Stub<assay_status (*)(Arguments...)> {
  static assay_status call(Arguments...) { return ASSAY_UNSUPPORTED; }
};

void hand_over(const assay::canned::Field& field, assay_field_sink sink, void* context) {
  assay_field out{};
  out.key = field.key.c_str();
  out.state = field.kind == Kind::unknown ? ASSAY_FIELD_UNKNOWN : ASSAY_FIELD_VALUE;
  out.type = field.kind == Kind::integer   ? ASSAY_TYPE_INTEGER
             : field.kind == Kind::boolean ? ASSAY_TYPE_BOOLEAN
                                           : ASSAY_TYPE_TEXT;
  out.integer = field.integer;
  out.text = field.text.c_str();
  out.source = "canned";
  sink(context, &out);
}

bool is_of_the_build(const std::string& key) {
  for (const char* known : {"backend", "platform", "toolkit_compiled", "compiler", "fp_flags", "embedded_targets"})
    if (key == known) return true;
  return false;
}

bool is_a_sensor(const std::string& key) {
  return key == "throttle_reasons" || key == "other_processes" || key == "other_load";
}

assay_status describe(assay_field_sink sink, void* context) {
  const auto name = situation();
  if (name == "crash") std::abort();
  if (name == "exit") ::_exit(9);
  while (name == "hang") ::usleep(10'000);
  for (const auto& field : assay::canned::fields_of(name == "no-device" || name == "device-crash" ? "h100" : name))
    if (is_of_the_build(field.key)) hand_over(field, sink, context);
  return ASSAY_OK;
}

assay_status device_count(int32_t* out) {
  const auto name = situation();
  *out = name == "no-device" ? 0 : 1;
  return name == "no-device" ? ASSAY_NO_DEVICE : ASSAY_OK;
}

assay_status device_open(int32_t ordinal, const assay_option*, size_t, assay_device** out) {
  if (situation() == "device-crash") std::abort();
  static int device = 0;
  if (ordinal != 0) return ASSAY_INVALID_VALUE;
  *out = reinterpret_cast<assay_device*>(&device);
  return ASSAY_OK;
}

assay_status device_close(assay_device*) {
  return ASSAY_OK;
}

assay_status device_identity(assay_device*, assay_field_sink sink, void* context) {
  for (const auto& field : assay::canned::fields_of(situation()))
    if (!is_of_the_build(field.key) && !is_a_sensor(field.key)) hand_over(field, sink, context);
  return ASSAY_OK;
}

assay_status device_sensors(assay_device*, assay_field_sink sink, void* context) {
  for (const auto& field : assay::canned::fields_of(situation()))
    if (is_a_sensor(field.key)) hand_over(field, sink, context);
  hand_over({"temperature_celsius", Kind::integer, "", 41}, sink, context);
  return ASSAY_OK;
}

const char* last_error() {
  return situation() == "no-device" ? "no driver is loaded" : "the fake module cannot do this";
}

assay_backend make_table() {
  assay_backend table{};
  table.size = sizeof table;
  table.abi_version = situation() == "other-version" ? ASSAY_ABI_VERSION + 1 : ASSAY_ABI_VERSION;
#define ASSAY_STUB(entry) table.entry = Stub<decltype(table.entry)>::call
  ASSAY_STUB(kernel_count), ASSAY_STUB(kernel_info), ASSAY_STUB(device_capability);
  ASSAY_STUB(device_synchronize), ASSAY_STUB(memory_info), ASSAY_STUB(malloc), ASSAY_STUB(free);
  ASSAY_STUB(host_malloc), ASSAY_STUB(host_free), ASSAY_STUB(stream_create), ASSAY_STUB(stream_destroy);
  ASSAY_STUB(stream_query), ASSAY_STUB(stream_synchronize), ASSAY_STUB(stream_wait_event), ASSAY_STUB(event_create);
  ASSAY_STUB(event_destroy), ASSAY_STUB(event_record), ASSAY_STUB(event_query), ASSAY_STUB(event_synchronize);
  ASSAY_STUB(event_elapsed), ASSAY_STUB(copy), ASSAY_STUB(fill), ASSAY_STUB(peer_copy), ASSAY_STUB(kernel_resources);
  ASSAY_STUB(launch), ASSAY_STUB(pool_create), ASSAY_STUB(pool_destroy), ASSAY_STUB(pool_malloc);
  ASSAY_STUB(pool_free), ASSAY_STUB(pool_trim), ASSAY_STUB(pool_get), ASSAY_STUB(pool_set);
  ASSAY_STUB(vmm_granularity), ASSAY_STUB(vmm_reserve), ASSAY_STUB(vmm_unreserve), ASSAY_STUB(vmm_create);
  ASSAY_STUB(vmm_release), ASSAY_STUB(vmm_map), ASSAY_STUB(vmm_unmap), ASSAY_STUB(graph_begin);
  ASSAY_STUB(graph_end), ASSAY_STUB(graph_launch), ASSAY_STUB(graph_destroy);
#undef ASSAY_STUB
  table.last_error = last_error;
  table.describe = describe;
  table.device_count = device_count;
  table.device_open = device_open;
  table.device_close = device_close;
  table.device_identity = device_identity;
  table.device_sensors = device_sensors;
  return table;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const assay_backend* assay_backend_entry_v1(void) {
  static const assay_backend table = make_table();
  return &table;
}
