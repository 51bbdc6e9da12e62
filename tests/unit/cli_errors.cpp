// SPDX-License-Identifier: Apache-2.0
// Exit codes and refusals: no library's own code reaches the user, every refusal is one sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <sstream>

#include "suite/cli/exit_code.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/program.hpp"

namespace {

using namespace assay;
using cli::Exit;
using testing::HasSubstr;

struct Ran {
  Exit exit;
  std::string out;
  std::string err;
};

Ran run(std::vector<std::string> words) {
  std::ostringstream out;
  std::ostringstream err;
  words.insert(words.begin(), "assay");
  cli::Context context{out, err, std::move(words), false, false, {}};
  const Exit exit = cli::run_program(context);
  return {exit, out.str(), err.str()};
}

template <class E>
std::string sentence_of(E error) {
  CLI::App app;
  app.name("assay");
  return cli::sentence(error, app);
}

TEST(Errors, EveryParseErrorOfTheLibraryIsOneSentence) {
  const std::vector<std::string> sentences{sentence_of(CLI::ParseError("first\nsecond.\n", 3)),
                                           sentence_of(CLI::RuntimeError(1)),
                                           sentence_of(CLI::FileError::Missing("f")),
                                           sentence_of(CLI::ConversionError("v", "n")),
                                           sentence_of(CLI::ValidationError("--n", "is empty")),
                                           sentence_of(CLI::RequiredError("--n")),
                                           sentence_of(CLI::ArgumentMismatch("--n", 1, 2)),
                                           sentence_of(CLI::RequiresError("--n", "--m")),
                                           sentence_of(CLI::ExcludesError("--n", "--m")),
                                           sentence_of(CLI::ExtrasError({"--n"})),
                                           sentence_of(CLI::ConfigError::Extras("x")),
                                           sentence_of(CLI::InvalidError("n")),
                                           sentence_of(CLI::HorribleError("h")),
                                           sentence_of(CLI::ArgumentMismatch::FlagOverride("--n"))};
  for (const auto& text : sentences) {
    EXPECT_THAT(text, testing::EndsWith("; see assay --help"));
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

// Throws from inside the parser, as a callback or validator of the library could.
template <class E>
Exit thrown_while_parsing(E error) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Context context{out, err, {"assay"}, false, false, {}};
  context.action = [error]() -> Exit { throw error; };
  return cli::run_program(context);
}

TEST(Errors, NoCodeOfTheLibraryGetsOut) {
  // A parse error that surfaces while a command runs is a defect of ours, still not the library's 1 or 104.
  EXPECT_EQ(thrown_while_parsing(CLI::RuntimeError(1)), Exit::internal);
  EXPECT_EQ(thrown_while_parsing(CLI::ValidationError("x", "y")), Exit::internal);
  EXPECT_EQ(thrown_while_parsing(CLI::OptionNotFound("x")), Exit::internal);
  EXPECT_EQ(thrown_while_parsing(std::bad_alloc()), Exit::workload_failed);
  EXPECT_EQ(thrown_while_parsing(7), Exit::internal);
}

TEST(Errors, RefusedCommandLines) {
  EXPECT_EQ(run({}).exit, Exit::usage);
  EXPECT_THAT(run({}).err, HasSubstr("needs a command"));
  const auto option = run({"--versoin"});
  EXPECT_EQ(option.exit, Exit::usage);
  EXPECT_THAT(option.err, HasSubstr("did you mean --version?"));
  const auto nonsense = run({"xyzzyplugh"});
  EXPECT_EQ(nonsense.exit, Exit::usage);
  EXPECT_THAT(nonsense.err, HasSubstr("there is no command \"xyzzyplugh\""));
  EXPECT_EQ(nonsense.out, "");
}

TEST(Errors, HelpAndVersionAreResults) {
  const auto help = run({"--help"});
  EXPECT_EQ(help.exit, Exit::done);
  EXPECT_EQ(help.err, "");
  const auto version = run({"--version"});
  EXPECT_EQ(version.exit, Exit::done);
  EXPECT_THAT(version.out, testing::StartsWith("assay "));
}

TEST(Errors, AnOutputThatCannotBeWrittenIsNoSuccess) {
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);
  cli::Context context{out, err, {"assay", "--version"}, false, false, {}};
  EXPECT_EQ(cli::run_program(context), Exit::output);
}

TEST(ExitCodes, OfErrors) {
  EXPECT_EQ(cli::exit_of(ErrorCode::usage), Exit::usage);
  EXPECT_EQ(cli::exit_of(ErrorCode::bad_input), Exit::bad_input);
  EXPECT_EQ(cli::exit_of(ErrorCode::no_device), Exit::no_device);
  EXPECT_EQ(cli::exit_of(ErrorCode::out_of_memory), Exit::workload_failed);
  EXPECT_EQ(cli::exit_of(ErrorCode::hung), Exit::hung);
  EXPECT_EQ(cli::exit_of(ErrorCode::wrong_result), Exit::wrong_result);
  EXPECT_EQ(cli::exit_of(ErrorCode::not_comparable), Exit::not_comparable);
  EXPECT_EQ(cli::exit_of(ErrorCode::output), Exit::output);
  EXPECT_EQ(cli::exit_of(ErrorCode::interrupted), Exit::interrupted);
  EXPECT_EQ(static_cast<int>(cli::exit_of(ErrorCode::internal)), 70);
}

TEST(ExitCodes, Precedence) {
  EXPECT_EQ(cli::strongest({}), Exit::done);
  EXPECT_EQ(cli::strongest({Exit::done, Exit::inconclusive}), Exit::inconclusive);
  EXPECT_EQ(cli::strongest({Exit::regression, Exit::inconclusive}), Exit::regression);
  EXPECT_EQ(cli::strongest({Exit::regression, Exit::hung}), Exit::hung);
  EXPECT_EQ(cli::strongest({Exit::hung, Exit::workload_failed}), Exit::workload_failed);
  EXPECT_EQ(cli::strongest({Exit::workload_failed, Exit::wrong_result}), Exit::wrong_result);
  EXPECT_EQ(cli::strongest({Exit::wrong_result, Exit::interrupted}), Exit::interrupted);
}

TEST(Numbers, Integers) {
  EXPECT_EQ(cli::parse_integer("42", {}).value(), 42);
  EXPECT_EQ(cli::parse_integer("010", {}).value(), 10);  // never octal
  EXPECT_EQ(cli::parse_integer("-3", {-5, 5}).value(), -3);
  for (const char* bad : {"", " ", "-", "+4", "0x10", "1e9", "7 ", " 7", "7x", "1_000", "1.5", "--3"})
    EXPECT_THAT(cli::parse_integer(bad, {}).error().text, testing::AnyOf(HasSubstr("not a whole"), HasSubstr("empty")));
  EXPECT_THAT(cli::parse_integer("-1", {}).error().text, HasSubstr("too small; the least is 0"));
  EXPECT_THAT(cli::parse_integer("99999999999999999999", {}).error().text, HasSubstr("too large"));
  EXPECT_THAT(cli::parse_integer("-99999999999999999999", {}).error().text, HasSubstr("too small"));
  EXPECT_THAT(cli::parse_integer("9007199254740992", {}).error().text, HasSubstr("too large"));
}

TEST(Numbers, Sizes) {
  EXPECT_EQ(cli::parse_size("512MiB").value(), 512LL << 20);
  EXPECT_EQ(cli::parse_size("1.5GiB").value(), 3LL << 29);
  EXPECT_EQ(cli::parse_size("2GB").value(), 2'000'000'000);
  EXPECT_EQ(cli::parse_size("7B").value(), 7);
  EXPECT_EQ(cli::parse_size("2 GB").value(), 2'000'000'000);
  EXPECT_THAT(cli::parse_size("4").error().text, HasSubstr("has no unit"));
  EXPECT_THAT(cli::parse_size("1.5B").error().text, HasSubstr("whole number of bytes"));
  EXPECT_THAT(cli::parse_size("99999999TB").error().text, HasSubstr("too large"));
  EXPECT_THAT(cli::parse_size("99999999999999999999999999999999999999TB").error().text, HasSubstr("too large"));
  for (const char* bad : {"", "GB", "-1GB", "1gb", "1.GB", ".5GB", "1..5GB", "1GBx", "GiB1"})
    EXPECT_FALSE(cli::parse_size(bad)) << bad;
}

TEST(Numbers, ScaledByAUnit) {
  EXPECT_EQ(cli::parse_scaled("4", 1LL << 30).value(), 4LL << 30);
  EXPECT_EQ(cli::parse_scaled("0.5", 1'000'000'000).value(), 500'000'000);
  EXPECT_EQ(cli::parse_scaled("0.3333", 1LL << 30).value(), 357878150);  // 357878150.3, to the nearest byte
  for (const char* bad : {"", "-4", "4GiB", "1e3", "nan", "inf", "0x4"}) EXPECT_FALSE(cli::parse_scaled(bad, 1)) << bad;
  EXPECT_FALSE(cli::parse_scaled("9007199254740993", 1LL << 30));
}

TEST(Spelling, NearestNameOrNone) {
  EXPECT_EQ(cli::nearest("--bacth", {"--batch", "--prompt"}), "--batch");
  EXPECT_EQ(cli::nearest("estimat", {"estimate", "run"}), "estimate");
  EXPECT_EQ(cli::nearest("--something-else", {"--batch"}), "");
  EXPECT_EQ(cli::nearest("", {}), "");
}

}  // namespace
