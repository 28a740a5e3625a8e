#include "lang/interpreter.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/body_code.h"
#include "lang/check.h"
#include "lang/random.h"

namespace kiln {
namespace {

bool MayRunAtOnce(LoopKind kind) {
  return kind != LoopKind::kSerial && kind != LoopKind::kUnrolled && kind != LoopKind::kPipelined;
}

struct Data {
  std::string bytes;
  std::vector<uint8_t> written;  // by element; empty: all are
};

// A variable to set, or a value to check only (variable -1); outside of 0 .. extent - 1 the instance does not
// exist.
struct MarkStep {
  int variable;
  CodeSum value;
  int64_t extent;
};

// A loop or a block, and what is below.
struct Place {
  Id node = kNone;
  std::vector<Place> children;
  // loop
  int variable = -1;
  int64_t extent = 0;
  bool shuffled = false;
  std::vector<int> starts;  // reductions whose destinations are set anew when the loop is entered
  // block
  std::vector<MarkStep> marks;
  BodyCode body, initial, combine;
  std::vector<Scalar> body_registers, initial_registers, combine_registers;
  std::vector<CodeAccess> dests;
  bool reduces = false, accumulates = false;
  int reduction = -1;          // not accumulating: number among these
  bool starts_itself = false;  // no loop feeds its reduction iters
};

class Interpreter {
 public:
  Interpreter(const Program& program, const InterpreterOptions& options)
      : p_(program), shuffle_(options.shuffle), dice_(Engine({options.shuffle})) {}

  absl::Status SetInputs(absl::Span<const std::string> inputs);
  absl::StatusOr<std::vector<std::string>> Run();

 private:
  using Scope = std::map<std::pair<Source::Kind, int32_t>, int>;  // variables

  std::vector<Place> CompileChildren(Id node, Id scope_block, Scope& scope, std::map<Id, Place*>& loops);
  void CompileBlock(Id node, Id scope_block, Scope& scope, std::map<Id, Place*>& loops, Place& region);
  int VariableOf(Source source, Scope& scope, Place& region);
  int MarkVariable(Id mark, Scope& scope, Place& region);
  void FindStart(Id node, std::map<Id, Place*>& loops, Place& region);
  int NewVariable(int64_t extent) {
    variable_extents_.push_back(extent);
    return static_cast<int>(variable_extents_.size()) - 1;
  }

  bool Execute(std::vector<Place>& regions);
  bool ExecuteLoop(Place& loop);
  bool ExecuteBlock(Place& block);
  void Store(Place& block, size_t result, int64_t at, Scalar value);
  bool Fail(const Place& block, const CodeAccess& access, absl::string_view what);

