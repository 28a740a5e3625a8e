// Lesson 1: a Program is loops, blocks and buffers.
//
// A block is the unit of work. Its body uses the block's own iters. The bindings map each point of the loops
// to an instance of the block. Transformations change loops and bindings, but not bodies.
#include <iostream>

#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"

using namespace kiln;

int main() {
  Builder b("row_sums");
  const Id a = b.Input("A", DType::kF32, {2, 3});
  const Id sums = b.Output("S", DType::kF32, {2});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
  // S[i] = Σ_j A[i, j]. A reduction declares the value of each term, the monoid that combines terms, and the
  // destination.
  b.Reduce("sum", {{"i", 2}, {"j", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {sums, {i}},
           b.Load(a, {i, j}));
  const Program program = b.Finish();
  std::cout << ToString(program) << "\n";

  // Runs the program in the interpreter, which defines its meaning. Buffers are bytes.
  const float values[] = {1, 2, 3, 10, 20, 30};
  const auto outputs = Run(program, {std::string(reinterpret_cast<const char*>(values), sizeof values)});
  if (!outputs.ok()) return std::cerr << outputs.status() << "\n", 1;
  const auto* result = reinterpret_cast<const float*>(outputs->front().data());
  std::cout << "S = " << result[0] << " " << result[1] << "\n";
  return result[0] == 6 && result[1] == 60 ? 0 : 1;
}
