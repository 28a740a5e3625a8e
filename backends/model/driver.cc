#include "backends/model/driver.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

using Area = Location::Area;

constexpr char kPointer[] = "!llvm.ptr";
constexpr int64_t kTimespecBytes = 16;  // with 64-bit time, as 64-bit Linux has

std::string Repeated(absl::string_view text, size_t times) {
  return absl::StrJoin(std::vector<absl::string_view>(times, text), ", ");
}

// Writes the text of one MLIR function, operation by operation. Values are names such as "%v3".
class Function {
 public:
  explicit Function(std::string* text) : text_(*text) {}

  void Begin(const std::string& name, const std::vector<std::string>& parameters,
             absl::string_view type = kPointer) {
    absl::StrAppend(
        &text_, "  func.func @", name, "(",
        absl::StrJoin(parameters, ", ",
                      [&](std::string* out, const std::string& p) { absl::StrAppend(out, p, ": ", type); }),
        ") -> i32 {\n    %null = llvm.mlir.zero : !llvm.ptr\n    %zero = llvm.mlir.constant(0 : i32) : i32\n"
        "    %one = llvm.mlir.constant(1 : i32) : i32\n");
  }

  std::string At(const std::string& base, int64_t offset) {
    return Make("llvm.getelementptr ", base, "[", offset, "] : (!llvm.ptr) -> !llvm.ptr, i8");
  }

  std::string Entry(const std::string& table, size_t position) {
    const std::string place =
        Make("llvm.getelementptr ", table, "[", position, "] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr");
    return Make("llvm.load ", place, " : !llvm.ptr -> !llvm.ptr");
  }

  void Copy(const std::string& to, const std::string& from, int64_t bytes) {
    const std::string count = Make("llvm.mlir.constant(", bytes, " : i64) : i64");
    absl::StrAppend(&text_, "    \"llvm.intr.memcpy\"(", to, ", ", from, ", ", count,
                    ") <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()\n");
  }

  std::string Call(const std::string& function, const std::vector<std::string>& arguments) {
    return Make("llvm.call @", function, "(", absl::StrJoin(arguments, ", "), ") : (",
                Repeated(kPointer, arguments.size()), ") -> i32");
  }

  // Writes a call that allocates memory, which the written function must free. The function returns 1 if there is no
  // memory.
  std::string Allocate(int64_t bytes) {
    const std::string alignment = Make("llvm.mlir.constant(", kModelAlignment, " : i64) : i64");
    const std::string count = Make("llvm.mlir.constant(", bytes, " : i64) : i64");
    const std::string memory =
        Make("llvm.call @aligned_alloc(", alignment, ", ", count, ") : (i64, i64) -> !llvm.ptr");
    const std::string fails = Make("llvm.icmp \"eq\" ", memory, ", %null : !llvm.ptr");
    Branch(fails);
    return memory;
  }

  void Free(const std::string& memory) {
    absl::StrAppend(&text_, "    llvm.call @free(", memory, ") : (!llvm.ptr) -> ()\n");
  }

  // Writes a call of a function that the written module defines, and returns the name of its result.
  std::string CallDefined(const std::string& function, const std::vector<std::string>& arguments) {
    return Make("func.call @", function, "(", absl::StrJoin(arguments, ", "), ") : (",
                Repeated(kPointer, arguments.size()), ") -> i32");
  }

  void SetThreads(const std::string& function, const std::string& threads) {
    absl::StrAppend(&text_, "    llvm.call @", function, "(", threads, ") : (i32) -> ()\n");
  }

  // Writes code that stores number + 1 to steps[1] before call `number` begins, or returns 0 from the function if
  // steps[0] asks for fewer calls.
  void Count(const std::string& steps, size_t number) {
    const std::string limit = Make("llvm.load ", steps, " : !llvm.ptr -> i64");
    const std::string made = Make("llvm.mlir.constant(", number, " : i64) : i64");
    const std::string next = Make("llvm.mlir.constant(", number + 1, " : i64) : i64");
    Branch(Make("llvm.icmp \"sle\" ", limit, ", ", made, " : i64"), "stops");
    counts_ = true;
    absl::StrAppend(&text_, "    llvm.store volatile ", next, ", ", At(steps, sizeof(int64_t)),
                    " : i64, !llvm.ptr\n");
  }

