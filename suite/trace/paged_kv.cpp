// SPDX-License-Identifier: Apache-2.0
// The steps of the simulation.
#include "suite/trace/paged_kv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/allocator/statistics.hpp"
#include "suite/trace/fields.hpp"

namespace assay::trace {
namespace {

constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 40;
constexpr std::int64_t kMicro = 1'000'000;

Error refuse(std::string_view what, std::int64_t value, std::string_view range) {
  return {ErrorCode::usage, fmt::format("{} of a paged KV pool cannot be {}; give {}", what, value, range)};
}

}  // namespace

Result<void> check(const PagedKvOptions& o) {
  constexpr std::int64_t kMostTokenBytes = std::int64_t{1} << 30;
  constexpr std::int64_t kMostBlockTokens = 1 << 20;
  if (o.bytes_per_token < 1 || o.bytes_per_token > kMostTokenBytes)
    return refuse("the bytes per token", o.bytes_per_token, "1 to 2^30");
  if (o.block_tokens < 1 || o.block_tokens > kMostBlockTokens)
    return refuse("the tokens per block", o.block_tokens, "1 to 2^20");
  const std::int64_t block = o.bytes_per_token * o.block_tokens;
  if (o.pool_bytes < block || o.pool_bytes > kAbsurdBytes)
    return refuse("the size", o.pool_bytes, fmt::format("at least one block, {} bytes, and at most 2^53", block));
  if (o.decode_tokens_per_s < 1 || o.decode_tokens_per_s > kMicro)
    return refuse("the decode rate", o.decode_tokens_per_s, "1 to 1000000 tokens a second");
  if (o.prefill_tokens_per_s < 1 || o.prefill_tokens_per_s > kMicro * kMicro)
    return refuse("the prefill rate", o.prefill_tokens_per_s, "1 to 10^12 tokens a second");
  if (o.max_sequences < 1 || o.max_sequences > kMicro)
    return refuse("the number of sequences at once", o.max_sequences, "1 to 1000000");
  return {};
}

PagedKv::PagedKv(std::unique_ptr<Requests> requests, Format format, const PagedKvOptions& options)
    : requests_(std::move(requests)),
      options_(options),
      block_bytes_(options.bytes_per_token * options.block_tokens),
      pool_blocks_(options.pool_bytes / block_bytes_),
      step_us_(kMicro / options.decode_tokens_per_s) {
  header_.origin.format = format;
  header_.origin.framework = "requests";
  header_.starts_empty = true;
  const std::int64_t piece = requests_->hash_tokens();
  if (options.prefix_sharing && piece > 0 && piece % options.block_tokens == 0)
    piece_blocks_ = piece / options.block_tokens;
  header_.origin.settings = fmt::format(
      "bytes_per_token={} block_tokens={} pool_bytes={} decode_tokens_per_s={} prefill_tokens_per_s={} "
      "max_sequences={} prefix_sharing={}",
      options.bytes_per_token, options.block_tokens, options.pool_bytes, options.decode_tokens_per_s,
      options.prefill_tokens_per_s, options.max_sequences, piece_blocks_ > 0 ? "on" : "off");
  header_.warnings.emplace_back(
      "the file holds requests, not allocations: they were driven through a simulated paged KV pool, each block one "
      "allocation (" +
      header_.origin.settings + ")");
}

Result<bool> PagedKv::next(Event& event) {
  while (ready_.empty()) {
    if (ended_) return false;
    const auto more = step();
    if (!more) {
      ended_ = true;
      return more;
    }
    ended_ = !*more;
  }
  event = ready_.front();
  ready_.pop_front();
  return true;
}

PagedKvStatistics PagedKv::statistics() const {
  PagedKvStatistics out = stats_;
  out.waste_share_mean = waste_steps_ == 0 ? 0 : waste_sum_ / static_cast<double>(waste_steps_);
  out.duration_us = now_us_;
  return out;
}

std::int64_t PagedKv::blocks_of(std::int64_t tokens) const {
  return (tokens + options_.block_tokens - 1) / options_.block_tokens;
}

// Pieces that are whole: the last one may be filled up by the answer, which no other request has.
std::size_t PagedKv::shareable(const LlmRequest& request) const {
  if (piece_blocks_ == 0) return 0;
  const auto whole_pieces = static_cast<std::size_t>(request.context_tokens / requests_->hash_tokens());
  return std::min(request.hash_ids.size(), whole_pieces);
}

void PagedKv::tell(Action action, Block block) {
  Event event;
  event.action = action;
  event.address = kFirstAddress + static_cast<std::uint64_t>(block) * static_cast<std::uint64_t>(block_bytes_);
  event.bytes = block_bytes_;
  event.time_us = now_us_;
  event.category = static_cast<std::int8_t>(allocator::Category::kv);
  ready_.push_back(event);
}

void PagedKv::evict_one() {
  const std::uint64_t name = idle_.front();
  idle_.pop_front();
  const auto found = pieces_.find(name);
  for (const Block block : found->second.blocks) free_block(block);
  idle_blocks_ -= static_cast<std::int64_t>(found->second.blocks.size());
  stats_.blocks_evicted += static_cast<std::int64_t>(found->second.blocks.size());
  pieces_.erase(found);
}

PagedKv::Block PagedKv::take_block() {
  while (stats_.blocks_now == pool_blocks_) evict_one();
  Block block = fresh_;
  if (freed_.empty()) {
    ++fresh_;
  } else {
    block = freed_.front();
    freed_.pop_front();
  }
  ++stats_.blocks_allocated;
  stats_.blocks_peak = std::max(stats_.blocks_peak, ++stats_.blocks_now);
  tell(Action::alloc, block);
  return block;
}

void PagedKv::free_block(Block block) {
  ++stats_.blocks_freed;
  --stats_.blocks_now;
  freed_.push_back(block);
  tell(Action::free, block);
}

Result<void> PagedKv::take_arrivals() {
  for (;;) {
    if (!has_next_) {
      const auto more = requests_->next(next_);
      if (!more) return more.error();
      if (!*more) return {};
      has_next_ = true;
      ++stats_.requests;
    }
    // Nothing to do until then: the time in between holds no step.
    if (waiting_.empty() && running_.empty()) now_us_ = std::max(now_us_, next_.arrival_us);
    if (next_.arrival_us > now_us_) return {};
    has_next_ = false;
    if (blocks_of(next_.context_tokens + next_.generated_tokens) > pool_blocks_) {
      ++stats_.refused;
      continue;
    }
    Sequence sequence;
    sequence.request = std::move(next_);
    waiting_.push_back(std::move(sequence));
  }
}

bool PagedKv::start(Sequence& sequence) {
  const std::size_t pieces = shareable(sequence.request);
  // What the cache has from the beginning on, and how much of that nobody else holds: it cannot be evicted as well.
  std::size_t cached = 0;
  std::int64_t cached_idle = 0;
  for (; cached < pieces; ++cached) {
    const auto found = pieces_.find(sequence.request.hash_ids[cached]);
    if (found == pieces_.end()) break;
    if (found->second.holders == 0) cached_idle += piece_blocks_;
  }
  const std::int64_t cached_blocks = static_cast<std::int64_t>(cached) * piece_blocks_;
  if (blocks_of(sequence.tokens()) - cached_blocks > available() - cached_idle) return false;
  for (std::size_t i = 0; i < cached; ++i) {
    Piece& piece = pieces_[sequence.request.hash_ids[i]];
    if (piece.holders++ > 0) continue;
    idle_.erase(piece.idle);
    idle_blocks_ -= piece_blocks_;
  }
  stats_.blocks_shared += cached_blocks;
  sequence.shared = cached;
  for (std::size_t i = cached; i < pieces; ++i) {
    // A piece known under this name behind a piece that was not: another text, or evicted unevenly. Not shared.
    if (pieces_.count(sequence.request.hash_ids[i]) != 0) break;
    Piece& piece = pieces_[sequence.request.hash_ids[i]];
    piece.holders = 1;
    for (std::int64_t block = 0; block < piece_blocks_; ++block) piece.blocks.push_back(take_block());
    ++sequence.shared;
  }
  sequence.shared_blocks = static_cast<std::int64_t>(sequence.shared) * piece_blocks_;
  while (sequence.shared_blocks + static_cast<std::int64_t>(sequence.own.size()) < blocks_of(sequence.tokens()))
    sequence.own.push_back(take_block());
  const std::int64_t computed = sequence.tokens() - cached_blocks * options_.block_tokens;
  sequence.ready_us = now_us_ + computed * kMicro / options_.prefill_tokens_per_s;
  return true;
}

void PagedKv::admit() {
  while (!waiting_.empty() && static_cast<std::int64_t>(running_.size()) < options_.max_sequences) {
    if (!start(waiting_.front())) return;
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    stats_.sequences_peak = std::max(stats_.sequences_peak, static_cast<std::int64_t>(running_.size()));
  }
}

void PagedKv::give_back(Sequence& sequence) {
  for (const Block block : sequence.own) free_block(block);
  sequence.own.clear();
  // The end of a text is forgotten before its beginning: from the front it could not be found any more.
  for (std::size_t i = sequence.shared; i-- > 0;) {
    const std::uint64_t name = sequence.request.hash_ids[i];
    Piece& piece = pieces_[name];
    if (--piece.holders > 0) continue;
    piece.idle = idle_.insert(idle_.end(), name);
    idle_blocks_ += piece_blocks_;
  }
  sequence.shared = 0;
  sequence.shared_blocks = 0;
}

void PagedKv::preempt_last() {
  ++stats_.preemptions;
  give_back(running_.back());
  waiting_.push_front(std::move(running_.back()));
  running_.pop_back();
}

// A block for one more token of running_[index]. False when it was itself the one that had to give way.
bool PagedKv::grow(std::size_t index) {
  while (available() == 0) {
    const bool itself = index + 1 == running_.size();
    preempt_last();
    if (itself) return false;
  }
  running_[index].own.push_back(take_block());
  return true;
}

void PagedKv::decode() {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = running_[i];
    if (sequence.ready_us > now_us_ || sequence.made == sequence.request.generated_tokens) continue;
    const std::int64_t held = sequence.shared_blocks + static_cast<std::int64_t>(sequence.own.size());
    if (blocks_of(sequence.tokens() + 1) > held && !grow(i)) return;
    ++running_[i].made;
  }
}

