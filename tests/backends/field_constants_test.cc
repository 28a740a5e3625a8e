// Tests MLIR files whose tasks read the same constants of the file: each task contains the constants that it needs,
// instead of taking them as arguments. Draws one hundred such files.
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "lang/graph/outline.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

// MLIR texts of the steps of a file: kProduct multiplies the tensor READ by the constant matrix %w, and kElements
// combines its elements with the constant row %s.
constexpr absl::string_view kProduct = R"(
  %vN = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (MAP)>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(READ, %w : tensor<X>, tensor<W>) outs(%zero : tensor<X>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<X>)";
constexpr absl::string_view kElements = R"(
  %vN = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(READ, %s : tensor<X>, tensor<S>) outs(%e : tensor<X>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.OPERATION %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<X>)";

std::string Draw(std::mt19937& random) {
  const auto pick = [&](const std::vector<std::string>& list) { return list[random() % list.size()]; };
  const int rows = 1 + static_cast<int>(random() % 9), columns = 2 + static_cast<int>(random() % 9);
  // Returns the text of a row of random numbers whose sums and products are exact.
  const auto numbers = [&](int count) {
    std::vector<std::string> row;
    for (int i = 0; i < count; ++i) row.push_back(pick({"-1.0", "-0.5", "0.0", "0.5", "1.0", "2.0"}));
    return absl::StrCat("[", absl::StrJoin(row, ", "), "]");
  };
  std::vector<std::string> matrix;
  for (int i = 0; i < columns; ++i) matrix.push_back(numbers(columns));
  std::string text = absl::StrCat(R"(func.func @f(%v0: tensor<X>) -> (TYPES) {
  %w = arith.constant dense<[)",
                                  absl::StrJoin(matrix, ", "), R"(]> : tensor<W>
  %row = arith.constant dense<[)",
                                  numbers(columns), R"(]> : tensor<1xS>
  %s = tensor.collapse_shape %row [[0, 1]] : tensor<1xS> into tensor<S>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<X>
  %zero = linalg.fill ins(%c : f32) outs(%e : tensor<X>) -> tensor<X>)");
  std::vector<std::string> results, types;
  const int steps = 3 + static_cast<int>(random() % 4);
  for (int step = 1; step <= steps; ++step) {
    // Draws which value the step reads. The first two steps are products of the argument, so that two tasks share a
    // constant.
    const int read = step <= 2 ? 0 : static_cast<int>(random() % step);
    const bool product = step <= 2 || random() % 2 == 0;
    text += absl::StrReplaceAll(product ? kProduct : kElements,
                                {{"MAP", pick({"j, k", "k, j"})},
                                 {"OPERATION", pick({"addf", "mulf", "maximumf"})},
                                 {"READ", absl::StrCat("%v", read)},
                                 {"%vN", absl::StrCat("%v", step)}});
    results.push_back(absl::StrCat("%v", step));
    types.push_back("tensor<X>");
  }
  absl::StrAppend(&text, "\n  return ", absl::StrJoin(results, ", "), " : TYPES\n}\n");
  return absl::StrReplaceAll(absl::StrReplaceAll(text, {{"TYPES", absl::StrJoin(types, ", ")}}),
                             {{"<X>", absl::StrCat("<", rows, "x", columns, "xf32>")},
                              {"<W>", absl::StrCat("<", columns, "x", columns, "xf32>")},
                              {"<S>", absl::StrCat("<", columns, "xf32>")},
                              {"1xS", absl::StrCat("1x", columns, "xf32")}});
}

// Compiles and runs each task of the file by itself, unscheduled and under random traces, and compares the outputs of
// the file with the interpreter. Increments `several` if the file has more than one occurrence of a task.
void ExpectTasksRight(const std::string& text, const RightOptions& options, size_t& several) {
  SCOPED_TRACE(absl::StrCat(options.name, "\n", text));
  const Program p = ImportLinalg(text, options.name)->program;
  const std::vector<std::string> inputs = DrawInputs(p, options.seed);
  const auto wanted = Run(p, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  std::map<Id, std::string> arrays;
  size_t next = 0;
  for (const Id id : p.parameters)
    if (p.buffers[id].role != Role::kOutput) arrays[id] = inputs[next++];
  const auto tasks = ExtractTasks(p);
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  std::vector<std::pair<const Task*, const Outlined*>> left;
  for (const Task& task : *tasks)
    for (const Outlined& occurrence : task.occurrences) left.emplace_back(&task, &occurrence);
  several += left.size() > 1;
  while (!left.empty()) {
    const size_t before = left.size();
    for (auto at = left.begin(); at != left.end();) {
      const Program& task = at->first->program;
      const std::vector<Id>& boundary = at->second->boundary;
      ASSERT_EQ(boundary.size(), task.parameters.size());
      std::vector<std::string> reads;
      bool ready = true;
      for (size_t i = 0; i < boundary.size() && ready; ++i) {
        if (task.buffers[task.parameters[i]].role == Role::kOutput) continue;
        ready = arrays.contains(boundary[i]);
        if (ready) reads.push_back(arrays[boundary[i]]);
      }
      if (!ready) {
        ++at;
        continue;
      }
      std::vector<std::string> made;
      ASSERT_EQ(RunCompiled(task, reads, &made), 0);
      if (options.traces > 0) ExpectTracesRight(task, reads, made, options);
      if (testing::Test::HasFatalFailure()) return;
      size_t which = 0;
      for (size_t i = 0; i < boundary.size(); ++i)
        if (task.buffers[task.parameters[i]].role == Role::kOutput) arrays[boundary[i]] = made[which++];
      at = left.erase(at);
    }
    ASSERT_LT(left.size(), before) << "no task that is left has what it reads";
  }
  std::vector<std::string> found;
  for (const Id id : p.parameters)
    if (p.buffers[id].role == Role::kOutput) found.push_back(arrays[id]);
  ASSERT_EQ(found.size(), wanted->size());
  ExpectOutputs(p, found, *wanted, "tasks by themselves");
}

TEST(FieldConstants, OneHundredFilesWhoseTasksShareConstants) {
  std::mt19937 random(3);
  size_t several = 0;
  for (int n = 0; n < 100; ++n) {
    const std::string text = Draw(random);
    const RightOptions options{.name = absl::StrCat("file ", n), .seed = static_cast<uint64_t>(n)};
    ExpectRight(text, options);
    RightOptions of_tasks = options;
    of_tasks.traces = n % 4 == 0 ? 1 : 0;
    ExpectTasksRight(text, of_tasks, several);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(several, 50u);
}

}  // namespace
}  // namespace kiln
