#include "api/internal/tasks.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "backends/export/export.h"
#include "backends/export/header.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/text/hash.h"

namespace kiln::api {
namespace {

// Returns the name that the file gives to a parameter; empty if there is none. The importer calls the buffer of
// argument N "argN", and arguments[N] is the name.
std::string ArgumentOf(absl::string_view buffer, const std::vector<std::string>& arguments) {
  size_t position = 0;
  const bool is_argument = absl::ConsumePrefix(&buffer, "arg") && absl::SimpleAtoi(buffer, &position) &&
                           position < arguments.size();
  return is_argument ? arguments[position] : "";
}

std::vector<std::string> ArgumentsOfTask(const Program& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const Id id : program.parameters)
    names.push_back(ArgumentOf(program.Text(program.buffers[id].name), arguments));
  return names;
}

std::string BlocksOf(const Program& program) {
  std::vector<std::string> names;
  for (const Id block : Blocks(program)) names.emplace_back(program.Text(program.block(block).name));
  return absl::StrJoin(names, " ");
}

}  // namespace

std::vector<Parameter> ParametersOf(const Program& program, const std::vector<std::string>& arguments,
                                    const std::vector<PreparedParam>& prepared) {
  const size_t own = program.parameters.size();
  const std::vector<std::string> names = ParameterNames(program, prepared.size());
  std::vector<Parameter> parameters;
  for (size_t i = 0; i < own; ++i) {
    const Buffer& buffer = program.buffers[program.parameters[i]];
    Parameter& p = parameters.emplace_back();
    p.name = names[i];
    if (i < arguments.size()) p.argument = arguments[i];
    p.dtype = std::string(ToString(buffer.dtype));
    for (const Extent& extent : program.Dims(buffer.shape)) p.shape.push_back(extent.Known());
    p.role = std::string(RoleWord(buffer.role));
  }
  for (size_t i = 0; i < prepared.size(); ++i)
    parameters.push_back({names[own + i], "", prepared[i].dtype, {prepared[i].elements}, "prepared"});
  return parameters;
}

std::vector<Parameter> ParametersOf(const Input& input) {
  return ParametersOf(input.program, ArgumentsOfTask(input.program, input.file_content.arguments));
}

std::vector<TaskInfo> TasksOf(const Input& input) {
  std::vector<TaskInfo> tasks;
  for (const Task& task : input.tasks) {
    const Program& program = task.program;
    tasks.push_back(
        {.name = program.name,
         .hash = ToString(HashOf(program)),
         .occurrences = static_cast<int>(task.occurrences.size()),
         .flops = Flops(program),
         .blocks = BlocksOf(program),
         .symbol = SafeName(program.name),
         .parameters = ParametersOf(program, ArgumentsOfTask(program, input.file_content.arguments)),
         .program = program});
  }
  return tasks;
}

std::vector<LeftOut> LeftOutOf(const Input& input) {
  std::vector<LeftOut> list;
  for (const Boundary& b : input.file_content.boundaries) list.push_back({b.location, b.op, b.reason});
  return list;
}

}  // namespace kiln::api
