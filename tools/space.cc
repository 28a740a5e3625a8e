#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/phase.h"
#include "tools/input.h"
#include "tools/space_option.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "trace/enumerate.h"
#include "trace/text.h"

namespace kiln::tools {
namespace {

struct Options {
  InputOption input;
  std::string task, target = "host";
  SpaceOption space;
  int threads = 1, limit = 256;
  bool json = false;
};

double SupportOf(const Sketch& sketch) { return std::exp(sketch.log_support); }

std::string SupportText(const Sketch& sketch) {
  return absl::StrCat(sketch.exact_support ? "" : "about ", CountText(SupportOf(sketch)));
}

double SupportOf(const Enumeration& space) {
  double support = 0;
  for (const Sketch& sketch : space.sketches) support += SupportOf(sketch);
  return support;
}

std::string BlocksOf(const Program& program) {
  std::vector<std::string> names;
  for (const Id block : Blocks(program)) names.emplace_back(program.Text(program.block(block).name));
  return absl::StrJoin(names, " ");
}

// "cpu/multi-level-tiling/relu" is module and block.
std::string BlockOf(const Schedule::Declined& d) { return d.where.substr(d.where.rfind('/') + 1); }
std::string ModuleOf(const Schedule::Declined& d) {
  return d.where.substr(0, std::min(d.where.rfind('/'), d.where.size()));
}

Json ToJson(const Task& task, const Enumeration& space) {
  Json sketches = Json::array();
  for (const Sketch& sketch : space.sketches) {
    Json sites = Json::array();
    for (const SketchSite& site : sketch.sites)
      sites.push_back({{"name", site.name}, {"support", site.support}});
    sketches.push_back({{"trace", kiln::Print(sketch.trace)},
                        {"sites", std::move(sites)},
                        {"support", SupportOf(sketch)},
                        {"support_exact", sketch.exact_support},
                        {"sequences", sketch.sequences}});
  }
  Json dropped = Json::array();
  for (const DroppedSequence& d : space.dropped) dropped.push_back(std::string(d.reason.message()));
  Json declined = Json::array();
  for (const Schedule::Declined& d : space.declined)
    declined.push_back({{"module", ModuleOf(d)}, {"block", BlockOf(d)}, {"why", d.why}});
  return {{"name", task.program.name},        {"occurrences", task.occurrences.size()},
          {"blocks", BlocksOf(task.program)}, {"flops", Flops(task.program)},
          {"support", SupportOf(space)},      {"complete", space.complete},
          {"sketches", std::move(sketches)},  {"dropped", std::move(dropped)},
          {"declined", std::move(declined)}};
}

void PrintDeclined(const Enumeration& space) {
  if (space.declined.empty()) return;
  std::vector<std::vector<std::string>> rows{{"  block", "module", "left it alone, for"}};
  for (const Schedule::Declined& d : space.declined)
    rows.push_back({absl::StrCat("  ", BlockOf(d)), ModuleOf(d), d.why});
  std::printf("\n%s", Table(rows).c_str());
}

void PrintSketches(const Enumeration& space) {
  for (size_t i = 0; i < space.sketches.size(); ++i) {
    const Sketch& sketch = space.sketches[i];
    std::printf("\nsketch %zu of %zu: support %s\n", i + 1, space.sketches.size(),
                SupportText(sketch).c_str());
    std::printf("  %s", absl::StrReplaceAll(kiln::Print(sketch.trace), {{"\n", "\n  "}}).c_str());
    std::printf("\n");
    std::vector<std::vector<std::string>> rows{{"  site", "support"}};
    for (const SketchSite& site : sketch.sites)
      rows.push_back({absl::StrCat("  ", site.name), CountText(site.support)});
    std::printf("%s", Table(rows).c_str());
  }
  for (const DroppedSequence& d : space.dropped) {
    std::vector<std::string> choices;
    for (const Schedule::Choice& c : d.choices) choices.push_back(absl::StrCat(c.name, "=", c.picked));
    std::printf("\ndropped: %s\n  %s\n", absl::StrJoin(choices, " ").c_str(),
                absl::StrReplaceAll(d.reason.message(), {{"\n", "\n  "}}).c_str());
  }
}

Json ToJson(const Boundary& boundary) {
  return {{"location", boundary.location}, {"op", boundary.op}, {"reason", boundary.reason}};
}

absl::Status ShowSpace(const Options& options) {
  absl::StatusOr<Input> input = LoadInput(options.input);
  if (!input.ok()) return input.status();
  const absl::StatusOr<Target> target = NamedTarget(options.target, options.threads);
  if (!target.ok()) return target.status();
  NoteCores(options.threads, *target);
  const absl::StatusOr<NamedSpace> space = ResolveSpace(options.space, *target);
  if (!space.ok()) return space.status();

  Json json = {{"file", options.input.file},
               {"space", space->text},
               {"target", options.target},
               {"tasks", Json::array()},
               {"boundaries", Json::array()}};
  std::vector<std::vector<std::string>> rows{
      {"task", "occurrences", "sketches", "support", "GFLOP", "blocks"}};
  std::vector<Enumeration> spaces;
  bool found = false;
  std::string without;   // tasks that the space gives no sketch
  absl::Status applies;  // a crash of a plugin leaves the sketches of other tasks
  const Phase phase("enumeration");
  for (const Task& task : input->tasks) {
    if (!options.task.empty() && task.program.name != options.task) continue;
    found = true;
    absl::StatusOr<Enumeration> sketches =
        space->enumerate(task.program, {.space = space->text, .limit = options.limit});
    if (absl::IsAborted(sketches.status())) {
      const std::string why(sketches.status().message());
      applies.Update(absl::AbortedError(absl::StrCat("task ", task.program.name, ": ", why)));
      rows.push_back({task.program.name, absl::StrCat(task.occurrences.size()), "none: crashed"});
      json["tasks"].push_back({{"name", task.program.name}, {"error", why}});
      continue;
    }
    if (!sketches.ok()) return sketches.status();
    rows.push_back({task.program.name, absl::StrCat(task.occurrences.size()),
                    absl::StrCat(sketches->sketches.size(), sketches->complete ? "" : "+"),
                    CountText(SupportOf(*sketches)), absl::StrFormat("%.3g", Flops(task.program) * 1e-9),
                    BlocksOf(task.program)});
    if (options.json) json["tasks"].push_back(ToJson(task, *sketches));
    if (sketches->sketches.empty()) absl::StrAppend(&without, without.empty() ? "" : ", ", task.program.name);
    spaces.push_back(*std::move(sketches));
  }
  if (!found)
    return Usage(
        absl::InvalidArgumentError(absl::StrCat(options.input.file, " has no task \"", options.task, "\"")));
  for (const Boundary& boundary : input->boundaries) json["boundaries"].push_back(ToJson(boundary));
  if (!without.empty()) {
    applies.Update(absl::FailedPreconditionError(
        absl::StrCat("the space gives no sketch that applies for ", without,
                     "; the reasons are under \"dropped\" (`kiln space --task NAME`)")));
  }
  if (options.json) {
    if (!applies.ok()) json["error"] = applies.message();
    Print(json);
    if (!applies.ok()) std::fprintf(stderr, "kiln: %s\n", std::string(applies.message()).c_str());
    return Told(applies);
  }
  std::printf("space: %s\n\n%s", space->text.c_str(), Table(rows).c_str());
  if (spaces.size() == 1 && rows.size() == 2) {
    PrintSketches(spaces[0]);
    PrintDeclined(spaces[0]);
  }
  if (!input->boundaries.empty()) std::printf("\nnot tunable:\n");
  for (const Boundary& b : input->boundaries) {
    std::printf("  %s: %s (%s)\n", b.location.c_str(), b.op.c_str(), b.reason.c_str());
  }
  if (rows.size() > 2) std::printf("\n--task NAME prints the sketches of a task.\n");
  return applies;
}

}  // namespace

Action AddSpace(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddInput(command, &options->input);
  command.add_option("--task", options->task, "Only this task");
  AddSpaceOption(command, &options->space);
  AddTarget(command, &options->target, "The machine that sketches are made for")->capture_default_str();
  command.add_option("--threads", options->threads, "Cores of the target; 0: all")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--limit", options->limit, "Sequences of structural choices to look at")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  AddJson(command, &options->json);
  return [options] { return ShowSpace(*options); };
}

}  // namespace kiln::tools
