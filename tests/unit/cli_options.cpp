// SPDX-License-Identifier: Apache-2.0
// Every option of every command with wrong, missing, empty and doubled values: one sentence of our own, exit 64.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "suite/cli/options.hpp"
#include "suite/cli/program.hpp"

namespace {

using namespace assay;
using testing::HasSubstr;
using Words = std::vector<std::string>;

struct Answer {
  cli::Exit exit;
  std::string out;
  std::string err;
};

Answer ask(Words words) {
  std::ostringstream out;
  std::ostringstream err;
  words.insert(words.begin(), "assay");
  cli::Context context{out, err, std::move(words), false, false, {}};
  const auto exit = cli::run_program(context);
  return {exit, out.str(), err.str()};
}

// One option of one command, as the program itself declares it.
struct Declared {
  std::string command;
  std::string name;  // "--batch", or "file" for an argument
  std::string type;  // "N", "SIZE", "NAME", "TEXT"; empty for a flag
  bool repeatable = false;
  Words arguments;          // what the command needs besides
  bool any_number = false;  // of arguments
};

std::vector<Declared> declared(bool hidden) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Context context{out, err, {}, false, false, {}};
  CLI::App app;
  cli::build_app(app, context);
  std::vector<Declared> all;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name().starts_with("__") != hidden) continue;
    Words arguments;
    bool any_number = false;
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional() && option->get_required()) arguments.push_back("x");
      any_number = any_number || (option->get_positional() && option->get_items_expected_max() > 1);
    }
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional() || option->get_name() == "--help") continue;
      const bool flag = option->get_items_expected_max() == 0;
      all.push_back({command->get_name(), option->get_name(), flag ? "" : option->get_type_name(),
                     option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll, arguments, any_number});
    }
  }
  return all;
}

// A value that the option takes.
std::string good_value(const Declared& option) {
  static const std::map<std::string, std::string> kChoices{{"--allocator", "caching"},
                                                           {"--dtype", "f32"},
                                                           {"--kv", "static"},
                                                           {"--workload", "dense"},
                                                           {"--suite", "quick"}};
  if (const auto found = kChoices.find(option.name); found != kChoices.end()) return found->second;
  if (option.type == "N") return "1";
  return option.type == "SIZE" ? "1MiB" : "x";
}

