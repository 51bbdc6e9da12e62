// SPDX-License-Identifier: Apache-2.0
// The program: every way a command line can be refused becomes one sentence and 64, every surprise one sentence and 70.
#include "suite/cli/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <ostream>
#include <utility>

#include "suite/cli/commands.hpp"
#include "suite/cli/compare_commands.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/replay_child.hpp"
#include "suite/cli/version.hpp"
#include "suite/report/printable.hpp"

namespace assay::cli {
namespace {

std::string version_line() {
  const auto built = version();
  return fmt::format("assay {} (commit {}{})", built.version, built.commit, built.dirty ? ", modified" : "");
}

// The subcommand the words led to, or the program itself.
const CLI::App& chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : *subcommands.front();
}

std::string command_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? "assay" : "assay " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_name().starts_with("__")) names.push_back(command->get_name());
  return names;
}

bool knows(const CLI::App& app, const std::string& option) {
  return app.get_option_no_throw(option) != nullptr;
}

// An option that stands before the command, or without one.
std::string misplaced(const CLI::App& app, const std::string& option) {
  const auto& target = chosen(app);
  if (&target != &app)
    return fmt::format("{} stands before the command; write assay {} {}", option, target.get_name(), option);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (knows(*command, option) && !command->get_name().starts_with("__"))
      return fmt::format("{} belongs to a command; write it behind one, as in assay {} {}", option, command->get_name(),
                         option);
  return {};
}

std::string unexpected(const CLI::App& app, const std::vector<std::string>& extras, bool of_the_program) {
  const auto& target = chosen(app);
  const auto command = command_of(target);
  // The first word that looks like an option is the misspelt one; what follows it is its value.
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const auto& word) { return word.starts_with("-"); });
  const auto& word = option != extras.end() ? *option : extras.front();
  std::string near;
  std::string what;
  if (word.starts_with("-")) {
    const auto name = word.substr(0, word.find('='));
    if (of_the_program && (&target == &app || knows(target, name)))
      if (auto text = misplaced(app, name); !text.empty()) return text;
    near = nearest(name, option_names(target));
    what = fmt::format("{} has no option {}", command, name);
  } else if (of_the_program) {
    near = nearest(word, command_names(app));
    what = fmt::format("there is no command \"{}\"", word);
  } else {
    what = fmt::format("{} does not take the argument \"{}\"", command, word);
  }
  return near.empty() ? fmt::format("{}; see {} --help", what, command)
                      : fmt::format("{}; did you mean {}?", what, near);
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '.' || text.back() == ' ' || text.back() == '\n')) text.pop_back();
  return report::printable(text);
}

// The option or argument of `command` that the library's words speak of; the longest name that is in them.
std::string named_in(std::string_view words, const CLI::App& command) {
  std::string best;
  for (const CLI::Option* option : command.get_options())
    if (const auto name = option->get_name(); name.size() > best.size() && words.find(name) != words.npos) best = name;
  if (!best.empty()) return best;
  // Of a flag the library says the bare name, at the start.
  for (const auto& name : option_names(command))
    if (words.starts_with(name.substr(2) + ' ') && name.size() > best.size()) best = name;
  return best.empty() ? "an option" : best;
}

// "A" and "B" of "A requires B".
std::pair<std::string, std::string> around(const std::string& words, std::string_view verb) {
  const auto at = words.find(verb);
  if (at == std::string::npos) return {words, "another"};
  return {words.substr(0, at), words.substr(at + verb.size())};
}

