#include "tests/fuzz/small_programs.h"

#include "lang/program/builder.h"

namespace kiln::fuzz {
namespace {

constexpr DType kType = DType::kI32;
constexpr IterKind kReduce = IterKind::kReduction;
constexpr int kProducers = 4, kConsumers = 7;

IndexSum Shifted(IndexSum sum, int64_t by) {
  sum.offset += by;
  return sum;
}

// Adds a block that writes T[rows, columns] and returns T: a map (kind 1), a sum (2) or padding (3). For kind 0, adds
// no block, and returns an input T.
Id AddProducer(Builder& b, int kind, int64_t rows, int64_t columns) {
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), r = Builder::Iter(2);
  const std::vector<Builder::IterSpec> both = {{"i", rows}, {"j", columns}};
  const Id in = b.Input("A", kType, {rows, columns, 2});
  const auto at = [&](const IndexSum& row, const IndexSum& last) { return b.Load(in, {row, j, last}); };
  const Id zero = b.Integer(kType, 0);
  if (kind == 0) return b.Input("T", kType, {rows, columns});
  const Id t = b.Temporary("T", kType, {rows, columns});
  if (kind == 1) b.Compute("map", both, {t, {i, j}}, at(i, IndexSum::Constant(0)));
  if (kind == 2) {
    b.Reduce("sum", {{"i", rows}, {"j", columns}, {"r", 2, kReduce}}, Monoid::Kind::kSum, {t, {i, j}},
             at(i, r));
  }
  if (kind == 3) {
    const IndexSum above = Shifted(i, -1);
    b.Compute("pad", both, {t, {i, j}}, b.Within({{above, rows}}, at(above, IndexSum::Constant(0)), zero));
  }
  return t;
}

void AddConsumer(Builder& b, int kind, Id t, int64_t rows, int64_t columns) {
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  const auto out = [&](const std::vector<Extent>& shape) { return b.Output("C", kType, shape); };
  const auto sum = [&](const std::vector<Builder::IterSpec>& iters, const Builder::Place& dest, Id value) {
    b.Reduce("reduce", iters, Monoid::Kind::kSum, dest, value);
  };
  const std::vector<Builder::IterSpec> both = {{"i", rows}, {"j", columns}};
  switch (kind) {
    case 0:
      b.Compute("out", both, {out({rows, columns}), {i, j}}, b.Add(b.Load(t, {i, j}), b.Integer(kType, 1)));
      return;
    case 1:
      b.Compute("out", {{"i", columns}, {"j", rows}}, {out({columns, rows}), {i, j}}, b.Load(t, {j, i}));
      return;
    case 2:
      sum({{"i", rows}, {"j", columns, kReduce}}, {out({rows}), {i}}, b.Load(t, {i, j}));
      return;
    case 3:
      sum({{"j", rows, kReduce}, {"i", columns}}, {out({columns}), {j}}, b.Load(t, {i, j}));
      return;
    case 4:
      sum({{"i", rows}, {"j", 2}, {"k", columns, kReduce}}, {out({rows, 2}), {i, j}},
          b.Mul(b.Load(t, {i, k}), b.Load(b.Input("B", kType, {columns, 2}), {k, j})));
      return;
    case 5: {
      const IndexSum at = i + k;
      sum({{"i", rows}, {"j", columns}, {"k", 2, kReduce}}, {out({rows, columns}), {i, j}},
          b.Within({{at, rows}}, b.Load(t, {at, j}), b.Integer(kType, 0)));
      return;
    }
    default:
      b.Compute("out", {{"i", rows}, {"j", columns}, {"k", 2}}, {out({rows, columns, 2}), {i, j, k}},
                b.Load(t, {i, j}));
  }
}

}  // namespace

std::vector<Program> SmallPrograms() {
  std::vector<Program> programs;
  for (const int64_t rows : {2, 3}) {
    for (const int64_t columns : {2, 3}) {
      for (int producer = 0; producer < kProducers; ++producer) {
        for (int consumer = 0; consumer < kConsumers; ++consumer) {
          Builder b("small");
          AddConsumer(b, consumer, AddProducer(b, producer, rows, columns), rows, columns);
          programs.push_back(b.Finish());
        }
      }
    }
  }
  return programs;
}

}  // namespace kiln::fuzz