void expect_refused(const Declared& option, const Words& more, const std::string& names) {
  Words words{option.command};
  words.insert(words.end(), option.arguments.begin(), option.arguments.end());
  words.insert(words.end(), more.begin(), more.end());
  std::string line;
  for (const auto& word : words) line += " '" + word + "'";
  const auto ran = ask(words);
  EXPECT_EQ(ran.exit, cli::Exit::usage) << line << ": " << ran.err;
  EXPECT_EQ(ran.out, "") << line;
  EXPECT_TRUE(ran.err.starts_with("assay: ")) << line << ": " << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << line << ": " << ran.err;
  EXPECT_TRUE(ran.err.ends_with('\n')) << line << ": " << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(names)) << line;
  EXPECT_TRUE(std::none_of(ran.err.begin(), ran.err.end() - 1,
                           [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      << line << ": " << ran.err;
  // What CLI11 says of such lines, in its own words.
  for (const char* leak : {"required", "At Most", "At Least", "Expected", "Could not convert", "arguments were not",
                           "was not expected", "flag override", "excludes", "requires", "Unknown"})
    EXPECT_EQ(ran.err.find(leak), std::string::npos) << line << ": " << ran.err;
}

TEST(EveryOption, IsThere) {
  const auto options = declared(false);
  EXPECT_GT(options.size(), 60U);
  EXPECT_TRUE(std::any_of(options.begin(), options.end(), [](const auto& o) { return o.name == "--kv-heads"; }));
}

TEST(EveryOption, WithoutItsValueOrWithAnEmptyOne) {
  for (const bool hidden : {false, true}) {
    for (const auto& option : declared(hidden)) {
      if (option.type.empty()) continue;
      expect_refused(option, {option.name}, option.name);
      if (hidden) continue;  // the program may pass its own commands empty words
      expect_refused(option, {option.name, ""}, option.name);
      expect_refused(option, {option.name + "="}, option.name);
    }
  }
}

TEST(EveryOption, WithANonsensicalValue) {
  for (const auto& option : declared(false)) {
    if (option.type == "TEXT") continue;  // takes any
    if (option.type.empty()) {
      expect_refused(option, {option.name + "=maybe"}, option.name);  // =true is what the flag alone says
      expect_refused(option, {option.name + "=false"}, option.name);
      continue;
    }
    for (const char* value : {"zz\x1b[31mz", "-1", "1x", "99999999999999999999", " ", "nan", "\xff"})
      expect_refused(option, {option.name + "=" + value}, option.name);
  }
}

TEST(EveryOption, GivenTwice) {
  for (const auto& option : declared(false)) {
    if (option.type.empty() || option.repeatable) continue;
    const auto value = good_value(option);
    expect_refused(option, {option.name, value, option.name, value}, option.name + " is given more than once");
  }
}

TEST(EveryOption, MisspeltNamesTheNearest) {
  for (const auto& option : declared(false)) {
    const auto misspelt = option.name + "z";
    expect_refused(option, {misspelt}, "has no option " + misspelt + "; did you mean --");
  }
}

TEST(EveryOption, BeforeItsCommandOrWithoutOne) {
  for (const auto& option : declared(false)) {
    Words words{option.name};
    if (!option.type.empty()) words.push_back(good_value(option));
    const auto alone = ask(words);
    EXPECT_EQ(alone.exit, cli::Exit::usage) << option.name << alone.err;
    EXPECT_THAT(alone.err, HasSubstr(option.name + " belongs to a command"));
    words.push_back(option.command);
    words.insert(words.end(), option.arguments.begin(), option.arguments.end());
    const auto before = ask(words);
    EXPECT_EQ(before.exit, cli::Exit::usage) << option.name << before.err;
    EXPECT_THAT(before.err, HasSubstr(option.name + " stands before the command; write assay " + option.command));
  }
}

TEST(EveryCommand, RefusesAnArgumentTooManyAndNamesOneThatLacks) {
  for (const auto& option : declared(false)) {
    if (!option.any_number) expect_refused(option, {"one\ntoo", "many"}, "does not take the argument \"one\\ntoo\"");
    if (option.arguments.empty()) continue;
    const auto lacking = ask({option.command});
    EXPECT_EQ(lacking.exit, cli::Exit::usage);
    EXPECT_THAT(lacking.err, HasSubstr("needs the argument"));
  }
}

TEST(EveryCommand, OptionsThatContradictEachOther) {
  EXPECT_THAT(ask({"run", "--suite", "quick", "--plan", "x"}).err, HasSubstr("exclude each other; give one of them"));
  EXPECT_THAT(ask({"report", "--reserve-gib", "4", "x"}).err, HasSubstr("--reserve-gib needs --card; add it"));
  EXPECT_THAT(ask({"report", "--card", "--json", "x"}).err, HasSubstr("exclude each other; give one of them"));
}

TEST(EveryCommand, WhatWasTypedIsShownAndNotSent) {
  for (const Words& words : {Words{"\x1b[31mrun"},
                             Words{"measure",
                                   "--mo\x1b"
                                   "del",
                                   "x"},
                             Words{"validate", "a\nb\x07"}, Words{"recover", "\x1b]0;t\x07"},
                             Words{"report",
                                   "\xc2\x9b"
                                   "2J"},
                             Words{"estimate", "--model", "/\x1b[2J/x.json"}}) {
    const auto ran = ask(words);
    EXPECT_NE(ran.exit, cli::Exit::done);
    for (const char c : ran.err + ran.out)
      EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)) << ran.err;
    EXPECT_EQ(ran.err.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

}  // namespace
