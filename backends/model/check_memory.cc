#include "backends/model/check_memory.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/workers/child.h"
#include "backends/workers/write_all.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/check.h"
#include "lang/model/apart.h"
#include "lang/model/arena.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

using Area = Location::Area;

constexpr char kNobody = '\xff';  // what memory holds that nothing has written: NaN as a float

// Maps anonymous memory, which holds zeros. Ends the process if that fails.
char* Pages(int64_t bytes, int protection, int sharing = MAP_PRIVATE) {
  void* const memory =
      mmap(nullptr, static_cast<size_t>(bytes), protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  KILN_CHECK(memory != MAP_FAILED, "no memory for ", bytes, " bytes");
  return static_cast<char*>(memory);
}

void Protect(char* at, int64_t bytes, int protection) {
  KILN_CHECK(mprotect(at, static_cast<size_t>(bytes), protection) == 0, "mprotect: ", std::strerror(errno));
}

// Allocates an array at the end of its pages, between two pages that nobody may touch, and fills the pages with bytes
// 0xff. If `content` is given, copies it to the array and makes the array read-only.
char* GuardedArray(int64_t bytes, absl::string_view content = "") {
  const int64_t pages = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  char* const begin = Pages(pages + 2 * kPageBytes, PROT_NONE) + kPageBytes;
  Protect(begin, pages, PROT_READ | PROT_WRITE);
  std::memset(begin, kNobody, pages);
  char* const array = begin + pages - RoundUp(bytes);
  std::memcpy(array, content.data(), content.size());
  if (!content.empty()) Protect(begin, pages, PROT_READ);
  return array;
}

// Memory that the parent, the child and the library share. Calls are counted by their position in the plan, from 1. The
// parent reads `begun` after a crash.
struct Steps {
  int64_t limit = std::numeric_limits<int64_t>::max();  // the last call that the library may make
  int64_t begun = 0;                                    // the last call that the library has begun
};

// A loaded library of a model, with its parameters, weights and arena.
class Instance {
 public:
  // Loads the library and allocates its memory. `apart`: the plan keeps each array in pages of its own. `given`: the
  // inputs and constants in order.
  Instance(const MemoryCheck& check, const ModelPlan& plan, bool apart, const std::string& shared_object,
           absl::Span<char* const> given, Steps* steps)
      : check_(check), plan_(plan), apart_(apart) {
    const int file = memfd_create("kiln-model", MFD_CLOEXEC);
    KILN_CHECK(file >= 0 && WriteAll(file, shared_object), "there is no memory for the library");
    library_ = dlopen(absl::StrCat("/proc/self/fd/", file).c_str(), RTLD_NOW | RTLD_LOCAL);
    KILN_CHECK(library_ != nullptr, "the library cannot be loaded: ", dlerror());
    size_t next = 0;
    for (const Id id : check.model.parameters) {
      const bool is_given = IsGiven(check.model.buffers[id].role);
      table_.push_back(is_given ? given[next++] : GuardedArray(BytesOf(check.model, id)));
    }
    weights_ = Memory(Area::kWeights, plan.weights_bytes);
    arena_ = Memory(Area::kArena, plan.arena_bytes);
    table_.insert(table_.end(), {weights_, arena_, reinterpret_cast<char*>(steps)});
  }

  int Prepare() {
    const int status = Call("_prepare_by_table");
    if (apart_) ProtectArrays(Area::kWeights, weights_);
    return status;
  }
  int Run() {
    Clear();
    return Call("_by_table");
  }

  absl::string_view Bytes(Id buffer) const {
    const Location& at = plan_.buffers[buffer];
    const char* memory = at.area == Area::kParameter ? table_[at.offset]
                         : at.area == Area::kWeights ? weights_ + at.offset
                                                     : arena_ + at.offset;
    return {memory, static_cast<size_t>(at.bytes)};
  }

  // Returns the name of the first array of the plan beside which a call has written; for a workspace or a prepared
  // array, a text with the number of its call. Returns "" if there is none.
  std::string WrittenBeside() const {
    for (size_t b = 0; b < plan_.buffers.size(); ++b) {
      const bool is_part =
          absl::c_any_of(plan_.views, [&](const ModelView& v) { return v.part == static_cast<Id>(b); });
      if (!is_part && !IsWholeAround(plan_.buffers[b]))
        return std::string(check_.model.Text(check_.model.buffers[b].name));
    }
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      for (const auto* list : {&plan_.calls[c].prepared, &plan_.calls[c].workspaces}) {
        if (!absl::c_all_of(*list, [&](const Location& at) { return IsWholeAround(at); }))
          return absl::StrCat("a workspace or prepared array of call ", c);
      }
    }
    return "";
  }

 private:
  char* Memory(Area area, int64_t bytes) const {
    if (!apart_) {
      char* const all = Pages(bytes + 1, PROT_READ | PROT_WRITE);
      std::memset(all, kNobody, bytes);
      return all;
    }
    char* const all = Pages(bytes, PROT_NONE);
    for (const Location& pages : PagesOf(plan_, area)) {
      Protect(all + pages.offset, pages.bytes, PROT_READ | PROT_WRITE);
      std::memset(all + pages.offset, kNobody, pages.bytes);
    }
    return all;
  }

  void ProtectArrays(Area area, char* memory) const {
    for (const Location& pages : PagesOf(plan_, area)) Protect(memory + pages.offset, pages.bytes, PROT_READ);
  }

  void Clear() {
    if (!apart_) std::memset(arena_, kNobody, plan_.arena_bytes);
  }

  bool IsWholeAround(const Location& at) const {
    if (at.area != Area::kArena && at.area != Area::kWeights) return true;
    const char* const array = (at.area == Area::kArena ? arena_ : weights_) + at.offset;
    const int64_t held = RoundUp(at.bytes), before = (kPageBytes - held % kPageBytes) % kPageBytes;
    const auto is_nobodys = [](char byte) { return byte == kNobody; };
    return std::all_of(array - before, array, is_nobodys) &&
           std::all_of(array + at.bytes, array + held, is_nobodys);
  }

  int Call(absl::string_view suffix) {
    auto* function =
        reinterpret_cast<int (*)(char* const*)>(dlsym(library_, absl::StrCat(check_.name, suffix).c_str()));
    KILN_CHECK(function != nullptr, "the library has no ", check_.name, suffix);
    return function(table_.data());
  }

  const MemoryCheck& check_;
  const ModelPlan& plan_;
  const bool apart_;
  void* library_ = nullptr;
  char *weights_ = nullptr, *arena_ = nullptr;
  std::vector<char*> table_;
};