  // Writes code that stores the present time as the timespec number `index` of the array.
  void Stamp(const std::string& array, size_t index) {
    const std::string place = At(array, static_cast<int64_t>(index) * kTimespecBytes);
    Make("llvm.call @clock_gettime(%one, ", place, ") : (i32, !llvm.ptr) -> i32");
  }

  // Writes code that returns 1 from the function if the status is not 0.
  void Require(const std::string& status) {
    const std::string fails = Make("llvm.icmp \"ne\" ", status, ", %zero : i32");
    Branch(fails);
  }

  void End(const std::string& result = "%zero") {
    absl::StrAppend(&text_, "    return ", result, " : i32\n");
    if (fails_) absl::StrAppend(&text_, "  ^fails:\n    return %one : i32\n");
    if (counts_) absl::StrAppend(&text_, "  ^stops:\n    return %zero : i32\n");
    text_ += "  }\n";
  }

 private:
  // Writes a branch to the block `end` at the end of the function, taken if the condition holds. Otherwise the function
  // goes on with what is written next.
  void Branch(const std::string& condition, absl::string_view end = "fails") {
    absl::StrAppend(&text_, "    cf.cond_br ", condition, ", ^", end, ", ^holds", blocks_, "\n  ^holds",
                    blocks_, ":\n");
    ++blocks_;
    fails_ |= end == "fails";
  }

  template <typename... Parts>
  std::string Make(const Parts&... parts) {
    std::string value = absl::StrCat("%v", values_++);
    absl::StrAppend(&text_, "    ", value, " = ", parts..., "\n");
    return value;
  }

  std::string& text_;
  int values_ = 0, blocks_ = 0;
  bool fails_ = false, counts_ = false;
};

class Writer {
 public:
  Writer(const Program& model, const ModelPlan& plan, absl::Span<const TaskCode> tasks,
         const std::string& name, bool counts_calls)
      : p_(model), plan_(plan), tasks_(tasks), name_(name), counts_calls_(counts_calls) {
    for (const Id id : p_.parameters) (IsConstant(id) ? constants_ : others_).push_back(id);
  }

  Driver Write(absl::string_view metadata) {
    text_ = "module {\n";
    if (!metadata.empty()) WriteText("_metadata", metadata);
    Declare();
    WriteRun();
    WritePrepare();
    if (TakesThreads()) WriteSetThreads();
    WriteByTable();
    text_ += "}\n";
    return {std::move(text_), std::move(entries_)};
  }

  Driver WriteProfile(absl::string_view calls) {
    text_ = "module {\n";
    WriteText("_profile_calls", calls);
    text_ += "  llvm.func @clock_gettime(i32, !llvm.ptr) -> i32\n";
    Declare();
    Function run = Begin("_profile_by_table", {"%table"});
    const size_t count = p_.parameters.size();
    std::map<Id, std::string> names;
    for (size_t i = 0; i < count; ++i) {
      if (!IsConstant(p_.parameters[i])) names[p_.parameters[i]] = run.Entry("%table", i);
    }
    const std::string weights = run.Entry("%table", count), arena = run.Entry("%table", count + 1);
    const std::string stamps = run.Entry("%table", count + 2);
    WriteCalls(run, names, weights, arena, stamps);
    run.End();
    text_ += "}\n";
    return {std::move(text_), std::move(entries_)};
  }

 private:
  bool IsConstant(Id id) const { return p_.buffers[id].role == Role::kConstant; }

  bool TakesThreads() const {
    for (const TaskCode& task : tasks_) {
      if (task.takes_threads) return true;
    }
    return false;
  }

