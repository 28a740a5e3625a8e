#include "api/internal/spaces/plugin_space.h"

#include <map>
#include <set>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/errors.h"
#include "api/internal/spaces/plugin.h"
#include "backends/workers/child.h"
#include "backends/workers/wire.h"
#include "modules/space.h"
#include "trace/text.h"

namespace kiln::api {
namespace {

struct SketchAnswer {
  std::string trace;  // as text
  Sketch rest;        // without the trace
};
struct DroppedAnswer {
  std::vector<Schedule::Choice> choices;
  absl::StatusCode code;
  std::string reason;
};

struct UseAnswer {
  std::string module;
  ModuleUse use;
};

// The answer of a child process: an error, or the text of the space and, if they were asked for, its sketches.
struct Answer {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string error;
  bool mistake = false;  // the error is a Mistake (api/errors.h)
  std::string text;
  std::vector<SketchAnswer> sketches;
  std::vector<DroppedAnswer> dropped;
  std::vector<Schedule::Declined> declined;
  bool complete = true;
  std::vector<UseAnswer> uses;

  void Fail(const absl::Status& status) {
    code = status.code();
    error = std::string(status.message());
    mistake = IsMistake(status);
  }
};

struct AnswerFields {
  static void Of(auto& visit, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, SketchAnswer>) {
      visit(value.trace, value.rest.sites, value.rest.log_support, value.rest.exact_support,
            value.rest.sequences);
    } else if constexpr (std::is_same_v<T, SketchSite>) {
      visit(value.name, value.support);
    } else if constexpr (std::is_same_v<T, DroppedAnswer>) {
      visit(value.choices, value.code, value.reason);
    } else if constexpr (std::is_same_v<T, Schedule::Choice>) {
      visit(value.name, value.n, value.picked);
    } else if constexpr (std::is_same_v<T, Schedule::Declined>) {
      visit(value.where, value.why);
    } else if constexpr (std::is_same_v<T, UseAnswer>) {
      visit(value.module, value.use.of_plugin, value.use.lives, value.use.keeps, value.use.lost,
            value.use.dropped, value.use.declined);
    } else {
      static_assert(std::is_same_v<T, Answer>);
      visit(value.code, value.error, value.mistake, value.text, value.sketches, value.dropped, value.declined,
            value.complete, value.uses);
    }
  }
};

// Loads plugins in a child process and parses the space with their modules. Notes which module of which plugin is
// running, so that the parent can name it after a crash.
class Loaded {
 public:
  Loaded(const PluginSpace& space, const SharedNote& note) : space_(space), note_(note) {}

  absl::Status Load() {
    for (const std::string& name : ModuleNames()) file_of_[name] = absl::StrJoin(space_.files, ", ");
    for (size_t i = 0; i < space_.files.size(); ++i) {
      const std::string& file = space_.files[i];
      note_.Set(absl::StrCat(file, ": loading it"));
      if (const absl::Status loaded = LoadPlugin(file, space_.objects[i]); !loaded.ok()) return loaded;
      for (const std::string& name : ModuleNames()) {
        if (!file_of_.emplace(name, file).second) continue;
        of_plugins_.insert(name);
        if (FindModule(name)->of_block) added_.push_back(name);
      }
    }
    return absl::OkStatus();
  }

  std::string Text() const {
    if (!space_.text.empty()) return space_.text;
    const std::string by_default = DefaultSpace(space_.target);
    if (added_.empty() || by_default.empty()) return by_default;
    return absl::StrCat(
        "skip-zeros | drop-padded-terms | each-block(inline-constant-scalars | auto-inline) | each-block(",
        absl::StrJoin(added_, " | "), ") | ", by_default);
  }

  absl::StatusOr<Space> Parse() {
    const absl::StatusOr<Space> space = ParseSpace(Text(), [this](absl::string_view name) {
      const ModuleEntry* noted = Noted(name);
      return uses_.Watch(noted, noted != nullptr && of_plugins_.contains(noted->name));
    });
    if (!space.ok()) return space;
    return uses_.Watch(*space);
  }

  std::vector<UseAnswer> UsesIn(const Enumeration& enumeration) {
    uses_.Note(enumeration);
    std::vector<UseAnswer> uses;
    for (const auto& [module, use] : uses_.all()) uses.push_back({module, use});
    return uses;
  }

