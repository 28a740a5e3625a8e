// A program that copies rows through the temporaries S, T and U, and its schedule as a GPU kernel with S, T and U in
// shared memory, where threads read what other threads wrote. U may lie where S lay.
//
//   const Program program = Stages(4, 64);
//   const Schedule s = InStages(program, 64);
#pragma once

#include <vector>

#include "lang/program/builder.h"
#include "testing/scheduled.h"

namespace kiln {

// Returns the program S = A; T = S with the elements of each row reversed; U = T and C = U in the same way.
inline Program Stages(int64_t rows, int64_t columns) {
  Builder b("stages");
  const Id A = b.Input("A", DType::kF32, {rows, columns}), S = b.Temporary("S", DType::kF32, {rows, columns}),
           T = b.Temporary("T", DType::kF32, {rows, columns}),
           U = b.Temporary("U", DType::kF32, {rows, columns}),
           C = b.Output("C", DType::kF32, {rows, columns});
  const std::vector<Builder::IterSpec> all{{"i", rows}, {"j", columns}};
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1),
                 from_end = j * -1 + IndexSum::Constant(columns - 1);
  b.Compute("put", all, {S, {i, j}}, b.Load(A, {i, j}));
  b.Compute("turn", all, {T, {i, j}}, b.Load(S, {i, from_end}));
  b.Compute("again", all, {U, {i, j}}, b.Load(T, {i, from_end}));
  b.Compute("get", all, {C, {i, j}}, b.Load(U, {i, from_end}));
  return b.Finish();
}

// Schedules the program of Stages as one GPU kernel: a block of `threads` threads computes each row.
inline Schedule InStages(const Program& stages, int64_t threads) {
  Schedule s = Scheduled(stages);
  const Loop row = s.GetLoops(s.GetBlock("get"))[0];
  for (const char* block : {"again", "turn", "put"}) {
    s.ComputeAt(s.GetBlock(block), row);
    s.SetScope(s.GetBlock(block), "shared");
  }
  for (const char* block : {"put", "turn", "again", "get"})
    s.Bind(s.Split(s.GetLoops(s.GetBlock(block)).back(), {kAuto, threads})[1], LoopKind::kThreadX);
  s.Bind(row, LoopKind::kBlockX);
  return s;
}

}  // namespace kiln
