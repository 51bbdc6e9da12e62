// SPDX-License-Identifier: Apache-2.0
// The pickle machine, reduced to the opcodes of plain containers (opcode values: CPython's Lib/pickle.py).
#include "suite/trace/pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay::trace {
namespace {

constexpr std::uint64_t kLongestText = 16 * 1024 * 1024;

enum Opcode : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinUnicode = 'X',
  kAppend = 'a',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kEmptyList = ']',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kMemoize = 0x94,
  kFrame = 0x95
};

// Opcodes that name, call or build something outside plain data, by what they are called.
const char* forbidden(std::uint8_t opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    case 0x81:
      return "NEWOBJ";
    case 0x82:
      return "EXT1";
    case 0x83:
      return "EXT2";
    case 0x84:
      return "EXT4";
    case 0x92:
      return "NEWOBJ_EX";
    case 0x93:
      return "STACK_GLOBAL";
    case 0x97:
      return "NEXT_BUFFER";
    case 0x98:
      return "READONLY_BUFFER";
    default:
      return nullptr;
  }
}

class Machine {
 public:
  Machine(Input& input, Arena& arena) : input_(input), arena_(arena) {}

  Result<Value> run() {
    while (!failure_) {
      const std::uint8_t opcode = static_cast<std::uint8_t>(number(1));
      if (failure_) break;
      if (opcode == kStop) {
        if (stack_.size() == 1 && marks_.empty()) return stack_.back();
        fail("the pickle ends with more or less than one value");
        break;
      }
      step(opcode);
    }
    return *failure_;
  }

 private:
  void fail(std::string_view what) {
    if (!failure_) failure_ = input_.at_byte(fmt::format("{}; record the snapshot again", what));
  }

  bool bytes(char* out, std::size_t count) {
    while (count > 0) {
      if (begin_ == end_) {
        const auto got = input_.read(buffer_, sizeof buffer_);
        if (!got) {
          if (!failure_) failure_ = got.error();
          return false;
        }
        begin_ = 0;
        end_ = *got;
        if (end_ == 0) {
          fail("the pickle is cut off");
          return false;
        }
      }
      const std::size_t part = std::min(count, end_ - begin_);
      std::memcpy(out, buffer_ + begin_, part);
      out += part;
      count -= part;
      begin_ += part;
    }
    return true;
  }

  // A little-endian unsigned number of `width` bytes, 8 at most.
  std::uint64_t number(std::size_t width) {
    unsigned char raw[8] = {};
    if (!bytes(reinterpret_cast<char*>(raw), width)) return 0;
    std::uint64_t result = 0;
    for (std::size_t i = width; i-- > 0;) result = result << 8U | raw[i];
    return result;
  }

  void push_text(std::uint64_t length) {
    if (failure_) return;
    if (length > kLongestText) {
      fail(fmt::format("a text claims {} bytes, more than any of a snapshot has", length));
      return;
    }
    // Grown as bytes arrive, so that a false length costs no memory.
    std::string content;
    char part[4096];
    while (content.size() < length && !failure_) {
      const std::size_t count = std::min<std::size_t>(sizeof part, length - content.size());
      if (bytes(part, count)) content.append(part, count);
    }
    if (!failure_) stack_.push_back(arena_.text(content));
  }

  void push_long(std::uint64_t length) {
    if (length > 8) {
      fail("an integer is beyond 64 bits");
      return;
    }
    std::uint64_t raw = number(static_cast<std::size_t>(length));
    if (length > 0 && length < 8 && (raw >> (8 * length - 1) & 1U) != 0) raw |= ~std::uint64_t{0} << (8 * length);
    stack_.push_back(Arena::integer(static_cast<std::int64_t>(raw)));
  }

  void push_float() {
    unsigned char raw[8] = {};
    if (!bytes(reinterpret_cast<char*>(raw), 8)) return;
    std::uint64_t bits = 0;
    for (const unsigned char byte : raw) bits = bits << 8U | byte;  // big-endian, unlike everything else
    stack_.push_back(Arena::real(std::bit_cast<double>(bits)));
  }

