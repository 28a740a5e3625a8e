// A softmax of rows in four blocks: max, exp, sum and divide.
#pragma once

#include <vector>

#include "lang/program/builder.h"

namespace kiln {

// Returns the program m = max of a row; e = exp(x - m); s = sum of e; y = e / s.
inline Program Softmax(int64_t rows, int64_t columns) {
  Builder b("softmax");
  const Id x = b.Input("x", DType::kF32, {rows, columns}), y = b.Output("y", DType::kF32, {rows, columns});
  const Id m = b.Temporary("m", DType::kF32, {rows}), s = b.Temporary("s", DType::kF32, {rows}),
           e = b.Temporary("e", DType::kF32, {rows, columns});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
  const std::vector<Builder::IterSpec> row{{"i", rows}, {"k", columns, IterKind::kReduction}},
      all{{"i", rows}, {"j", columns}};
  b.Reduce("max", row, Monoid::Kind::kMax, {m, {i}}, b.Load(x, {i, j}));
  b.Compute("exp", all, {e, {i, j}},
            b.Make(Op::kExp, DType::kF32, b.Make(Op::kSub, DType::kF32, b.Load(x, {i, j}), b.Load(m, {i}))));
  b.Reduce("sum", row, Monoid::Kind::kSum, {s, {i}}, b.Load(e, {i, j}));
  b.Compute("div", all, {y, {i, j}}, b.Make(Op::kDiv, DType::kF32, b.Load(e, {i, j}), b.Load(s, {i})));
  return b.Finish();
}

}  // namespace kiln
