#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/program/layout.h"
#include "lang/program/product.h"
#include "lang/program/scalar.h"
#include "lang/verify/checker.h"

namespace kiln {
namespace {

class PoolChecker : public Checker {
 public:
  using Checker::Checker;

  void Run() {
    CheckIndices();
    for (size_t i = 0; i < p_.buffers.size() && ok(); ++i) CheckBuffer(static_cast<Id>(i));
    CheckMonoids();
    if (ok()) CheckExprs();
  }

 private:
  void CheckIndices() {
    Require(p_.names.empty() || p_.names.back() == '\0', "the names do not end");
    for (size_t i = 0; i < p_.splits.size() && ok(); ++i) {
      const IndexSplit& s = p_.splits[i];
      Require(s.lower >= 1 && s.extent >= 0 && s.source.id >= 0, "split ", i,
              " divides by a number that is not positive");
      if (s.source.kind == Source::Kind::kLoop) {
        Require(In(s.source.id, p_.nodes) && In(p_.nodes[s.source.id].index, p_.loops), "split ", i,
                " does not name a loop");
      } else if (s.source.kind == Source::Kind::kMark) {
        Require(In(s.source.id, p_.marks), "split ", i, " does not name a mark");
      }
    }
    for (size_t i = 0; i < p_.marks.size() && ok(); ++i) {
      Require(In(p_.marks[i].splits, p_.splits) && p_.marks[i].extent.UpperBound() >= 1, "mark ", i,
              " has splits out of range or no extent");
    }
  }

  void CheckMonoids() {
    for (size_t i = 0; i < p_.monoids.size() && ok(); ++i) {
      const Monoid& m = p_.monoids[i];
      Require(ListIn(m.identity, p_.exprs) && ListIn(m.combine, p_.exprs), "monoid ", i,
              " has ids out of range");
      Require(m.identity.count >= 1 && m.identity.count == m.combine.count, "monoid ", i, " combines ",
              m.combine.count, " results and has ", m.identity.count, " identities");
      for (const Id e : ok() ? p_.List(m.identity) : absl::Span<const Id>())
        Require(p_.exprs[e].op == Op::kConstant, "monoid ", i, " has an identity that is not constant");
    }
  }

  void CheckBuffer(Id id) {
    const Buffer& b = p_.buffers[id];
    if (!Require(In(b.name, p_.names) && In(b.shape, p_.dims), "buffer ", id, " has ids out of range"))
      return;
    const absl::string_view name = p_.Text(b.name);
    for (const Extent& e : p_.Dims(b.shape))
      Require(ExtentOk(e), "buffer ", name, " has an extent of ", e.UpperBound());
    Require(Product(p_.Dims(b.shape), SizeOf(b.dtype)).has_value(), "buffer ", name, " exceeds int64");
    if (!Require(ListIn(b.layout.axes, p_.marks), "the layout of buffer ", name, " has ids out of range"))
      return;
    for (const Id mark : p_.List(b.layout.axes)) {
      for (const IndexSplit& s : p_.Splits(p_.marks[mark].splits)) {
        Require(s.source.kind == Source::Kind::kIter && s.source.id < b.shape.count, "the layout of buffer ",
                name, " is not over its dimensions");
      }
    }
    Require(b.layout.kinds.count == 0 ||
                (b.layout.kinds.count == b.layout.axes.count && In(b.layout.kinds, p_.lists)),
            "the layout of buffer ", name, " has ", b.layout.kinds.count, " kinds of ", b.layout.axes.count,
            " axes");
    if (!ok()) return;
    const absl::Status laid = CheckLayout(p_, id);
    Require(laid.ok(), laid.message());
    Require(b.layout.padding == kNone ||
                (In(b.layout.padding, p_.exprs) && p_.exprs[b.layout.padding].op == Op::kConstant),
            "the padding of buffer ", name, " is not constant");
    if (b.data == kNone) return;
    if (!Require(b.role == Role::kConstant && p_.constants != nullptr && In(b.data, *p_.constants), "buffer ",
                 name, " has data that are not there")) {
      return;
    }
    const int64_t bytes = SizeOf(b.dtype) * ElementsOf(p_, id);
    Require(static_cast<int64_t>((*p_.constants)[b.data].size()) == bytes, "buffer ", name, " has ",
            (*p_.constants)[b.data].size(), " bytes of data, wanted ", bytes);
  }

