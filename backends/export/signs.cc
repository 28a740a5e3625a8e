#include "backends/export/signs.h"

#include "absl/container/flat_hash_set.h"
#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

bool IsInteger(DType type) {
  return !IsFloat(type) && type != DType::kI1 && type != DType::kIndex && type != DType::kU8;
}

// The sign (signed or unsigned) with which an operation reads its first `operands` operands, and whether its result has
// this sign too (`gives`).
struct Reading {
  Sign sign = Sign::kUnsaid;
  int operands = 0;
  bool gives = false;
};

Reading ReadingOf(const Program& p, const Expr& e) {
  switch (e.op) {
    case Op::kCast: {
      const DType from = p.exprs[e.operand(0)].dtype;
      const bool extends = !IsInteger(from) || !IsInteger(e.dtype) || SizeOf(e.dtype) > SizeOf(from);
      return extends ? Reading{Sign::kSigned, 1, from != DType::kI1} : Reading{};
    }
    case Op::kCastUnsigned:
      return {Sign::kUnsigned, 1, true};
    case Op::kCmpLt:
    case Op::kCmpLe:
    case Op::kCmpGt:
    case Op::kCmpGe:
      return {Sign::kSigned, 2};
    case Op::kCmpULt:
    case Op::kCmpULe:
    case Op::kCmpUGt:
    case Op::kCmpUGe:
      return {Sign::kUnsigned, 2};
    case Op::kDiv:
    case Op::kRem:
    case Op::kFloorDiv:
    case Op::kCeilDiv:
    case Op::kMax:
    case Op::kMin:
      return {Sign::kSigned, 2, true};
    case Op::kDivU:
    case Op::kRemU:
    case Op::kMaxU:
    case Op::kMinU:
      return {Sign::kUnsigned, 2, true};
    case Op::kShr:
    case Op::kAbs:
      return {Sign::kSigned, 1, true};
    case Op::kShrU:
      return {Sign::kUnsigned, 1, true};
    default:
      return {};
  }
}

class Finder {
 public:
  explicit Finder(const Program& p) : p_(p), read_(p.buffers.size()), made_(p.buffers.size()) {}

  std::vector<Sign> Run() {
    for (const Id id : BlocksBelow(p_, kRoot)) Visit(p_.block(id));
    // Propagates signs along copies: a sign with which a copy is read applies to the buffer that was copied, and a sign
    // with which a buffer is computed applies to its copies.
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [from, to] : copies_) {
        for (const auto& [known, other] : {std::pair(&read_[to], &read_[from]), {&made_[from], &made_[to]}}) {
          changed |= (*known | *other) != *other;
          *other |= *known;
        }
      }
    }
    std::vector<Sign> signs;
    for (size_t b = 0; b < p_.buffers.size(); ++b) {
      const int seen = p_.buffers[b].role == Role::kOutput ? made_[b] : read_[b];
      const bool told = IsInteger(p_.buffers[b].dtype) && seen != 0 && seen != kBoth;
      signs.push_back(told ? static_cast<Sign>(seen) : Sign::kUnsaid);
    }
    return signs;
  }

 private:
  static constexpr int kBoth = static_cast<int>(Sign::kSigned) | static_cast<int>(Sign::kUnsigned);

  void Visit(const BlockNode& block) {
    const auto dests = p_.Accesses(block.dests);
    for (const Range list : {block.values, block.initial}) {
      const auto values = p_.List(list);
      for (size_t r = 0; r < values.size(); ++r) {
        Visit(values[r]);
        if (block.monoid == kNone) {
          Store(values[r], dests[r].buffer);
          continue;
        }
        const Expr& combine = p_.exprs[p_.List(p_.monoids[block.monoid].combine)[r]];
        const Reading reading = ReadingOf(p_, combine);
        if (reading.operands < 2) continue;
        Read(values[r], reading.sign);
        made_[dests[r].buffer] |= static_cast<int>(reading.sign);
      }
    }
  }

  void Visit(Id id) {
    if (!seen_.insert(id).second) return;
    const Expr& e = p_.exprs[id];
    const auto operands = e.Operands();
    const Reading reading = ReadingOf(p_, e);
    for (int i = 0; i < reading.operands; ++i) Read(operands[i], reading.sign);
    for (const Id operand : operands) Visit(operand);
  }

  // Returns the operands from which a kSelect or kWithin selects its value; empty for other operations.
  static absl::Span<const Id> Sides(const Expr& e) {
    if (e.op != Op::kWithin && e.op != Op::kSelect) return {};
    return e.Operands().subspan(e.op == Op::kSelect ? 1 : 0);
  }

  void Read(Id value, Sign sign) {
    if (!read_so_.insert({value, sign}).second) return;
    const Expr& e = p_.exprs[value];
    if (const Id buffer = BufferRead(e); buffer != kNone) read_[buffer] |= static_cast<int>(sign);
    for (const Id side : Sides(e)) Read(side, sign);
  }

  void Store(Id value, Id buffer) {
    if (!stored_.insert({value, buffer}).second) return;
    const Expr& e = p_.exprs[value];
    const Reading reading = ReadingOf(p_, e);
    if (reading.gives) made_[buffer] |= static_cast<int>(reading.sign);
    if (const Id from = BufferRead(e); from != kNone) copies_.emplace_back(from, buffer);
    for (const Id side : Sides(e)) Store(side, buffer);
  }

  const Program& p_;
  std::vector<int> read_, made_;  // by buffer: a set of Signs, as a mask
  std::vector<std::pair<Id, Id>> copies_;
  // What Visit, Read and Store have handled already, since several values may share an expression.
  absl::flat_hash_set<Id> seen_;
  absl::flat_hash_set<std::pair<Id, Sign>> read_so_;
  absl::flat_hash_set<std::pair<Id, Id>> stored_;
};

}  // namespace

std::vector<Sign> SignsOf(const Program& program) { return Finder(program).Run(); }

}  // namespace kiln
