// SPDX-License-Identifier: Apache-2.0
// Contract of what a module and a device state about themselves, and of the sentence behind a failure.
#pragma once

#include <set>
#include <string>
#include <thread>

#include "results-schema/types/identity_fields.hpp"
#include "tests/contract/parts/fixture.hpp"

namespace assay::contract {

inline void expect_sane_fields(const std::vector<IdentityField>& fields) {
  std::set<std::string> keys;
  for (const auto& field : fields) {
    EXPECT_TRUE(find_rule(field.key) != nullptr || find_sensor(field.key) != nullptr)
        << field.key << " is no key of the registry";
    EXPECT_TRUE(keys.insert(field.key).second) << field.key << " is stated twice";
    if (field.state == FieldState::value) {
      EXPECT_FALSE(field.source.empty()) << field.key << " does not say where it was read";
    } else {
      EXPECT_FALSE(field.reason.empty()) << field.key << " is missing without a reason";
    }
  }
}

inline std::string text_of(const std::vector<IdentityField>& fields, std::string_view key) {
  for (const auto& field : fields)
    if (field.key == key && field.state == FieldState::value)
      if (const auto* text = std::get_if<std::string>(&field.value)) return *text;
  return "";
}

TEST_P(BackendContract, TheModuleNamesItsBackendAndPlatform) {
  const auto fields = module().describe();
  ASSERT_TRUE(fields) << fields.error().text;
  expect_sane_fields(*fields);
  const std::string backend = text_of(*fields, "backend");
  const std::string platform = text_of(*fields, "platform");
  EXPECT_TRUE(backend == "host" || backend == "cuda" || backend == "hip") << backend;
  EXPECT_TRUE(platform == "cpu" || platform == "nvidia" || platform == "amd") << platform;
  EXPECT_EQ(backend == "host", platform == "cpu");
}

TEST_P(BackendContract, TheDeviceStatesItsIdentityTheSameTwice) {
  const auto first = device().identity();
  const auto second = device().identity();
  ASSERT_TRUE(first) << first.error().text;
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_FALSE(first->empty());
  expect_sane_fields(*first);
  ASSERT_EQ(first->size(), second->size());
  for (std::size_t i = 0; i < first->size(); ++i) EXPECT_EQ((*first)[i].key, (*second)[i].key);
}

TEST_P(BackendContract, SensorsAnswer) {
  const auto fields = device().sensors();
  ASSERT_TRUE(fields) << fields.error().text;
  expect_sane_fields(*fields);
}

TEST_P(BackendContract, CapabilitiesAreAnsweredAndOthersRefused) {
  for (const std::int32_t capability :
       {ASSAY_CAPABILITY_POOL, ASSAY_CAPABILITY_VMM, ASSAY_CAPABILITY_GRAPH, ASSAY_CAPABILITY_PEER}) {
    std::int32_t supported = -1;
    ASSAY_EXPECT_OK(table().device_capability(handle(), capability, &supported));
    EXPECT_TRUE(supported == 0 || supported == 1) << capability;
  }
  std::int32_t untouched = -1;
  ASSAY_EXPECT_STATUS(table().device_capability(handle(), 99, &untouched), ASSAY_INVALID_VALUE);
  EXPECT_EQ(untouched, -1);
}

TEST_P(BackendContract, EveryEntryOfTheTableIsThere) {
  // The table is two numbers and then pointers only, which must all be set.
  const auto* entries = reinterpret_cast<void* const*>(&table().last_error);
  const std::size_t count = (sizeof(assay_backend) - offsetof(assay_backend, last_error)) / sizeof(void*);
  for (std::size_t i = 0; i < count; ++i) EXPECT_NE(entries[i], nullptr) << "entry " << i;
}

TEST_P(BackendContract, TheSentenceOfAFailureBelongsToItsThread) {
  void* out = nullptr;
  ASSAY_EXPECT_STATUS(table().malloc(handle(), 0, ASSAY_OWNER_EXTERNAL, &out), ASSAY_INVALID_VALUE);
  const std::string mine = table().last_error();
  std::string others;
  std::thread([&] {
    assay_event* e = nullptr;
    EXPECT_EQ(table().event_create(handle(), 0xFFFF0000u, &e), ASSAY_INVALID_VALUE);
    others = table().last_error();
  }).join();
  EXPECT_EQ(mine, table().last_error());
  EXPECT_FALSE(others.empty());
  EXPECT_NE(mine, others);
  for (const auto& sentence : {mine, others}) EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
}

}  // namespace assay::contract