  // Checks the operation, references and dtypes of each expression. Operands must come before their users, so no
  // expression contains itself.
  void CheckExprs() {
    for (size_t i = 0; i < p_.exprs.size() && ok(); ++i) {
      const Expr& e = p_.exprs[i];
      if (!Require(static_cast<int>(e.op) < kNumOps, "expression ", i, " has no operation")) return;
      const auto name = [&] { return absl::StrCat("expression ", i, " (", ToString(e.op), ")"); };
      const auto before = [&](Id operand) { return operand >= 0 && operand < static_cast<Id>(i); };
      if (!Require(std::ranges::all_of(e.Operands(), before), name(),
                   " has an operand that is not before it"))
        return;
      const auto type = [&](int operand) { return p_.exprs[e.operand(operand)].dtype; };
      const auto same = [&](int operand) { return type(operand) == e.dtype; };
      switch (e.op) {
        case Op::kArg:
          Require(e.Number() >= 0, name(), " is not an argument");
          break;
        case Op::kIndex:
          Require(In(e.AsIndex(), p_.marks) && e.dtype == DType::kIndex, name(), " is not an index");
          break;
        case Op::kLoad:
        case Op::kGather:
          Require(e.op == Op::kLoad ? IsLoad(e) : IsGather(e), name(),
                  " does not fit the rank or dtype of its buffer");
          break;
        case Op::kTuple:
          Require(e.dtype == DType::kIndex && same(0) && same(1), name(), " is not of indices");
          break;
        case Op::kWithin:
          Require(ListIn(e.AsWithin().marks, p_.marks) && same(0) && same(1), name(),
                  " has sides of another dtype");
          break;
        case Op::kSelect:
          Require(type(0) == DType::kI1 && same(1) && same(2), name(), " has operands of a wrong dtype");
          break;
        case Op::kConstant:
        case Op::kCast:
        case Op::kCastUnsigned:
          break;
        case Op::kBitcast:
          Require(SizeOf(type(0)) == SizeOf(e.dtype), name(), " changes the size");
          break;
        default:
          for (int k = 1; k < Arity(e.op); ++k)
            Require(type(k) == type(0), name(), " has operands of different dtypes");
          Require(e.dtype == (IsComparison(e.op) ? DType::kI1 : type(0)), name(), " has dtype ",
                  ToString(e.dtype));
          Require(HasFunction(e.op, type(0)), name(), " is not defined on ", ToString(type(0)));
      }
    }
  }

  bool IsLoad(const Expr& e) const {
    const auto [buffer, index] = e.AsLoad();
    return In(buffer, p_.buffers) && ListIn(index, p_.marks) &&
           p_.buffers[buffer].shape.count == index.count && p_.buffers[buffer].dtype == e.dtype;
  }

  // True if the gather has the dtype of its buffer, which exists, and one index per dimension of the buffer. Each index
  // must be an expression of dtype index and not a tuple.
  bool IsGather(const Expr& e) const {
    const Id buffer = e.AsGather().buffer;
    const std::vector<Id> index = p_.GatherIndex(e);
    return In(buffer, p_.buffers) && static_cast<int32_t>(index.size()) == p_.buffers[buffer].shape.count &&
           p_.buffers[buffer].dtype == e.dtype && std::all_of(index.begin(), index.end(), [&](Id i) {
             return p_.exprs[i].op != Op::kTuple && p_.exprs[i].dtype == DType::kIndex;
           });
  }
};

}  // namespace

void CheckPools(const Program& program, Violation& first) { PoolChecker(program, first).Run(); }

}  // namespace kiln
