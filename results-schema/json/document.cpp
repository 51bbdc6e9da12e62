// SPDX-License-Identifier: Apache-2.0
// Whole documents, plans and identities: text in, text out, validated both ways.
#include <charconv>
#include <optional>
#include <string>

#include "results-schema/json/codec.hpp"
#include "results-schema/json/compare.hpp"
#include "results-schema/json/estimate.hpp"
#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"
#include "results-schema/json/members.hpp"
#include "results-schema/json/replay.hpp"
#include "results-schema/json/schema.hpp"

namespace assay::json {
namespace {

using detail::Json;
using detail::SchemaPart;

struct Version {
  int major = 0;
  int minor = 0;
};

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  int patch = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int* part : {&version.major, &version.minor, &patch}) {
    if (part != &version.major && (at == end || *at++ != '.')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, *part);
    if (error != std::errc() || *part < 0) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  return version;
}

struct Envelope {
  DocumentKind kind = DocumentKind::run;
  bool newer_minor = false;
  std::string warning;
};

std::string text_member(const Json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// What must be known before the schema can judge: that it is a document of ours, of which version and kind.
Result<Envelope> open_envelope(const Json& value, std::string_view name) {
  const std::string file(name);
  if (!value.is_object() || text_member(value, "schema") != kSchemaName)
    return detail::bad_input(file + " is not an Assay document: its \"schema\" is not \"" + kSchemaName +
                             "\"; give a file that assay wrote");
  const std::string written = text_member(value, "schema_version");
  const auto theirs = parse_version(written);
  const auto ours = parse_version(kSchemaVersion);
  if (!theirs || theirs->major < 1)
    return detail::bad_input(file + " has no usable \"schema_version\"; give a file that assay wrote");
  if (theirs->major > ours->major)
    return detail::bad_input(file + " follows schema " + detail::printable(written) + " and this assay reads up to " +
                             std::to_string(ours->major) + ".x; read it with a newer assay");
  Envelope envelope;
  envelope.newer_minor = theirs->minor > ours->minor;
  if (envelope.newer_minor)
    envelope.warning = file + " follows schema " + detail::printable(written) + ", newer than " + kSchemaVersion +
                       " of this assay: what it does not know is skipped";
  const auto& kinds = detail::Words<DocumentKind>::list;
  const std::string kind = text_member(value, "kind");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != kind) continue;
    envelope.kind = static_cast<DocumentKind>(i);
    return envelope;
  }
  return detail::bad_input(file + " has the kind \"" + detail::printable(kind) +
                           "\", which this assay does not know; read it with a newer assay");
}

// The bound that a schema cannot state for numbers that may also be reals.
const Json* beyond_bound(const Json& value) {
  if (value.is_number_integer()) {
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(detail::kMaxInteger)
                          : value.get<std::int64_t>() >= -detail::kMaxInteger;
    return fits ? nullptr : &value;
  }
  if (!value.is_structured()) return nullptr;
  for (const auto& item : value)
    if (const Json* found = beyond_bound(item)) return found;
  return nullptr;
}

Result<void> check(const Json& value, SchemaPart part, std::string_view name) {
  if (auto valid = detail::check_schema(value, part, name); !valid) return valid;
  if (const Json* number = beyond_bound(value))
    return detail::bad_input(std::string(name) + " holds the integer " + detail::dump(*number, -1) +
                             ", beyond the 2^53-1 of its schema; correct it and try again");
  return {};
}

// A newer minor version is read by what this one knows of it: the schema compiled in would refuse its new keys.
Result<Envelope> check_document(const Json& value, std::string_view name, std::string* warning) {
  auto envelope = open_envelope(value, name);
  if (!envelope) return envelope;
  if (warning != nullptr) *warning = envelope->warning;
  if (envelope->newer_minor) return envelope;
  if (auto valid = check(value, SchemaPart::document, name); !valid) return valid.error();
  return envelope;
}

// Rules between values of one document, which a schema cannot state.
Result<void> check_relations(const RunDocument& document, std::string_view name) {
  const auto workloads = static_cast<std::int64_t>(document.plan.workloads.size());
  for (const auto& device : document.devices)
    for (const auto& launch : device.launches)
      if (launch.workload < 0 || launch.workload >= workloads)
        return detail::bad_input(std::string(name) + ": launch " + std::to_string(launch.order) +
                                 " names a workload that the plan does not have; correct it and try again");
  return {};
}

// A value that fits a line is one, so that a counter or an equation is read at a glance and compared by diff, and a
// document is a third of what it is with every number on a line of its own.
constexpr std::size_t kLineBytes = 240;

