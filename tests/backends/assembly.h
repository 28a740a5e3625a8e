// For tests of generated code: compiles programs to x86 assembly for named machines (backends/cpu/targets.h), and finds
// innermost loops, accumulators and spills in the assembly.
#pragma once

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/targets.h"
#include "testing/compiled/run_program.h"

namespace kiln {

inline std::string Assembly(const Program& program, const std::string& name) {
  const Target target = NamedTarget(name).value();
  const auto codegen = Codegen::Create(Named(target.triple, target.cpu, target.features).value()).value();
  auto module = Lower(program, Context(),
                      {.vector_bytes = target.vector_bytes, .vector_registers = target.vector_registers});
  EXPECT_TRUE(module.ok()) << module.status();
  CodegenOptions options;
  options.entries.push_back({.name = program.name, .noalias = true});
  const auto text = codegen->Text(**module, options, Stage::kAssembly);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

inline int Matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

// Returns the text of each innermost loop of x86 assembly: the lines from a label to a jump back to the label, both
// included, if there is no other backward jump between.
inline std::vector<std::string> InnermostLoops(const std::string& assembly) {
  const std::vector<std::string> lines = absl::StrSplit(assembly, '\n');
  const std::regex jump("\tj[a-z]+\t(\\.L[A-Za-z0-9_]+).*");
  std::vector<std::string> loops;
  size_t after = 0;  // the line of the last backward jump
  for (size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, jump)) continue;
    const std::string label = match[1].str() + ":";
    size_t start = i;
    while (start > 0 && !absl::StartsWith(lines[start], label)) --start;
    if (start == 0) continue;  // a forward jump
    if (start >= after) loops.push_back(absl::StrJoin(lines.begin() + start, lines.begin() + i + 1, "\n"));
    after = i;
  }
  return loops;
}

constexpr char kFma[] = "\tvfmadd", kStack[] = "\tv[^\n]*\\(%r(sp|bp)\\)",
               kStore[] = "\tvmov[^\n]*\t%[xyz]mm[0-9]+(, -?[0-9]*|, )\\(";

// Returns the innermost loops of x86 assembly that contain fused multiply-adds.
inline std::vector<std::string> LoopsOfSums(const std::string& assembly) {
  std::vector<std::string> loops;
  for (const std::string& loop : InnermostLoops(assembly))
    if (Matches(loop, kFma) > 0) loops.push_back(loop);
  return loops;
}

// Returns the registers that are results of fused multiply-adds in the assembly of a loop.
inline std::set<std::string> Accumulators(const std::string& loop) {
  std::set<std::string> registers;
  const std::regex fma("\tvfmadd[^\n]*, (%[xyz]mm[0-9]+)");
  for (std::sregex_iterator i(loop.begin(), loop.end(), fma), end; i != end; ++i)
    registers.insert((*i)[1].str());
  return registers;
}

// Expects that the assembly of a loop has fused multiply-adds to exactly `sums` vector registers, that their number is
// a multiple of `sums`, and that no vector instruction accesses the stack or stores to memory.
inline void ExpectSumsInRegisters(const std::string& loop, int sums) {
  EXPECT_EQ(Matches(loop, kStack), 0) << loop;
  EXPECT_EQ(Matches(loop, kStore), 0) << loop;
  EXPECT_EQ(Accumulators(loop).size(), static_cast<size_t>(sums)) << loop;
  EXPECT_EQ(Matches(loop, kFma) % sums, 0) << loop;  // the loop contains whole steps of the sums
}

}  // namespace kiln
