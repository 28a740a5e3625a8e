#include "bench/support/command_line.h"

#include "CLI/CLI.hpp"

namespace kiln {
namespace {

template <class T>
CLI::Option* AddTo(CLI::App& app, const std::string& name, T* variable, const std::string& help) {
  if constexpr (std::is_same_v<T, bool>) {
    return app.add_flag(name, *variable, help);
  } else {
    return app.add_option(name, *variable, help)->capture_default_str();
  }
}

}  // namespace

CommandLine::CommandLine(const std::string& name, const std::string& about)
    : app_(std::make_unique<CLI::App>(about, name)) {}

CommandLine::~CommandLine() = default;

void CommandLine::Add(const std::string& name, Variable variable, const std::string& help,
                      const OptionValues& values) {
  CLI::Option* option = std::visit([&](auto* to) { return AddTo(*app_, name, to, help); }, variable);
  option->required(values.required);
  const OptionValues any;
  if (values.least != any.least || values.most != any.most)
    option->check(CLI::Range(values.least, values.most));
  if (!values.names.empty()) option->check(CLI::IsMember(values.names));
}

void CommandLine::AllowOthers() { app_->allow_extras(); }

std::optional<int> CommandLine::Parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error);
  }
  return std::nullopt;
}

}  // namespace kiln