void PagedKv::measure_waste() {
  std::int64_t places = 0;
  std::int64_t tokens = 0;
  for (const Sequence& sequence : running_) {
    places += (sequence.shared_blocks + static_cast<std::int64_t>(sequence.own.size())) * options_.block_tokens;
    tokens += sequence.tokens();
  }
  if (places == 0) return;
  stats_.waste_bytes_peak = std::max(stats_.waste_bytes_peak, (places - tokens) * options_.bytes_per_token);
  waste_sum_ += static_cast<double>(places - tokens) / static_cast<double>(places);
  ++waste_steps_;
}

// When something can happen again: 0 where a sequence already makes tokens.
std::int64_t PagedKv::next_event_us() const {
  std::int64_t next = has_next_ ? next_.arrival_us : std::numeric_limits<std::int64_t>::max();
  for (const Sequence& sequence : running_) next = std::min(next, sequence.ready_us);
  return running_.empty() ? 0 : next;
}

Result<bool> PagedKv::step() {
  if (const auto taken = take_arrivals(); !taken) return taken.error();
  admit();
  decode();
  measure_waste();
  for (std::size_t i = 0; i < running_.size();) {
    if (running_[i].made < running_[i].request.generated_tokens || running_[i].ready_us > now_us_) {
      ++i;
      continue;
    }
    give_back(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    ++stats_.finished;
  }
  if (!running_.empty() || !waiting_.empty() || has_next_) {
    now_us_ = std::max(now_us_ + step_us_, next_event_us());
    return true;
  }
  while (!idle_.empty()) evict_one();
  return false;
}

Result<std::unique_ptr<PagedKv>> open_paged_kv(const std::string& path, const PagedKvOptions& options) {
  if (const auto sound = check(options); !sound) return sound.error();
  auto input = Input::open(path);
  if (!input) return input.error();
  const auto head = input->peek(1);
  if (!head) return head.error();
  const bool lines = *head == "{";
  auto requests = lines ? open_requests_jsonl(std::move(*input)) : open_requests_csv(std::move(*input));
  if (!requests) return requests.error();
  return std::make_unique<PagedKv>(std::move(*requests), lines ? Format::requests_jsonl : Format::requests_csv,
                                   options);
}

}  // namespace assay::trace
