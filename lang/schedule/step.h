// A Step is one application of a primitive, as data. A State is the program and handles that steps change.
//
// Handles are numbers: the n-th block, loop or value that the steps so far returned. Equal steps on equal
// programs give equal handles and ids.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lang/choices/distribution.h"
#include "lang/program/program.h"

namespace kiln {

struct Primitive;

enum class HandleKind : uint8_t { kBlock, kLoop, kValue };

// An operand of a step: a handle such as b3 (block), l7 (loop) or v2 (value), or a number.
struct Operand {
  enum class Kind : uint8_t { kBlock, kLoop, kValue, kInt };
  Kind kind = Kind::kInt;
  int64_t number = 0;
  friend bool operator==(Operand a, Operand b) { return a.kind == b.kind && a.number == b.number; }
};

using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;

struct Step {
  const Primitive* primitive = nullptr;
  absl::InlinedVector<Operand, 4> operands;
  absl::InlinedVector<Attribute, 2> attributes;  // one per declared attribute, in that order
  std::string site;                              // sampling steps only
  Decision decision;                             // sampling steps only
  int first_result = 0, num_results = 0;         // handles of the primitive's result kind
  const char* file = "";                         // the caller's source file; ignored in comparisons
  int line = 0;
  friend bool operator==(const Step& a, const Step& b) {
    return a.primitive == b.primitive && a.operands == b.operands && a.attributes == b.attributes &&
           a.site == b.site && a.decision == b.decision && a.first_result == b.first_result &&
           a.num_results == b.num_results;
  }
};

// A program during scheduling, with the nodes of all block and loop handles and the numbers of all sampled values. A
// copy is a snapshot.
struct State {
  Program program;
  std::vector<Id> blocks, loops;  // nodes by handle number
  std::vector<Decision> values;   // by handle number
  bool transformed = false;       // true once a step that is not a lemma has changed the program
  // The program after the last lemma; null if there was none.
  std::shared_ptr<const Program> lemma = nullptr;

  // The program that a schedule must preserve: the original, or the result of its lemmas.
  const Program& Reference(const Program& original) const { return lemma == nullptr ? original : *lemma; }
  const Program& Reference(const Program&& original) const = delete;
};

// Prints a step as one line, which trace/text.h parses: "l3, l4 = split l0 v0" or "v0 = sample-perfect-tile l0 n=4
// innermost=64 @multi-level-tiling/matmul/i -> 16 4 2 8". Leaves out an attribute that has its default, if that default
// is zero or empty. A first attribute that is text has no name: get-block "matmul".
std::string ToString(const Step& step);
std::string ToString(Operand operand);

}  // namespace kiln