  const Program& p_;
  uint64_t shuffle_;
  RandomDice dice_;
  absl::Status status_;
  std::vector<Data> data_;
  std::vector<int64_t> variable_extents_, variables_;
  std::vector<uint32_t> generation_;                  // by reduction
  std::vector<std::vector<uint32_t>> generation_of_;  // by reduction and element of its first destination
  std::map<Id, std::vector<int>> iter_variables_;     // by block
};

absl::Status Interpreter::SetInputs(absl::Span<const std::string> inputs) {
  data_.resize(p_.buffers.size());
  size_t next = 0;
  for (const Id buffer : p_.parameters) {
    if (p_.buffers[buffer].role == Role::kOutput) continue;
    const int64_t bytes = BytesOf(p_, buffer);
    if (next >= inputs.size() || static_cast<int64_t>(inputs[next].size()) != bytes) {
      return absl::InvalidArgumentError(absl::StrCat("input ", p_.Text(p_.buffers[buffer].name), " has ",
                                                     next < inputs.size() ? inputs[next].size() : 0,
                                                     " bytes, wanted ", bytes));
    }
    data_[buffer].bytes = inputs[next++];
  }
  if (next != inputs.size())
    return absl::InvalidArgumentError(absl::StrCat(inputs.size(), " inputs, wanted ", next));
  for (size_t b = 0; b < p_.buffers.size(); ++b) {
    const Buffer& buffer = p_.buffers[b];
    if (buffer.data != kNone) data_[b].bytes = (*p_.constants)[buffer.data];
    if (buffer.role != Role::kTemporary && buffer.role != Role::kOutput) continue;
    const int64_t bytes = BytesOf(p_, static_cast<Id>(b));
    data_[b].bytes.assign(bytes, '\xA5');
    data_[b].written.assign(bytes / SizeOf(buffer.dtype), 0);
  }
  return absl::OkStatus();
}

std::vector<Place> Interpreter::CompileChildren(Id node, Id scope_block, Scope& scope,
                                                std::map<Id, Place*>& loops) {
  size_t count = 0;
  for (Id n = p_.nodes[node].first; n != kNone; n = p_.nodes[n].next) ++count;
  std::vector<Place> regions(count);  // not moved while `loops` points at them
  size_t at = 0;
  for (Id n = p_.nodes[node].first; n != kNone; n = p_.nodes[n].next) {
    Place& region = regions[at++];
    region.node = n;
    if (p_.IsBlock(n)) {
      CompileBlock(n, scope_block, scope, loops, region);
      continue;
    }
    region.extent = p_.loop(n).extent.max;
    region.variable = NewVariable(region.extent);
    region.shuffled = shuffle_ != 0 && MayRunAtOnce(p_.loop(n).kind);
    scope[{Source::Kind::kLoop, n}] = region.variable;
    loops[n] = &region;
    region.children = CompileChildren(n, scope_block, scope, loops);
    loops.erase(n);
    scope.erase({Source::Kind::kLoop, n});
  }
  return regions;
}

int Interpreter::MarkVariable(Id mark, Scope& scope, Place& region) {
  const Extent extent = p_.marks[mark].extent;
  CodeSum sum = MakeSum(p_.SumOf(mark), [&](Source s) { return VariableOf(s, scope, region); });
  if (sum.affine && sum.offset == 0 && sum.terms.size() == 1 && sum.terms[0].scale == 1 &&
      variable_extents_[sum.terms[0].variable] <= extent.max) {
    return sum.terms[0].variable;
  }
  const int variable = NewVariable(extent.max);
  region.marks.push_back({variable, std::move(sum), extent.max});
  return variable;
}

int Interpreter::VariableOf(Source source, Scope& scope, Place& region) {
  const auto it = scope.find({source.kind, source.id});
  if (it != scope.end()) return it->second;
  KILN_CHECK(source.kind != Source::Kind::kIter, "iter ", source.id, " is in no scope");
  Id mark = source.id;
  if (source.kind == Source::Kind::kLoop) {
    KILN_CHECK(p_.nodes[source.id].kind == Node::Kind::kDead, "loop ", source.id, " is not around the block");
    mark = p_.loops[p_.nodes[source.id].index].definition;
  }
  const int variable = MarkVariable(mark, scope, region);
  scope[{source.kind, source.id}] = variable;
  return variable;
}

void Interpreter::CompileBlock(Id node, Id scope_block, Scope& outer, std::map<Id, Place*>& loops,
                               Place& region) {
  const BlockNode& b = p_.block(node);
  Scope scope = outer;
  if (scope_block != kNone) {
    const std::vector<int>& iters = iter_variables_[scope_block];
    for (size_t i = 0; i < iters.size(); ++i)
      scope[{Source::Kind::kIter, static_cast<int32_t>(i)}] = iters[i];
  }
  std::vector<int> own;
  for (const Iter& iter : p_.Iters(b.iters)) own.push_back(MarkVariable(iter.binding, scope, region));
  const auto own_iter = [&](Source s) { return own[s.id]; };
  for (const Id mark : p_.List(b.domain)) {
    region.marks.push_back({-1, MakeSum(p_.SumOf(mark), own_iter), p_.marks[mark].extent.max});
  }
  iter_variables_[node] = own;
  region.body = BodyCode(p_, p_.List(b.values), 0, own_iter);
  region.body_registers = region.body.initial();
  for (const Access& dest : p_.Accesses(b.dests)) {
    region.dests.push_back(MakeAccess(p_, dest.buffer, p_.List(dest.index), own_iter));
  }
  if (b.monoid != kNone) {
    const Monoid& monoid = p_.monoids[b.monoid];
    region.reduces = true;
    region.accumulates = b.accumulates;
    region.combine = BodyCode(p_, p_.List(monoid.combine), 2 * monoid.identity.count, own_iter);
    region.combine_registers = region.combine.initial();
    region.initial = BodyCode(p_, p_.List(b.initial.count != 0 ? b.initial : monoid.identity), 0, own_iter);
    region.initial_registers = region.initial.initial();
    if (!b.accumulates) FindStart(node, loops, region);
  }
  Scope inner;
  std::map<Id, Place*> inner_loops = loops;
  region.children = CompileChildren(node, node, inner, inner_loops);
}

// The outermost loop that a reduction iter's binding leads to, through definitions and the iters of blocks
// around.
void Interpreter::FindStart(Id node, std::map<Id, Place*>& loops, Place& region) {
  region.reduction = static_cast<int>(generation_.size());
  generation_.push_back(0);
  generation_of_.emplace_back(data_[region.dests[0].buffer].written.size(), 0);
  const auto around = [&](Id n) {
    do n = p_.nodes[n].parent;
    while (n != kNone && !p_.IsBlock(n));
    return n;
  };
  std::vector<std::pair<Id, Id>> work;  // a mark, and the block whose iters it may use
  for (const Iter& iter : p_.Iters(p_.block(node).iters)) {
    if (iter.kind == IterKind::kReduction) work.push_back({iter.binding, around(node)});
  }
  Id outermost = kNone;
  while (!work.empty()) {
    const auto [mark, block] = work.back();
    work.pop_back();
    for (const Split& s : p_.Splits(p_.marks[mark].splits)) {
      if (s.source.kind == Source::Kind::kMark) {
        work.push_back({s.source.id, block});
      } else if (s.source.kind == Source::Kind::kIter) {
        work.push_back({p_.Iters(p_.block(block).iters)[s.source.id].binding, around(block)});
      } else if (p_.nodes[s.source.id].kind == Node::Kind::kDead) {
        work.push_back({p_.loops[p_.nodes[s.source.id].index].definition, block});
      } else {
        Id up = outermost;
        while (up != kNone && up != s.source.id) up = p_.nodes[up].parent;
        if (outermost == kNone || up != kNone) outermost = s.source.id;
      }
    }
  }
  region.starts_itself = outermost == kNone;
  if (outermost != kNone) loops.at(outermost)->starts.push_back(region.reduction);
}

bool Interpreter::Fail(const Place& block, const CodeAccess& access, absl::string_view what) {
  const auto index = [&](std::string* s, const CodeAccess::Dim& d) {
    absl::StrAppend(s, d.index(variables_.data()));
  };
  status_ = absl::InternalError(absl::StrCat("block \"", p_.Text(p_.block(block.node).name), "\" ", what,
                                             ": ", p_.Text(p_.buffers[access.buffer].name), "[",
                                             absl::StrJoin(access.dims, ", ", index), "]"));
  return false;
}

bool Interpreter::Execute(std::vector<Place>& regions) {
  for (Place& region : regions) {
    if (!(region.variable >= 0 ? ExecuteLoop(region) : ExecuteBlock(region))) return false;
  }
  return true;
}

bool Interpreter::ExecuteLoop(Place& loop) {
  for (const int reduction : loop.starts) ++generation_[reduction];
  if (!loop.shuffled) {
    for (int64_t i = 0; i < loop.extent; ++i) {
      variables_[loop.variable] = i;
      if (!Execute(loop.children)) return false;
    }
    return true;
  }
  std::vector<int64_t> order(loop.extent);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = loop.extent; i > 1; --i) std::swap(order[i - 1], order[dice_.Below(i)]);
  for (const int64_t i : order) {
    variables_[loop.variable] = i;
    if (!Execute(loop.children)) return false;
  }
  return true;
}

bool Interpreter::ExecuteBlock(Place& block) {
  int64_t* const variables = variables_.data();
  for (const MarkStep& mark : block.marks) {
    const int64_t value = mark.value(variables);
    if (value < 0 || value >= mark.extent) return true;
    if (mark.variable >= 0) variables[mark.variable] = value;
  }
  const auto load = [&](const CodeAccess& access, int64_t at, Scalar* value) {
    const Data& data = data_[access.buffer];
    const DType type = p_.buffers[access.buffer].dtype;
    if (at < 0) return Fail(block, access, "reads out of bounds");
    if (!data.written.empty() && data.written[at] == 0)
      return Fail(block, access, "reads what is not written yet");
    *value = LoadScalar(type, data.bytes.data() + at * SizeOf(type));
    return true;
  };
  Scalar* const values = block.body_registers.data();
  if (!block.body.Run(variables, values, load)) return false;
  const size_t results = block.dests.size();
  absl::InlinedVector<int64_t, 2> at(results);
  for (size_t r = 0; r < results; ++r) {
    at[r] = block.dests[r](variables);
    if (at[r] < 0) return Fail(block, block.dests[r], "writes out of bounds");
  }
  if (!block.reduces) {
    for (size_t r = 0; r < results; ++r)
      Store(block, r, at[r], values[block.body.result(static_cast<int>(r))]);
    return block.children.empty() || Execute(block.children);
  }
  if (!block.accumulates) {
    uint32_t& own = generation_of_[block.reduction][at[0]];
    if (block.starts_itself) ++generation_[block.reduction];
    if (own != generation_[block.reduction]) {
      own = generation_[block.reduction];
      Scalar* const initial = block.initial_registers.data();
      if (!block.initial.Run(variables, initial, load)) return false;
      for (size_t r = 0; r < results; ++r)
        Store(block, r, at[r], initial[block.initial.result(static_cast<int>(r))]);
    }
  }
  Scalar* const registers = block.combine_registers.data();
  for (size_t r = 0; r < results; ++r) {
    const Data& data = data_[block.dests[r].buffer];
    if (data.written[at[r]] == 0) return Fail(block, block.dests[r], "combines into what is not initialized");
    const DType type = p_.buffers[block.dests[r].buffer].dtype;
    registers[r] = LoadScalar(type, data.bytes.data() + at[r] * SizeOf(type));
    registers[results + r] = values[block.body.result(static_cast<int>(r))];
  }
  block.combine.Run(variables, registers, load);
  for (size_t r = 0; r < results; ++r)
    Store(block, r, at[r], registers[block.combine.result(static_cast<int>(r))]);
  return block.children.empty() || Execute(block.children);
}

void Interpreter::Store(Place& block, size_t result, int64_t at, Scalar value) {
  Data& data = data_[block.dests[result].buffer];
  const DType type = p_.buffers[block.dests[result].buffer].dtype;
  StoreScalar(type, value, data.bytes.data() + at * SizeOf(type));
  data.written[at] = 1;
}

absl::StatusOr<std::vector<std::string>> Interpreter::Run() {
  Scope scope;
  std::map<Id, Place*> loops;
  std::vector<Place> regions = CompileChildren(kRoot, kNone, scope, loops);
  variables_.assign(variable_extents_.size(), 0);
  if (!Execute(regions)) return status_;
  std::vector<std::string> outputs;
  for (const Id buffer : p_.parameters) {
    if (p_.buffers[buffer].role == Role::kOutput) outputs.push_back(std::move(data_[buffer].bytes));
  }
  return outputs;
}

}  // namespace

int64_t BytesOf(const Program& program, Id buffer) {
  int64_t bytes = SizeOf(program.buffers[buffer].dtype);
  for (const Extent& e : program.Dims(program.buffers[buffer].shape)) bytes *= e.max;
  return bytes;
}

absl::StatusOr<std::vector<std::string>> Run(const Program& program, absl::Span<const std::string> inputs,
                                             const InterpreterOptions& options) {
  Interpreter interpreter(program, options);
  const absl::Status status = interpreter.SetInputs(inputs);
  if (!status.ok()) return status;
  return interpreter.Run();
}

}  // namespace kiln