  Function Begin(const std::string& suffix, const std::vector<std::string>& parameters,
                 absl::string_view type = kPointer) {
    entries_.push_back(absl::StrCat(name_, suffix));
    Function function(&text_);
    function.Begin(entries_.back(), parameters, type);
    return function;
  }

  void WriteText(absl::string_view suffix, absl::string_view text) {
    absl::StrAppend(&text_, "  llvm.mlir.global external constant @", name_, suffix, "(\"");
    for (const char c : text)
      absl::StrAppend(&text_, "\\", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    text_ += "\\00\") {addr_space = 0 : i32}\n";
  }

  // Declares the functions of other objects that the driver calls: those of the tasks, and for scratch memory
  // aligned_alloc and free.
  void Declare() {
    if (plan_.scratch_bytes > 0)
      text_ += "  llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr\n  llvm.func @free(!llvm.ptr)\n";
    std::map<int, const ModelCall*> calls;
    for (const ModelCall& call : plan_.calls) calls[call.task] = &call;
    for (const auto& [task, call] : calls) {
      const TaskCode& code = tasks_[task];
      const size_t count = call->buffers.size() + call->prepared.size();
      const auto type = [](size_t arguments) {
        return absl::StrCat("(", Repeated(kPointer, arguments), ") -> i32\n");
      };
      absl::StrAppend(&text_, "  llvm.func @", code.symbol, type(count + call->workspaces.size()));
      if (code.has_prepare) absl::StrAppend(&text_, "  llvm.func @", code.symbol, "_prepare", type(count));
      if (code.takes_threads) absl::StrAppend(&text_, "  llvm.func @", code.symbol, "_set_threads(i32)\n");
    }
  }

  void WriteRun() {
    std::vector<std::string> parameters = {"%weights"};
    std::map<Id, std::string> names;
    for (const Id id : others_) parameters.push_back(names[id] = absl::StrCat("%p", id));
    parameters.emplace_back("%arena");
    if (counts_calls_) parameters.emplace_back("%steps");
    Function run = Begin("", parameters);
    WriteCalls(run, names, "%weights", "%arena", "");
    run.End();
  }

  // Writes the calls of the run phase. `names` has the names of the model's parameters. `stamps` is an array to which
  // the time is written before the first and after each call; empty: none.
  void WriteCalls(Function& run, const std::map<Id, std::string>& names, const std::string& weights,
                  const std::string& arena, const std::string& stamps) {
    size_t stamp = 0;
    if (!stamps.empty()) run.Stamp(stamps, stamp++);
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      const ModelCall& call = plan_.calls[c];
      if (call.prepares) continue;
      if (counts_calls_) run.Count("%steps", c);
      std::vector<std::string> arguments;
      for (size_t i = 0; i < call.buffers.size(); ++i) {
        const Location& at = plan_.buffers[call.buffers[i]];
        const bool absent = at.area == Area::kNone || call.read_by_prepare[i];
        arguments.push_back(absent                        ? "%null"
                            : at.area == Area::kParameter ? names.at(call.buffers[i])
                            : at.area == Area::kWeights   ? run.At(weights, at.offset)
                                                          : run.At(arena, at.offset));
      }
      for (const Location& at : call.prepared) arguments.push_back(run.At(weights, at.offset));
      for (const Location& at : call.workspaces) arguments.push_back(run.At(arena, at.offset));
      const std::string status = run.Call(tasks_[call.task].symbol, arguments);
      if (!stamps.empty()) run.Stamp(stamps, stamp++);
      if (tasks_[call.task].has_status) run.Require(status);
    }
  }