void lay_out(const Json& value, std::size_t depth, std::string& out) {
  auto line = detail::dump(value, -1);
  if (!value.is_structured() || line.size() <= kLineBytes) {
    out += line;
    return;
  }
  const bool object = value.is_object();
  out += object ? '{' : '[';
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(depth + 1, ' ');
    if (object) out += detail::dump(Json(key), -1) + ": ";
    lay_out(member, depth + 1, out);
  }
  out += '\n';
  out.append(depth, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string_view to_text(DocumentKind kind) {
  return detail::word(kind);
}

Result<std::string> write_document(const RunDocument& document) {
  const std::string name = "the document";
  const Json value = detail::encode(document);
  auto valid = check(value, SchemaPart::document, name);
  if (valid) valid = check_relations(document, name);
  // Reading it back finds what the schema cannot see: a number that is not finite, two fields under one key.
  std::string text;
  lay_out(value, 0, text);
  text += '\n';
  if (valid)
    if (auto back = read_document(text, name); !back) valid = back.error();
  if (!valid)
    return detail::internal_error(valid.error().text + " (a defect of assay: report it; the journal is kept)");
  return text;
}

Result<std::string> write_estimate(const EstimateDocument& document) {
  const std::string name = "the estimate";
  const Json value = detail::encode(document);
  auto valid = check(value, SchemaPart::document, name);
  std::string text = detail::dump(value, 2) + "\n";
  if (valid)
    if (auto back = validate(text, name); !back) valid = back.error();
  if (!valid) return detail::internal_error(valid.error().text + " (a defect of assay: report it)");
  return text;
}

Result<RunDocument> read_document(std::string_view text, std::string_view name, std::string* warning) {
  auto value = parse(text, name);
  if (!value) return value.error();
  auto envelope = check_document(*value, name, warning);
  if (!envelope) return envelope.error();
  if (envelope->kind != DocumentKind::run && envelope->kind != DocumentKind::measure)
    return detail::bad_input(std::string(name) + " is a document of kind " + std::string(to_text(envelope->kind)) +
                             ", and one of kind run or measure is needed; give such a file");
  auto document = detail::decode_document(*value, name);
  if (!document) return document;
  if (auto related = check_relations(*document, name); !related) return related.error();
  return document;
}

Result<std::string> write_replay_document(const ReplayDocument& document) {
  const std::string name = "the document";
  std::string text = detail::dump(detail::encode(document), 1) + "\n";
  if (auto back = read_replay_document(text, name); !back)
    return detail::internal_error(back.error().text + " (a defect of assay: report it)");
  return text;
}

Result<ReplayDocument> read_replay_document(std::string_view text, std::string_view name, std::string* warning) {
  auto value = parse(text, name);
  if (!value) return value.error();
  auto envelope = check_document(*value, name, warning);
  if (!envelope) return envelope.error();
  if (envelope->kind != DocumentKind::replay)
    return detail::bad_input(std::string(name) + " is a document of kind " + std::string(to_text(envelope->kind)) +
                             ", and one of kind replay is needed; give such a file");
  return detail::decode_replay(*value, name);
}

nlohmann::ordered_json to_json(const ReplayedTrace& trace) {
  return detail::encode(trace);
}

Result<ReplayedTrace> read_replayed_trace(std::string_view text, std::string_view name) {
  auto value = parse(text, name);
  if (!value) return value.error();
  return detail::decode_replayed_trace(*value, name);
}

Result<DocumentKind> validate(std::string_view text, std::string_view name, std::string* warning) {
  auto value = parse(text, name);
  if (!value) return value.error();
  auto envelope = check_document(*value, name, warning);
  if (!envelope) return envelope.error();
  if (envelope->kind == DocumentKind::run || envelope->kind == DocumentKind::measure) {
    auto document = detail::decode_document(*value, name);
    if (!document) return document.error();
    if (auto related = check_relations(*document, name); !related) return related.error();
  }
  if (envelope->kind == DocumentKind::replay)
    if (auto document = detail::decode_replay(*value, name); !document) return document.error();
  return envelope->kind;
}

Result<std::string> write_compare(const CompareDocument& document) {
  const Json value = detail::encode(document);
  std::string text = detail::dump(value, 2) + "\n";
  // Reading it back finds what the schema cannot see, as in write_document.
  if (auto back = read_compare(text, "the document"); !back)
    return detail::internal_error(back.error().text + " (a defect of assay: report it)");
  return text;
}

Result<CompareDocument> read_compare(std::string_view text, std::string_view name, std::string* warning) {
  auto value = parse(text, name);
  if (!value) return value.error();
  auto envelope = check_document(*value, name, warning);
  if (!envelope) return envelope.error();
  if (envelope->kind != DocumentKind::compare)
    return detail::bad_input(std::string(name) + " is a document of kind " + std::string(to_text(envelope->kind)) +
                             ", and one of kind compare is needed; give such a file");
  return detail::decode_compare(*value, name);
}

std::string write_comparison(const Comparison& comparison) {
  return detail::dump(detail::encode(comparison), 2) + "\n";
}

std::string write_plan(const Plan& plan) {
  return detail::dump(detail::encode(plan), 2) + "\n";
}

Result<Plan> read_plan(std::string_view text, std::string_view name) {
  auto value = parse(text, name);
  if (!value) return value.error();
  if (auto valid = check(*value, SchemaPart::plan, name); !valid) return valid.error();
  return detail::decode_plan(*value, name);
}

std::string write_identity(const Identity& identity) {
  return detail::dump(detail::encode(identity), 2) + "\n";
}

Result<Identity> read_identity(std::string_view text, std::string_view name) {
  auto value = parse(text, name);
  if (!value) return value.error();
  if (auto valid = check(*value, SchemaPart::identity, name); !valid) return valid.error();
  return detail::decode_identity(*value, name);
}

}  // namespace assay::json