// Returns the text that the child sends to its parent: "ok STATUS " and the bytes of the model's results.
std::string Encoded(const Program& model, const Instance& instance, int status) {
  std::string text = absl::StrCat("ok ", status, " ");
  for (const Id id : model.parameters) {
    if (model.buffers[id].role == Role::kOutput) absl::StrAppend(&text, instance.Bytes(id));
  }
  return text;
}

CheckedRun Decoded(const Program& model, absl::string_view text) {
  text.remove_prefix(3);
  CheckedRun run{.status = text[0] - '0'};
  text.remove_prefix(2);
  for (const Id id : model.parameters) {
    if (model.buffers[id].role != Role::kOutput) continue;
    const auto bytes = static_cast<size_t>(BytesOf(model, id));
    run.results.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return run;
}

std::vector<char*> Guarded(absl::Span<const absl::string_view> given) {
  std::vector<char*> arrays;
  for (const absl::string_view bytes : given)
    arrays.push_back(GuardedArray(static_cast<int64_t>(bytes.size()), bytes));
  return arrays;
}

class Checker {
 public:
  Checker(const MemoryCheck& check, const std::string& shared_object, BuilderPool& builders,
          const ModelBuildOptions& options)
      : check_(check),
        shared_object_(shared_object),
        builders_(builders),
        options_(options),
        apart_(PlanApart(check.plan)),
        steps_(new (Pages(kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED)) Steps) {
    options_.counts_calls = true;
  }
  ~Checker() { munmap(steps_, kPageBytes); }
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  absl::StatusOr<CheckedRun> Check() {
    auto separate = Link(apart_);
    if (!separate.ok()) return separate.status();
    separate_ = *std::move(separate);
    const SharedNote note;
    const auto said = RunInChild([&] { return Compare(note); }, Limits());
    if (!said.ok()) return Crash(note.Get(), said.status());
    if (absl::StartsWith(*said, "differs")) return Difference();
    if (!absl::StartsWith(*said, "ok ")) return absl::InternalError(*said);
    return Decoded(check_.model, *said);
  }

 private:
  absl::StatusOr<std::string> Link(const ModelPlan& plan) {
    auto library = LinkModel(check_.model, plan, check_.code, check_.name, builders_, options_);
    if (!library.ok()) return library.status();
    return std::move(library->shared_object);
  }

  ChildLimits Limits() const {
    int64_t bytes = 2 * (apart_.arena_bytes + apart_.weights_bytes) + (int64_t{8} << 30);
    for (const Id id : check_.model.parameters) bytes += 3 * BytesOf(check_.model, id);
    return {.memory = bytes};
  }

  std::string Name(size_t call) const {
    return absl::StrCat("call ", call, " (", check_.tasks[check_.plan.calls[call].task], ")");
  }

  // Runs the library, then the tasks with separate arrays, and compares their statuses and results. Returns "ok STATUS
  // " and the results, "differs", or a message that says what is wrong.
  std::string Compare(const SharedNote& note) const {
    const std::vector<char*> given = Guarded(check_.given);
    note.Set("library");
    Instance library(check_, check_.plan, false, shared_object_, given, steps_);
    if (library.Prepare() != 0) return "the prepare phase found no memory";
    const int status = library.Run();
    note.Set("prepare");
    Instance apart(check_, apart_, true, separate_, given, steps_);
    if (apart.Prepare() != 0) return "the prepare phase found no memory";
    note.Set("calls");
    if (apart.Run() != status) return "differs";
    for (const Id id : check_.model.parameters) {
      const bool is_result = status == 0 && check_.model.buffers[id].role == Role::kOutput;
      if (is_result && library.Bytes(id) != apart.Bytes(id)) return "differs";
    }
    const std::string beside = apart.WrittenBeside();
    if (!beside.empty()) return absl::StrCat("a call writes beside ", beside);
    return Encoded(check_.model, library, status);
  }

  absl::Status Crash(const std::string& stage, const absl::Status& status) const {
    if (stage == "library" || stage.empty())
      return absl::FailedPreconditionError(
          absl::StrCat("the library ", check_.name, " does not run: ", status.message()));
    if (stage == "prepare")
      return absl::InternalError(
          absl::StrCat("the prepare phase touches memory outside its arrays: ", status.message()));
    const size_t call = steps_->begun > 0 ? static_cast<size_t>(steps_->begun - 1) : 0;
    return absl::InternalError(
        absl::StrCat(Name(call), " touches memory outside its arrays: ", status.message()));
  }

  std::vector<Id> WrittenBy(const ModelCall& call) const {
    if (call.foreign >= 0) return check_.foreign[static_cast<size_t>(call.foreign)].writes;
    std::vector<Id> written;
    for (const Id block : call.blocks)
      absl::c_copy(WrittenBuffers(check_.model, block), std::back_inserter(written));
    return written;
  }

  bool IsLastWriter(size_t call, Id buffer) const {
    for (size_t later = call + 1; later < check_.plan.calls.size(); ++later) {
      if (absl::c_linear_search(WrittenBy(check_.plan.calls[later]), buffer)) return false;
    }
    return true;
  }

  // Finds the first call that writes something else in the library than with separate arrays: runs the library with 1,
  // 2, 3, ... calls, and compares the arrays that no later call writes. Returns an error that names the call and the
  // array, or says that the status differs if no array does.
  absl::Status Difference() {
    const auto counted = Link(check_.plan);
    if (!counted.ok()) return counted.status();
    const auto said = RunInChild(
        [&] {
          const std::vector<char*> given = Guarded(check_.given);
          Instance packed(check_, check_.plan, false, *counted, given, steps_);
          Instance apart(check_, apart_, true, separate_, given, steps_);
          packed.Prepare(), apart.Prepare();
          apart.Run();
          for (size_t call = 0; call < check_.plan.calls.size(); ++call) {
            if (check_.plan.calls[call].prepares) continue;
            steps_->limit = static_cast<int64_t>(call) + 1;
            packed.Run();
            for (const Id b : WrittenBy(check_.plan.calls[call])) {
              if (check_.plan.buffers[b].area != Area::kNone && IsLastWriter(call, b) &&
                  packed.Bytes(b) != apart.Bytes(b))
                return absl::StrCat(Name(call), " leaves another ",
                                    check_.model.Text(check_.model.buffers[b].name),
                                    " in the arena than in memory of its own");
            }
          }
          return std::string("the status differs with arrays in memory of their own");
        },
        Limits());
    return said.ok() ? absl::InternalError(*said) : Crash("library", said.status());
  }

  const MemoryCheck& check_;
  const std::string& shared_object_;
  BuilderPool& builders_;
  ModelBuildOptions options_;
  const ModelPlan apart_;
  Steps* const steps_;
  std::string separate_;  // the library of the plan apart
};

}  // namespace

absl::StatusOr<CheckedRun> CheckMemory(const MemoryCheck& check, const std::string& shared_object,
                                       BuilderPool& builders, const ModelBuildOptions& options) {
  return Checker(check, shared_object, builders, options).Check();
}

absl::StatusOr<CheckedRun> RunLibrary(const MemoryCheck& run, const std::string& shared_object) {
  const auto work = [&]() -> std::string {
    Steps steps;
    Instance library(run, run.plan, false, shared_object, Guarded(run.given), &steps);
    if (library.Prepare() != 0) return "the prepare phase found no memory";
    const int status = library.Run();
    return Encoded(run.model, library, status);
  };
  int64_t bytes = run.plan.arena_bytes + run.plan.weights_bytes + (int64_t{8} << 30);
  for (const Id id : run.model.parameters) bytes += 2 * BytesOf(run.model, id);
  const auto said = RunInChild(work, {.memory = bytes});
  if (!said.ok())
    return absl::FailedPreconditionError(
        absl::StrCat("the library ", run.name, " does not run: ", said.status().message()));
  if (!absl::StartsWith(*said, "ok ")) return absl::FailedPreconditionError(*said);
  return Decoded(run.model, *said);
}

}  // namespace kiln