  // How many values stand above the last mark; the mark is taken away.
  std::size_t above_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      fail("an opcode needs a mark that is not there");
      return 0;
    }
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  bool needs(std::size_t count) {
    if (stack_.size() < count || (!marks_.empty() && stack_.size() - marks_.back() < count)) {
      fail("an opcode needs values that are not there");
      return false;
    }
    return true;
  }

  void make_list(std::size_t count) {
    if (failure_ || !needs(count)) return;
    const Value made = arena_.list();
    auto& list = arena_.list_of(made);
    list.assign(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    stack_.push_back(made);
  }

  void append(std::size_t count) {
    if (failure_ || stack_.size() < count + 1) return fail("a list to append to is not there");
    const Value target = stack_[stack_.size() - count - 1];
    if (target.kind != ValueKind::list) return fail("something that is no list is appended to");
    auto& list = arena_.list_of(target);
    list.insert(list.end(), stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
  }

  void set_items(std::size_t count) {
    if (failure_ || stack_.size() < count + 1 || count % 2 != 0) return fail("a dictionary to fill is not there");
    const Value target = stack_[stack_.size() - count - 1];
    if (target.kind != ValueKind::dictionary) return fail("something that is no dictionary is filled");
    auto& pairs = arena_.dictionary_of(target);
    for (std::size_t i = stack_.size() - count; i < stack_.size(); i += 2) pairs.emplace_back(stack_[i], stack_[i + 1]);
    stack_.resize(stack_.size() - count);
  }

  void make_dictionary(std::size_t count) {
    if (failure_) return;
    stack_.insert(stack_.end() - static_cast<std::ptrdiff_t>(count), arena_.dictionary());
    set_items(count);
  }

  void put(std::uint64_t index) {
    if (failure_ || stack_.empty()) return fail("there is nothing to remember");
    memo_[index] = stack_.back();
  }

  void get(std::uint64_t index) {
    const auto found = memo_.find(index);
    if (failure_ || found == memo_.end()) return fail("a value is asked for that was never remembered");
    stack_.push_back(found->second);
  }

  void pop() {
    // A pickle may end a mark with a plain pop.
    if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
    if (needs(1)) stack_.pop_back();
  }

  void step(std::uint8_t opcode) {
    switch (opcode) {
      case kProto:
        if (const auto version = number(1); !failure_ && version > 5)
          fail(fmt::format("pickle protocol {} is unknown", version));
        return;
      case kFrame:
        number(8);
        return;
      case kMark:
        marks_.push_back(stack_.size());
        return;
      case kPop:
        return pop();
      case kPopMark:
        stack_.resize(stack_.size() - above_mark());
        return;
      case kDup:
        if (needs(1)) stack_.push_back(stack_.back());
        return;
      case kNone:
        stack_.emplace_back();
        return;
      case kNewTrue:
        stack_.push_back(Arena::boolean(true));
        return;
      case kNewFalse:
        stack_.push_back(Arena::boolean(false));
        return;
      case kBinInt:
        stack_.push_back(Arena::integer(static_cast<std::int32_t>(number(4))));
        return;
      case kBinInt1:
        stack_.push_back(Arena::integer(static_cast<std::int64_t>(number(1))));
        return;
      case kBinInt2:
        stack_.push_back(Arena::integer(static_cast<std::int64_t>(number(2))));
        return;
      case kLong1:
        return push_long(number(1));
      case kLong4:
        return push_long(number(4));
      case kBinFloat:
        return push_float();
      case kShortBinUnicode:
      case kShortBinBytes:
        return push_text(number(1));
      case kBinUnicode:
      case kBinBytes:
        return push_text(number(4));
      case kBinUnicode8:
        return push_text(number(8));
      case kEmptyList:
      case kEmptyTuple:
        stack_.push_back(arena_.list());
        return;
      case kList:
      case kTuple:
        return make_list(above_mark());
      case kTuple1:
        return make_list(1);
      case kTuple2:
        return make_list(2);
      case kTuple3:
        return make_list(3);
      case kAppend:
        return append(1);
      case kAppends:
        return append(above_mark());
      case kEmptyDict:
        stack_.push_back(arena_.dictionary());
        return;
      case kDict:
        return make_dictionary(above_mark());
      case kSetItem:
        return set_items(2);
      case kSetItems:
        return set_items(above_mark());
      case kMemoize:
        return put(memo_.size());
      case kBinPut:
        return put(number(1));
      case kLongBinPut:
        return put(number(4));
      case kBinGet:
        return get(number(1));
      case kLongBinGet:
        return get(number(4));
      default:
        break;
    }
    if (const char* name = forbidden(opcode))
      return fail(
          fmt::format("the opcode {} would build an object; a snapshot is plain data, so this file is refused", name));
    fail(fmt::format("opcode {:#04x} is none of plain data", opcode));
  }

  Input& input_;
  Arena& arena_;
  std::optional<Error> failure_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Value> memo_;
  char buffer_[65536];
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

Result<Value> read_pickle(Input& input, Arena& arena) {
  const auto machine = std::make_unique<Machine>(input, arena);
  return machine->run();
}

}  // namespace assay::trace