  void WritePrepare() {
    Function prepare = Begin("_prepare", {"%constants", "%weights"});
    std::map<Id, std::string> given;
    for (size_t i = 0; i < constants_.size(); ++i) given[constants_[i]] = prepare.Entry("%constants", i);
    for (const Id id : constants_) {
      const Location& at = plan_.buffers[id];
      if (at.area == Area::kWeights) prepare.Copy(prepare.At("%weights", at.offset), given[id], at.bytes);
    }
    const std::string scratch = plan_.scratch_bytes > 0 ? prepare.Allocate(plan_.scratch_bytes) : "%null";
    std::set<int64_t> prepared;  // offsets of the arrays that earlier calls have prepared
    for (const ModelCall& call : plan_.calls) {
      const TaskCode& code = tasks_[call.task];
      const bool is_shared = !call.prepared.empty() && !prepared.insert(call.prepared[0].offset).second;
      if (!call.prepares && (!code.has_prepare || is_shared)) continue;
      std::vector<std::string> arguments;
      for (const Id id : call.buffers) {
        const Location& at = plan_.buffers[id];
        arguments.push_back(IsConstant(id)              ? given[id]
                            : at.area == Area::kWeights ? prepare.At("%weights", at.offset)
                            : at.area == Area::kScratch ? prepare.At(scratch, at.offset)
                                                        : "%null");
      }
      for (const Location& at : call.prepared) arguments.push_back(prepare.At("%weights", at.offset));
      if (code.has_prepare && !is_shared) prepare.Call(absl::StrCat(code.symbol, "_prepare"), arguments);
      if (!call.prepares) continue;
      for (const Location& at : call.workspaces)
        arguments.push_back(prepare.At(at.area == Area::kWeights ? "%weights" : scratch, at.offset));
      prepare.Call(code.symbol, arguments);
    }
    if (plan_.scratch_bytes > 0) prepare.Free(scratch);
    prepare.End();
  }

  void WriteSetThreads() {
    Function set = Begin("_set_threads", {"%threads"}, "i32");
    for (const TaskCode& task : tasks_) {
      if (task.takes_threads) set.SetThreads(absl::StrCat(task.symbol, "_set_threads"), "%threads");
    }
    set.End();
  }

  void WriteByTable() {
    const size_t count = p_.parameters.size();
    Function run = Begin("_by_table", {"%table"});
    std::vector<std::string> arguments = {run.Entry("%table", count)};
    for (size_t i = 0; i < count; ++i) {
      if (!IsConstant(p_.parameters[i])) arguments.push_back(run.Entry("%table", i));
    }
    arguments.push_back(run.Entry("%table", count + 1));
    if (counts_calls_) arguments.push_back(run.Entry("%table", count + 2));
    run.End(run.CallDefined(name_, arguments));

    Function prepare = Begin("_prepare_by_table", {"%table"});
    absl::StrAppend(&text_, "    %count = llvm.mlir.constant(", std::max<size_t>(constants_.size(), 1),
                    " : i64) : i64\n    %room = llvm.alloca %count x !llvm.ptr : (i64) -> !llvm.ptr\n");
    size_t next = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!IsConstant(p_.parameters[i])) continue;
      const std::string value = prepare.Entry("%table", i);
      const std::string place = prepare.At("%room", static_cast<int64_t>(next++ * sizeof(void*)));
      absl::StrAppend(&text_, "    llvm.store ", value, ", ", place, " : !llvm.ptr, !llvm.ptr\n");
    }
    prepare.End(
        prepare.CallDefined(absl::StrCat(name_, "_prepare"), {"%room", prepare.Entry("%table", count)}));
  }

  const Program& p_;
  const ModelPlan& plan_;
  const absl::Span<const TaskCode> tasks_;
  const std::string name_;
  const bool counts_calls_;
  std::vector<Id> constants_, others_;  // the parameters
  std::string text_;
  std::vector<std::string> entries_;
};

}  // namespace

Driver DriverOf(const Program& model, const ModelPlan& plan, absl::Span<const TaskCode> tasks,
                const std::string& name, absl::string_view metadata, bool counts_calls) {
  return Writer(model, plan, tasks, name, counts_calls).Write(metadata);
}

Driver ProfileDriverOf(const Program& model, const ModelPlan& plan, absl::Span<const TaskCode> tasks,
                       const std::string& name, absl::string_view calls) {
  return Writer(model, plan, tasks, name, /*counts_calls=*/false).WriteProfile(calls);
}

}  // namespace kiln
