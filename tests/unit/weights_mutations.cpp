// SPDX-License-Identifier: Apache-2.0
// Ten thousand damaged headers: read or refused in one sentence, never a crash, never 64 MiB of memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <random>

#include "suite/weights/gguf.hpp"
#include "suite/weights/index.hpp"
#include "suite/weights/safetensors.hpp"
#include "tests/support/weight_files.hpp"

namespace {
std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};
constexpr std::size_t kHead = 16;
}  // namespace

// Every allocation of this program, counted: the size stands in front of the block.
void* operator new(std::size_t size) {
  auto* block = static_cast<char*>(std::malloc(size + kHead));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(block) = size;
  const auto now = live_bytes += size;
  if (now > peak_bytes) peak_bytes = now;
  return block + kHead;
}
void operator delete(void* pointer) noexcept {
  if (pointer == nullptr) return;
  auto* block = static_cast<char*>(pointer) - kHead;
  live_bytes -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}
void operator delete(void* pointer, std::size_t) noexcept {
  operator delete(pointer);
}

namespace assay {
namespace {

std::string good_safetensors() {
  std::vector<test::SafeTensor> tensors;
  for (int i = 0; i < 12; ++i)
    tensors.push_back(test::safe_tensor("model.layers." + std::to_string(i) + ".weight", i % 2 == 0 ? "BF16" : "F32",
                                        {16, 8 + i}, i % 2 == 0 ? 2 : 4));
  return test::safetensors_header(tensors, 3);
}

std::string good_gguf() {
  test::Gguf gguf;
  gguf.text("general.architecture", "llama").u32("llama.block_count", 4).u32("general.alignment", 32);
  gguf.list("llama.attention.head_count_kv", {4, 4, 2, 2});
  std::string tokens = test::little_endian(8, 4) + test::little_endian(3, 8);
  for (int i = 0; i < 3; ++i) tokens += test::little_endian(1, 8) + "t";
  gguf.entry("tokenizer.ggml.tokens", 9, tokens);
  for (int i = 0; i < 6; ++i) gguf.tensor("blk." + std::to_string(i) + ".ffn_up.weight", {256, 4}, 12, 576);
  return gguf.padded();
}

std::string good_index() {
  std::string text = R"({"metadata":{"total_size":12345},"weight_map":{)";
  for (int i = 0; i < 20; ++i)
    text += (i > 0 ? ",\"" : "\"") + ("layers." + std::to_string(i)) + "\":\"model-0000" + std::to_string(i % 3 + 1) +
            "-of-00003.safetensors\"";
  return text + "}}";
}

std::string mutated(std::string bytes, std::mt19937_64& random) {
  const auto at = [&] { return static_cast<std::size_t>(random() % std::max<std::size_t>(bytes.size(), 1)); };
  const auto edits = 1 + random() % 4;
  for (std::uint64_t i = 0; i < edits && !bytes.empty(); ++i) {
    switch (random() % 7) {
      case 0:
        bytes[at()] = static_cast<char>(random());
        break;
      case 1:
        bytes[at()] ^= static_cast<char>(1 << (random() % 8));
        break;
      case 2:
        bytes.resize(at());
        break;
      case 3:
        bytes.insert(at(), 1 + random() % 9, static_cast<char>(random()));
        break;
      case 4:
        bytes.erase(at(), 1 + random() % 9);
        break;
      case 5: {
        // An eight-byte number anywhere: counts and lengths at their limits.
        const std::uint64_t limits[] = {0, 1, ~0ULL, ~0ULL - 7, 1ULL << 63, (1ULL << 63) - 1, 1ULL << 32, 1ULL << 30};
        const auto number = test::little_endian(limits[random() % 8], 8);
        bytes.replace(at(), 8, number);
        break;
      }
      default: {
        const auto from = at();
        bytes += bytes.substr(from, random() % 64);
        break;
      }
    }
  }
  return bytes;
}

TEST(Mutations, TenThousandOfEachHeader) {
  std::mt19937_64 random(20260101);
  const auto safetensors = good_safetensors();
  const auto gguf = good_gguf();
  const auto index = good_index();
  {
    weights::TensorTable table;
    ASSERT_TRUE(weights::read_safetensors(safetensors, "a", 0, true, table));
    ASSERT_TRUE(weights::read_gguf(gguf, "b", 0, true, table));
    ASSERT_TRUE(weights::read_index(index, "c", table));
  }
  int refused = 0;
  const auto judge = [&refused](const auto& read) {
    if (read) return;
    ++refused;
    EXPECT_EQ(read.error().code, ErrorCode::bad_input);
    EXPECT_NE(read.error().text.find(" is refused at byte "), std::string::npos) << read.error().text;
    EXPECT_EQ(read.error().text.find('\n'), std::string::npos);
  };
  for (int i = 0; i < 10'000; ++i) {
    const auto a = mutated(safetensors, random);
    const auto b = mutated(gguf, random);
    const auto c = mutated(index, random);
    const auto before = live_bytes.load();
    peak_bytes = before;
    weights::TensorTable table;
    judge(weights::read_safetensors(a, "a", 0, i % 2 == 0, table));
    judge(weights::read_gguf(b, "b", 1, i % 2 == 0, table));
    judge(weights::read_index(c, "c", table));
    ASSERT_LT(peak_bytes.load() - before, std::size_t{64} << 20) << "round " << i;
  }
  EXPECT_GT(refused, 10'000);  // the damage does reach the rules
}

}  // namespace
}  // namespace assay
