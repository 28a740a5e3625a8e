// Joins products of one operand with several constants, such as the queries, keys and values of attention.
//
//   Q[n, f] sum= X[n, c]*A[c, f];   Q1[n, f] = Q[n, f] + a[f]
//   K[n, f] sum= X[n, c]*B[c, f];   K1[n, f] = K[n, f] + b[f]
//   ->
//   A.joined[c, f] = A[c, f];  A.joined[c, f + 64] = B[c, f];  ..    when constants are prepared
//   Q.joined[n, f] sum= X[n, c]*A.joined[c, f];   Q1.joined[n, f] = Q.joined[n, f] + a.joined[f]
//   Q1[n, f] is read as Q1.joined[n, f], and K1[n, f] as Q1.joined[n, f + 64]
//
// The operands are read once, and one tile of the result may hold columns of several products. Terms and their order
// stay as they are, so results change only where schedules reorder the sums.
#pragma once

#include <vector>

#include "lang/program/program.h"
#include "lang/target/cost_table.h"

namespace kiln {

// Joins, in an imported model, sums that differ only in constants that the caller gives and that one spatial iter of
// each sum walks, and in the extent of that iter. If each sum's result has a store as its only reader, these stores are
// joined too, and so on for the stores' results. The sums stay apart if only some of them have such a store, or if
// their stores differ in more than such constants. Whatever reads the last results then reads slices. Sums that are
// results of the model are not joined.
//
// Joins only where an estimate says that it gains (JoinEstimate). Returns the number of sums that were joined into
// others. Safe from any thread.
int JoinSiblings(Program& program);

// Estimates what joining saves, in cycles, and compares it with the time of the sums: joining gains if it saves at
// least 5% of that time. AddSums adds `count` sums over iters with these extents, at two operations a term and 64 a
// cycle. SaveReads counts operands that are read once less from beyond the second cache (more than 1 MiB). Smaller
// operands cost nothing, because loads of other products hide them. SaveCalls counts calls that are saved, at 300
// cycles each. The constants fit what was measured on Zen 5 (bench/results/siblings.jsonl).
struct JoinEstimate {
  double saved = 0, all = 0;  // cycles
  void AddSums(const std::vector<int64_t>& extents, double count);
  void SaveCalls(double count);
  void SaveReads(int64_t bytes, double count);
  bool Gains() const { return saved >= 0.05 * all; }
};

}  // namespace kiln
