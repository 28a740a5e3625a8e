#include "lang/reference/interpreter.h"

#include "absl/strings/str_cat.h"
#include "lang/analysis/value_range.h"
#include "lang/program/layout.h"
#include "lang/reference/executor.h"

namespace kiln {
namespace {

struct Data {
  std::string bytes;
  std::vector<uint8_t> written;  // by element; empty: all are written
};

// The domain of numbers, on which the interpreter executes programs (lang/reference/executor.h): values are scalars,
// and buffers are bytes.
class Numbers {
 public:
  using Value = Scalar;

  Numbers(const Program& program, const InterpreterOptions& options) : p_(program), options_(options) {}
  absl::Status SetInputs(absl::Span<const std::string> inputs);
  absl::StatusOr<std::vector<std::string>> TakeOutputs();

  static Scalar Constant(DType, Scalar value) { return value; }
  Scalar Apply(Op op, DType type, ScalarFunction function, Scalar a, Scalar b, Scalar c) {
    if (options_.only_defined && IsPartial(op, type))
      undefined_ |= !IsDefined(op, type, ValueRange::Of(a.i, a.i), ValueRange::Of(b.i, b.i));
    return RoundScalar(type, function(a, b, c));
  }
  static Scalar Cast(Op op, DType from, DType to, Scalar a) { return CastScalar(op, from, to, a); }
  static Scalar Index(int64_t value) { return {.i = value}; }
  const char* Load(Id buffer, int64_t at, Scalar* to) const {
    const Data& data = data_[buffer];
    at += first_[buffer];
    if (!data.written.empty() && data.written[at] == 0) return "reads what is not written yet";
    const DType type = p_.buffers[buffer].dtype;
    *to = LoadScalar(type, data.bytes.data() + at * SizeOf(type));
    return nullptr;
  }
  const char* Gather(const CodeAccess& access, const int* which, const Scalar* registers, Scalar* to) const {
    if (options_.only_within && !access.Contains(which, registers)) return "gathers out of bounds";
    return Load(access.buffer, access.Nearest(which, registers), to);
  }
  const char* Store(Id buffer, int64_t at, Scalar value) {
    if (undefined_) return "divides by zero, divides the least number by -1 or shifts beyond the width";
    Data& data = data_[buffer];
    at += first_[buffer];
    const DType type = p_.buffers[buffer].dtype;
    StoreScalar(type, value, data.bytes.data() + at * SizeOf(type));
    data.written[at] = 1;
    return nullptr;
  }
  const char* Combine(const PlanNode& block, const int64_t* at, Registers<Scalar>& registers);
  void SelectCopy(Id buffer, int64_t copy) { first_[buffer] = copy * ElementsOf(p_, buffer); }
  static void Invalidate(Id /*buffer*/) {}
  static void BeginLoop(const PlanNode&) {}
  static void Iterate(int64_t) {}
  static void EndLoop() {}

 private:
  const Program& p_;
  const InterpreterOptions& options_;
  bool undefined_ = false;  // true once an operation was undefined
  std::vector<Data> data_;
  std::vector<int64_t> first_;  // by buffer: first element of the selected copy
};

absl::Status Numbers::SetInputs(absl::Span<const std::string> inputs) {
  data_.resize(p_.buffers.size());
  first_.resize(p_.buffers.size(), 0);
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
    if (IsGiven(buffer.role)) continue;
    const int64_t bytes = BytesOf(p_, static_cast<Id>(b)) * CopiesOf(p_, static_cast<Id>(b));
    data_[b].bytes.assign(bytes, '\xA5');
    data_[b].written.assign(bytes / SizeOf(buffer.dtype), 0);
  }
  return absl::OkStatus();
}

const char* Numbers::Combine(const PlanNode& block, const int64_t* at, Registers<Scalar>& registers) {
  const int results = static_cast<int>(block.dests.size());
  for (int r = 0; r < results; ++r) {
    if (Load(block.dests[r].buffer, at[r], &registers.combine[r]) != nullptr) {
      return "combines into what is not initialized";
    }
    registers.combine[results + r] = registers.body[block.body.result(r)];
  }
  block.combine.Run(nullptr, registers.combine.data(),
                    [](const CodeAccess&, int64_t, Scalar*) { return false; });
  for (int r = 0; r < results; ++r) {
    if (const char* wrong = Store(block.dests[r].buffer, at[r], registers.combine[block.combine.result(r)]))
      return wrong;
  }
  return nullptr;
}

absl::StatusOr<std::vector<std::string>> Numbers::TakeOutputs() {
  for (size_t b = 0; b < data_.size(); ++b) {
    if (p_.buffers[b].role != Role::kStatus) continue;
    if (const int64_t status = LoadScalar(p_.buffers[b].dtype, data_[b].bytes.data()).i; status != 0)
      return absl::InvalidArgumentError(
          absl::StrCat(p_.name, " returns status ", status, ": an assertion does not hold for these inputs"));
  }
  std::vector<std::string> outputs;
  for (const Id buffer : p_.parameters) {
    if (p_.buffers[buffer].role == Role::kOutput) outputs.push_back(std::move(data_[buffer].bytes));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Run(const Program& program, absl::Span<const std::string> inputs,
                                             const InterpreterOptions& options) {
  absl::Status status = CheckConstantExtents(program, "the interpreter");
  if (!status.ok()) return status;
  Numbers numbers(program, options);
  status = numbers.SetInputs(inputs);
  if (!status.ok()) return status;
  const ExecutionPlan plan(program);
  status = Executor<Numbers>(plan, options, numbers).Run();
  if (!status.ok()) return status;
  return numbers.TakeOutputs();
}

}  // namespace kiln
