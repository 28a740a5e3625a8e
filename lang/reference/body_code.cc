#include "lang/reference/body_code.h"

namespace kiln {

CodeSum MakeSum(const IndexSum& sum, absl::FunctionRef<int(Source)> variable_of) {
  CodeSum code;
  code.offset = sum.offset;
  for (const IndexSplit& s : sum.splits) {
    code.terms.push_back({variable_of(s.source), s.scale, s.lower, s.extent});
    code.affine &= s.lower == 1 && s.extent == 0;
  }
  return code;
}

CodeAccess MakeAccess(const Program& program, Id buffer, absl::Span<const int32_t> index,
                      absl::FunctionRef<int(Source)> variable_of) {
  const auto shape = program.Dims(program.buffers[buffer].shape);
  CodeAccess access;
  access.buffer = buffer;
  int64_t stride = 1;
  for (const Extent& e : shape) stride *= e.Known();
  for (size_t d = 0; d < shape.size(); ++d) {
    stride /= shape[d].Known();
    CodeSum sum = index.empty() ? CodeSum() : MakeSum(program.SumOf(index[d]), variable_of);
    access.dims.push_back({std::move(sum), shape[d].Known(), stride});
  }
  return access;
}

BodyCode::BodyCode(const Program& program, absl::Span<const int32_t> exprs, int args,
                   absl::FunctionRef<int(Source)> variable_of) {
  for (int i = 0; i < args; ++i) NewRegister(DType::kIndex);
  Known known;
  for (const Id expr : exprs) results_.push_back(Emit(program, expr, variable_of, known));
}

int BodyCode::Emit(const Program& p, Id expr, absl::FunctionRef<int(Source)> variable_of, Known& known) {
  const auto it = known.find(expr);
  if (it != known.end()) return it->second;
  const Expr& e = p.exprs[expr];
  if (e.op == Op::kArg) return static_cast<int>(e.Number());
  int to = 0;
  Instruction in{Kind::kApply};
  in.op = e.op;
  in.type = e.dtype;
  switch (e.op) {
    case Op::kConstant:
      to = NewRegister(e.dtype);
      initial_[to] = ConstantValue(e);
      return known[expr] = to;
    case Op::kWithin:
      return known[expr] = EmitWithin(p, e, variable_of, known);
    case Op::kIndex:
      in.kind = Kind::kIndex;
      in.a = static_cast<int>(sums_.size());
      sums_.push_back(MakeSum(p.SumOf(e.AsIndex()), variable_of));
      break;
    case Op::kLoad:
      in.kind = Kind::kLoad;
      in.a = static_cast<int>(accesses_.size());
      accesses_.push_back(MakeAccess(p, e.AsLoad().buffer, p.List(e.AsLoad().index), variable_of));
      break;
    case Op::kGather: {
      std::vector<int> registers;
      for (const Id index : p.GatherIndex(e)) registers.push_back(Emit(p, index, variable_of, known));
      in.kind = Kind::kGather;
      in.a = static_cast<int>(accesses_.size());
      in.b = static_cast<int>(gathered_.size());
      gathered_.insert(gathered_.end(), registers.begin(), registers.end());
      accesses_.push_back(MakeAccess(p, e.AsGather().buffer, {}, variable_of));
      break;
    }
    default: {
      int* const registers[] = {&in.a, &in.b, &in.c};
      for (size_t i = 0; i < e.Operands().size(); ++i)
        *registers[i] = Emit(p, e.operand(static_cast<int>(i)), variable_of, known);
      const DType operand = p.exprs[e.operand(e.op == Op::kSelect ? 1 : 0)].dtype;
      if (e.op == Op::kCast || e.op == Op::kCastUnsigned || e.op == Op::kBitcast) {
        in.kind = Kind::kCast;
        in.from = operand;
      } else {
        in.function = FunctionOf(e.op, operand);
      }
    }
  }
  in.to = NewRegister(e.dtype);
  code_.push_back(in);
  return known[expr] = in.to;
}

// Emits code for a kWithin (a value where its marks hold, else another) and returns the register of the result. Code of
// one branch may not run, so an expression that is first evaluated in it has no known register after it.
int BodyCode::EmitWithin(const Program& p, const Expr& e, absl::FunctionRef<int(Source)> variable_of,
                         const Known& known) {
  const int to = NewRegister(e.dtype);
  std::vector<size_t> tests;
  for (const Id mark : p.List(e.AsWithin().marks)) {
    Instruction test{Kind::kUnless};
    test.a = static_cast<int>(sums_.size());
    test.extent = p.marks[mark].extent.Known();
    sums_.push_back(MakeSum(p.SumOf(mark), variable_of));
    tests.push_back(code_.size());
    code_.push_back(test);
  }
  const auto branch = [&](Id side) {
    Known inside = known;
    Instruction copy{Kind::kCopy};
    copy.a = Emit(p, side, variable_of, inside);
    copy.to = to;
    code_.push_back(copy);
  };
  branch(e.AsWithin().value);
  const size_t jump = code_.size();
  code_.push_back({Kind::kJump});
  for (const size_t test : tests) code_[test].b = static_cast<int>(code_.size());
  branch(e.AsWithin().otherwise);
  code_[jump].b = static_cast<int>(code_.size());
  return to;
}

}  // namespace kiln