 private:
  // Returns the module, wrapped so that note_, which the parent reads after a crash, names it before any of its code
  // runs. Returns null if there is no module of this name.
  const ModuleEntry* Noted(absl::string_view name) {
    const ModuleEntry* entry = FindModule(name);
    if (entry == nullptr) return nullptr;
    const auto note = [this, text = absl::StrCat(file_of_.at(entry->name), ": module ", name)] {
      note_.Set(text);
    };
    ModuleEntry& noted = noted_[entry->name] = *entry;
    noted.make_block = [=](const OptionText& given) {
      note();
      absl::StatusOr<BlockModule> made = entry->make_block(given);
      if (made.ok()) made->apply = Noted<Schedule&, Block>(note, std::move(made->apply));
      return made;
    };
    noted.make_space = [=](const OptionText& given) {
      note();
      absl::StatusOr<Space> made = entry->make_space(given);
      if (made.ok()) made = Noted<Schedule&>(note, *std::move(made));
      return made;
    };
    return &noted;
  }
  template <typename... Arguments>
  static std::function<void(Arguments...)> Noted(const std::function<void()>& note,
                                                 std::function<void(Arguments...)> function) {
    return [=](Arguments... arguments) {
      note();
      function(arguments...);
    };
  }

  const PluginSpace& space_;
  const SharedNote& note_;
  // The plugin file that errors name, by module; for Kiln's own modules, all plugin files.
  std::map<std::string, std::string> file_of_;
  std::vector<std::string> added_;  // names of the block modules that plugins added
  std::set<std::string> of_plugins_;
  std::map<std::string, ModuleEntry> noted_;
  ModuleUses uses_;
};

Answer InChild(const PluginSpace& space, const Program* program, const EnumerateOptions& options,
               const SharedNote& note) {
  Answer answer;
  Loaded loaded(space, note);
  if (const absl::Status status = loaded.Load(); !status.ok()) {
    answer.Fail(status);
    return answer;
  }
  const absl::StatusOr<Space> parsed = loaded.Parse();
  if (!parsed.ok()) {
    answer.Fail(Mistake(parsed.status()));
    return answer;
  }
  answer.text = loaded.Text();
  if (program == nullptr) return answer;
  absl::StatusOr<Enumeration> found = Enumerate(*parsed, *program, space.target, options);
  if (!found.ok()) {
    answer.Fail(found.status());
    return answer;
  }
  answer.uses = loaded.UsesIn(*found);
  for (Sketch& sketch : found->sketches) {
    std::string trace = kiln::Print(sketch.trace);
    answer.sketches.push_back({std::move(trace), std::move(sketch)});
  }
  for (DroppedSequence& d : found->dropped)
    answer.dropped.push_back({std::move(d.choices), d.reason.code(), std::string(d.reason.message())});
  answer.declined = std::move(found->declined);
  answer.complete = found->complete;
  return answer;
}

constexpr char kHint[] =
    "\n  hint: a plugin runs in a process of its own, and nothing else was lost. To see where it stopped, "
    "give the same --plugin to `gdb -ex \"set follow-fork-mode child\" -ex run --args kiln space FILE`";

// Asks a child process for the sketches of a program, or only for the text of the space if `program` is
// null.
absl::StatusOr<Answer> Ask(const PluginSpace& space, const Program* program,
                           const EnumerateOptions& options = {}) {
  const SharedNote note;
  const auto bytes =
      RunInChild([&] { return WireEncode<AnswerFields>(InChild(space, program, options, note)); },
                 {.shows_output = true});
  const std::string why(bytes.status().message());
  if (absl::IsAborted(bytes.status()))
    return absl::AbortedError(absl::StrCat(note.Get(), " ended in a crash (", why, ")", kHint));
  if (!bytes.ok()) return absl::Status(bytes.status().code(), absl::StrCat(note.Get(), ": ", why));
  Answer answer;
  if (!WireDecode<AnswerFields>(*bytes, &answer))
    return absl::AbortedError(absl::StrCat(note.Get(), " ended in the middle of its answer", kHint));
  if (answer.code == absl::StatusCode::kOk) return answer;
  const absl::Status status(answer.code, answer.error);
  return answer.mistake ? Mistake(status) : status;
}

}  // namespace

absl::StatusOr<std::string> TextOfSpace(const PluginSpace& space) {
  absl::StatusOr<Answer> answer = Ask(space, nullptr);
  if (!answer.ok()) return answer.status();
  return std::move(answer->text);
}

absl::StatusOr<Enumeration> EnumerateInChild(const PluginSpace& space, const Program& program,
                                             const EnumerateOptions& options, ModuleUses* uses) {
  absl::StatusOr<Answer> answer = Ask(space, &program, options);
  if (!answer.ok()) return answer.status();
  for (const UseAnswer& answered : answer->uses) uses->Add(answered.module, answered.use);
  Enumeration found;
  for (SketchAnswer& sketch : answer->sketches) {
    absl::StatusOr<Trace> trace = ParseTrace(sketch.trace, absl::StrJoin(space.files, ", "));
    if (!trace.ok()) return trace.status();
    sketch.rest.trace = *std::move(trace);
    found.sketches.push_back(std::move(sketch.rest));
  }
  for (DroppedAnswer& d : answer->dropped)
    found.dropped.push_back({std::move(d.choices), absl::Status(d.code, d.reason)});
  found.declined = std::move(answer->declined);
  found.complete = answer->complete;
  return found;
}

}  // namespace kiln::api
