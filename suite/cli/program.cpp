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
#include <ostream>

#include "suite/cli/commands.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/version.hpp"

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

std::string unexpected(const CLI::App& app, const std::vector<std::string>& extras) {
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
    near = nearest(name, option_names(target));
    what = fmt::format("{} has no option {}", command, name);
  } else if (target.get_parent() == nullptr) {
    near = nearest(word, command_names(target));
    what = fmt::format("there is no command \"{}\"", word);
  } else {
    what = fmt::format("{} does not take the argument \"{}\"", command, word);
  }
  return near.empty() ? fmt::format("{}; see {} --help", what, command)
                      : fmt::format("{}; did you mean {}?", what, near);
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
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
    auto extras = chosen(app).remaining(true);
    if (extras.empty()) extras = app.remaining(true);
    if (!extras.empty()) return unexpected(app, extras);
  }
  const auto command = command_of(chosen(app));
  return fmt::format("{}; see {} --help", one_line(error.what()), command);
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
  add_report(app, context);
  add_validate(app, context);
  add_recover(app, context);
  add_hidden_probe(app, context);
  add_hidden_launch(app, context);
  add_hidden_check(app, context);
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
  } catch (const std::exception& error) {
    return context.fail({ErrorCode::internal, fmt::format("unexpected failure: {}; please report it with the command "
                                                          "line",
                                                          one_line(error.what()))});
  } catch (...) {
    return context.fail({ErrorCode::internal, "unexpected failure of an unknown kind; please report it"});
  }
}

}  // namespace assay::cli
