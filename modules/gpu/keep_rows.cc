// Keep-Rows: computes rows that are first reduced and then read again, such as a softmax or a norm, in one kernel.
//
//   for i: for k: S[i] sum= X[i, k];  for i: for j: Y[i, j] = f(X[i, j], S[i])
//   ->
//   block-x i: { thread-y r: {
//     thread-x t: X.r = X[i, ..];  thread-x t: S[i] sum= X.r;  thread-x t: Y[i, ..] = f(X.r, S[i]) } }
//
// A block of threads computes a row, or several rows with threads of their own. Each thread keeps its elements of the
// row in registers, or loads and computes them again, as it must for long rows. Applies to: unscheduled blocks, on
// GPUs, that store rows from reductions of these rows, with the blocks between them. Structure:
//   rows = no | again | registers (only if some number of threads leaves each at most 64 elements)
// Two sampling sites: the threads of a row, and the rows of a block (up to 16). Without a loop around the row, there is
// no second site.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/gpu/rows.h"
#include "modules/module.h"

namespace kiln {
namespace {

constexpr int64_t kMostKept = 64;            // elements of a row that one thread keeps in registers
constexpr int64_t kMostRows = 16;            // rows of a thread block
constexpr int64_t kMostElements = 16 << 10;  // elements of all rows of a thread block, kept in registers

// Returns how many elements a thread moves at once: the largest power of two that divides the row and takes at most 16
// bytes of the block's result type; at least 1.
int64_t VectorOf(const Program& p, Id block, int64_t columns) {
  int64_t vector = 16 / SizeOf(p.buffers[WrittenBuffers(p, block)[0]].dtype);
  while (vector > 1 && columns % vector != 0) vector /= 2;
  return std::max<int64_t>(1, vector);
}

// Returns the numbers of threads, up to `limit`, that can keep a row of `vectors` vectors in their registers: divisors
// of `vectors` that leave each thread at most 64 elements.
std::vector<int64_t> ThreadsThatKeep(int64_t vectors, int64_t vector, int64_t limit) {
  std::vector<int64_t> threads;
  for (int64_t n = 1; n <= std::min(limit, vectors); ++n)
    if (vectors % n == 0 && vectors / n * vector <= kMostKept) threads.push_back(n);
  return threads;
}

struct Rows {
  Loop row;
  Value threads;
  int64_t vector;
  bool keep;                 // in registers
  bool on_thread_y = false;  // a block has several rows
};

// Splits the last loop around a row into thread blocks and the rows of one thread block, and fuses the outer part with
// the other loops. The number of rows is sampled: at most `most`, and at most `limit` threads for all of them. Sets
// `rows.row`, the loop over thread blocks. Without a loop around the row, adds one with a single iteration.
void SplitRows(Schedule& s, std::vector<Loop> loops, Loop columns, int64_t limit, int64_t most, Rows& rows) {
  rows.on_thread_y = !loops.empty();
  if (!rows.on_thread_y) {
    rows.row = s.AddUnitLoop(columns);
    return;
  }
  const Value drawn = s.SamplePerfectTile(
      loops.back(), {.parts = 2, .innermost = 0, .most = {s.Minimum({most, s.Divide(limit, rows.threads)})}},
      "rows-of-block");
  loops.back() = s.Split(loops.back(), {drawn})[0];
  rows.row = loops.size() > 1 ? s.Fuse(loops) : loops[0];
}

// Binds the loops of a block that computes rows. The rows of a thread block go to thread-y, unless there is no loop
// around the row. The columns, in vectors, go to thread-x, if the block has columns. A reduction gets an accumulator in
// a register of each thread.
void SpreadRows(Schedule& s, Block block, RowMember::Kind kind, const Rows& rows) {
  const std::vector<Loop> loops = s.GetLoops(block);
  const bool has_columns = kind != RowMember::kValue;
  if (has_columns) {
    const std::vector<Loop> parts =
        s.Split(loops.back(), std::vector<Factor>{kAuto, rows.threads, rows.vector});
    s.Reorder({parts[1], parts[0], parts[2]});
    if (kind == RowMember::kReduction) s.AccumulateAt(block, parts[1], "register");
    s.Bind(parts[1], LoopKind::kThreadX);
    if (rows.keep) s.Unroll(parts[0]);
    s.Unroll(parts[2]);
  }
  if (rows.on_thread_y) s.Bind(loops[loops.size() - (has_columns ? 2 : 1)], LoopKind::kThreadY);
}

}  // namespace

void KeepRows(Schedule& s, Block block) {
  if (!s.ok() || s.target().gpu == nullptr) return;
  const auto nest = FindRowNest(s.program(), s.node(block));
  if (s.Skip(nest.status())) return;
  const int64_t vector = VectorOf(s.program(), s.node(block), nest->columns),
                vectors = nest->columns / vector, limit = s.target().gpu->threads_per_block;
  const std::vector<int64_t> keeping = ThreadsThatKeep(vectors, vector, limit);
  std::vector<std::string> ways = {"no", "again"};
  if (!keeping.empty()) ways.emplace_back("registers");
  const int way = s.Choose("rows", ways);
  if (way == 0) return;
  Rows rows{{}, {}, vector, way == 2};
  std::vector<std::pair<Block, RowMember::Kind>> members;
  for (const RowMember& member : nest->members) {
    const bool last = &member == &nest->members.back();
    const Block handle = last ? block : s.GetBlock(member.name);
    if (!last && !rows.keep && member.kind == RowMember::kRow && s.ok() &&
        CheckComputeInline(s.program(), s.node(handle)).ok()) {
      s.ComputeInline(handle);
    } else {
      members.emplace_back(handle, member.kind);
    }
  }
  std::vector<Loop> loops = s.GetLoops(block);
  const Loop columns = loops.back();
  loops.pop_back();
  rows.threads =
      rows.keep ? s.SampleCategorical(keeping, {}, "threads")
                : s.SampleCategoricalUpTo(std::min(limit, vectors), {32, 64, 128, 256, 512, 1024}, "threads");
  const int64_t kept = rows.keep ? std::max<int64_t>(1, kMostElements / nest->columns) : kMostRows;
  SplitRows(s, loops, columns, limit, std::min(kept, kMostRows), rows);
  for (size_t m = members.size() - 1; m-- > 0;) s.ComputeAt(members[m].first, rows.row);
  for (size_t m = 0; m + 1 < members.size(); ++m)
    s.SetScope(members[m].first, members[m].second == RowMember::kRow ? "register" : "shared");
  if (rows.keep) {
    for (const Id buffer : nest->shared_rows) {
      if (!s.ok()) return;
      const auto reader =
          absl::c_find_if(members, [&](auto& m) { return Reads(s.program(), s.node(m.first), buffer); });
      const std::vector<Id> operands = ReadBuffers(s.program(), s.node(reader->first));
      const Block copy = s.CacheReadForAll(
          reader->first, static_cast<int>(absl::c_find(operands, buffer) - operands.begin()), "register");
      s.ComputeAt(copy, rows.row);
      members.insert(members.begin(), {copy, RowMember::kRow});
    }
  }
  for (const auto& [member, kind] : members) SpreadRows(s, member, kind, rows);
  s.Bind(rows.row, LoopKind::kBlockX);
}

KILN_MODULE("keep-rows", KeepRows);

}  // namespace kiln