// What is wrong, in our words: those of CLI11 speak of its own notions.
std::string problem(const CLI::ParseError& error, const CLI::App& command) {
  const auto words = one_line(error.what());
  const auto is = [&error]<class E>(const E*) { return dynamic_cast<const E*>(&error) != nullptr; };
  if (is(static_cast<const CLI::ValidationError*>(nullptr))) return words;  // ours already
  const auto name = named_in(words, command);
  if (is(static_cast<const CLI::RequiredError*>(nullptr)))
    return fmt::format("{} needs {}{}", command_of(command), name.starts_with("-") ? "" : "the argument ", name);
  if (is(static_cast<const CLI::RequiresError*>(nullptr))) {
    const auto [asking, wanted] = around(words, " requires ");
    return fmt::format("{} needs {}; add it, or leave {} out", asking, wanted, asking);
  }
  if (is(static_cast<const CLI::ExcludesError*>(nullptr))) {
    const auto [one, other] = around(words, " excludes ");
    return fmt::format("{} and {} exclude each other; give one of them", one, other);
  }
  if (is(static_cast<const CLI::ArgumentMismatch*>(nullptr))) {
    if (words.find("flag override") != words.npos) return name + " takes no value; write it alone";
    if (words.find("missing") != words.npos || words.find("At Least") != words.npos) return name + " needs a value";
    return name + " is given more than once; give it once";
  }
  if (is(static_cast<const CLI::ConversionError*>(nullptr))) return name + " does not take that value";
  return "the command line cannot be read (" + words + ")";
}

Exit parse_and_run(CLI::App& app, Context& context) {
  std::vector<std::string> words(context.argv.begin() + (context.argv.empty() ? 0 : 1), context.argv.end());
  std::reverse(words.begin(), words.end());  // CLI11 takes them last first
  try {
    app.parse(words);
  } catch (const CLI::CallForVersion&) {
    context.out << version_line() << '\n';
    return Exit::done;
  } catch (const CLI::Success&) {
    const auto& command = chosen(app);
    context.out << command.help(command.get_parent() == nullptr ? "" : "assay");
    return Exit::done;
  } catch (const CLI::ParseError& error) {
    return context.fail({ErrorCode::usage, sentence(error, app)});
  }
  if (!context.action)
    return context.fail({ErrorCode::usage, fmt::format("assay needs a command: {}; see assay --help",
                                                       fmt::join(command_names(app), ", "))});
  return context.action();
}

}  // namespace

std::string sentence(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto extras = chosen(app).remaining(true);
    if (&chosen(app) != &app && !extras.empty()) return unexpected(app, extras, false);
    if (const auto own = app.remaining(false); !own.empty()) return unexpected(app, own, true);
  }
  return fmt::format("{}; see {} --help", problem(error, chosen(app)), command_of(chosen(app)));
}

void build_app(CLI::App& app, Context& context) {
  app.name("assay");
  app.description("Measures what a workload needs of a device's memory, and how fast the same kernels run on it.");
  app.set_version_flag("--version", version_line);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(32);
  // In the order --help lists them; each command's file defines its add_ function.
  add_backends(app, context);
  add_environment(app, context);
  add_estimate(app, context);
  add_measure(app, context);
  add_run(app, context);
  add_replay(app, context);
  add_duel(app, context);
  add_compare(app, context);
  add_report(app, context);
  add_export(app, context);
  add_validate(app, context);
  add_recover(app, context);
  add_hidden_probe(app, context);
  add_hidden_launch(app, context);
  add_hidden_check(app, context);
  add_hidden_replay(app, context);
  // A flag with another value than true is a misunderstanding.
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::Option* option : command->get_options())
      if (option->get_items_expected_max() == 0) option->disable_flag_override();
}

Exit run_program(Context& context) {
  try {
    CLI::App app;
    build_app(app, context);
    const Exit exit = parse_and_run(app, context);
    context.out.flush();
    // A full disk or a closed pipe behind standard output must not look like success.
    if (exit == Exit::done && !context.out)
      return context.fail({ErrorCode::output, "standard output could not be written; check its disk or pipe"});
    return exit;
  } catch (const std::bad_alloc&) {
    return context.fail(
        {ErrorCode::out_of_memory, "this process was refused memory; free some, or raise its limit (ulimit -v)"});
  } catch (const std::exception& error) {
    return context.fail({ErrorCode::internal, fmt::format("unexpected failure: {}; please report it with the command "
                                                          "line",
                                                          one_line(error.what()))});
  } catch (...) {
    return context.fail({ErrorCode::internal, "unexpected failure of an unknown kind; please report it"});
  }
}

}  // namespace assay::cli
