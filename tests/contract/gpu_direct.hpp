// SPDX-License-Identifier: Apache-2.0
// What the direct tests of the GPU modules' shared source share: both simulated vendors, a device of a fresh world.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "backends/gpu/table.hpp"
#include "kernels/copy/params.hpp"
#include "tests/support/sim_runtime.hpp"

namespace assay::test {

using Vendors = testing::Types<SimNvidia, SimAmd>;

// Fields by key: the text of a value (numbers in decimal), "unknown: reason" or "n/a: reason".
using Fields = std::map<std::string, std::string>;
inline void collect_field(void* context, const assay_field* field) {
  auto& fields = *static_cast<Fields*>(context);
  EXPECT_EQ(fields.count(field->key), 0U) << field->key << " is stated twice";
  auto& text = fields[field->key];
  if (field->state == ASSAY_FIELD_VALUE)
    text = field->type == ASSAY_TYPE_TEXT ? field->text : std::to_string(field->integer);
  else
    text = (field->state == ASSAY_FIELD_UNKNOWN ? "unknown: " : "n/a: ") + std::string(field->text);
}

template <class Rt>
class GpuSource : public testing::Test {
 protected:
  static constexpr std::size_t unit = std::size_t{2} << 20;

  GpuSource() { world().reset(); }
  ~GpuSource() override {
    EXPECT_EQ(world().violations(), 0) << "the default stream, a foreign stream, or a call that a capture forbids";
    world().reset();
  }
  static SimWorld& world() { return Rt::world(); }
  static const assay_backend& table() { return gpu::backend_table<Rt>; }
  static std::string last_error() { return table().last_error(); }

  assay_device* open() {
    assay_device* device = nullptr;
    EXPECT_EQ(table().device_open(0, nullptr, 0, &device), ASSAY_OK) << last_error();
    return device;
  }
  assay_stream* stream(assay_device* device) {
    assay_stream* out = nullptr;
    EXPECT_EQ(table().stream_create(device, 0, &out), ASSAY_OK) << last_error();
    return out;
  }
  Fields identity(assay_device* device) {
    Fields fields;
    EXPECT_EQ(table().device_identity(device, &collect_field, &fields), ASSAY_OK) << last_error();
    return fields;
  }
  static std::int32_t copy_kernel() {
    std::int32_t count = 0;
    EXPECT_EQ(table().kernel_count(&count), ASSAY_OK);
    for (std::int32_t i = 0; i < count; ++i) {
      assay_kernel_info info{};
      EXPECT_EQ(table().kernel_info(i, &info), ASSAY_OK);
      if (std::string(info.name) == "copy" && std::string(info.dtype) == "f32") return i;
    }
    return -1;
  }
};

}  // namespace assay::test
