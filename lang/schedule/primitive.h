// Declares a primitive (design D3): one file in lang/primitives/ with a KILN_PRIMITIVE at its end. Recording,
// replay, printing, parsing, the reference page and the fuzzer's generator are derived from the declaration.
//
// A primitive checks its preconditions before it changes anything. If it returns an error, the program is
// unchanged. Codes: kFailedPrecondition if the step does not apply here; kInvalidArgument if operands or
// attributes are malformed. Messages say what was found and what was wanted; the caller adds the step, the
// handles and the source line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lang/choices/chooser.h"
#include "lang/schedule/step.h"
#include "lang/target/target.h"

namespace kiln {

enum class OperandKind : uint8_t {
  kBlock,
  kLoop,
  kFactor,  // a number, or a value (which stands for as many numbers as it has)
};

struct OperandDecl {
  const char* name;
  OperandKind kind;
  bool variadic = false;  // only the last
};

struct AttributeDecl {
  const char* name;
  Attribute fallback;  // its type is the attribute's type; a step that does not name it means this value
};

// The last attribute of every primitive that samples: the decisions that are left of the support, one after
// the other (none: all). ScheduleCore::Pin sets it, Call::Draw keeps it.
inline AttributeDecl Only() { return {"only", std::vector<int64_t>()}; }

// What a primitive sees of its step and of the program.
class Call {
 public:
  Call(State& state, const Target& target, const Step& step, int step_index, Chooser* chooser)
      : state_(state), target_(target), step_(step), step_index_(step_index), chooser_(chooser) {}

  Program& program() { return state_.program; }
  const Target& target() const { return target_; }
  int num_operands() const { return static_cast<int>(step_.operands.size()); }
  // The node that operand i stands for.
  Id node(int i) const;
  std::vector<Id> nodes(int from) const;  // operands from .. last
  // The numbers of operands from .. last, values expanded.
  absl::InlinedVector<int64_t, 6> numbers(int from) const;
  bool IsValue(int i) const { return step_.operands[i].kind == Operand::Kind::kValue; }
  // The numbers of operand i alone.
  Decision value(int i) const;
  // True if one of operands from .. last is a sampled value: what results is tainted.
  bool sampled(int from) const;
  int64_t Int(int attribute) const { return std::get<int64_t>(step_.attributes[attribute]); }
  double Float(int attribute) const { return std::get<double>(step_.attributes[attribute]); }
  const std::string& Text(int attribute) const { return std::get<std::string>(step_.attributes[attribute]); }
  const std::vector<int64_t>& Ints(int attribute) const {
    return std::get<std::vector<int64_t>>(step_.attributes[attribute]);
  }
  const std::vector<double>& Floats(int attribute) const {
    return std::get<std::vector<double>>(step_.attributes[attribute]);
  }

  void Return(Id node);
  void Return(Decision value);
  // Asks the chooser for a decision and returns it as a value.
  absl::Status Draw(const Distribution& distribution);

  const Decision& decision() const { return decision_; }
  int num_results() const { return num_results_; }

 private:
  State& state_;
  const Target& target_;
  const Step& step_;
  int step_index_;
  Chooser* chooser_;
  Decision decision_;
  int num_results_ = 0;
};

struct Primitive {
  const char* name;
  std::vector<OperandDecl> operands;
  std::vector<AttributeDecl> attributes;
  HandleKind result;         // kind of its results
  const char* result_names;  // "outer inner" for the page; "" if there are none
  bool sampling = false;
  bool reads_only =
      false;  // does not change the program: removable when its results are unused (as sampling is)
  // Changes what is computed, within a bound that it states: what it makes is what later steps must keep, and
  // it comes before all that are no lemmas (design D9).
  bool lemma = false;
  bool restricts = false;  // makes what all later steps must keep (analysis/restrictions.h)
  const char* doc;         // what it does, before -> after, and when it does not apply
  absl::Status (*apply)(Call& call);
  // What the data must meet for the identity of a lemma to hold (AssumptionsOf below); "" if nothing.
  const char* assumes = "";
};

// All primitives by name; nullptr if there is none.
const Primitive* FindPrimitive(absl::string_view name);
std::vector<const Primitive*> AllPrimitives();  // sorted by name

// Runs one step: resolves the handles (a dead or missing one is kFailedPrecondition), applies, and appends
// the results to the state. A step that breaks a restriction (analysis/restrictions.h) is taken back. On
// success `decision` (if not null) gets what a sampling step decided. Messages name step_index and the step.
absl::Status Run(State& state, const Target& target, const Step& step, int step_index, Chooser* chooser,
                 int* num_results, Decision* decision);

// Of lemmas.
inline constexpr char kFiniteFactors[] = "finite inputs and intermediates";

// What steps take for granted of the data, each once, joined by "; "; "" if nothing. For data that do not
// meet it results may differ from those of the original. It counts the annotation `finite` too, as schedules
// said it before there was the lemma assume-finite.
std::string AssumptionsOf(absl::Span<const Step> steps);

// The status of a step that did not apply after the steps `before`, with a line for each of its handles that
// says which step made it, and for those that are gone which step used it up.
absl::Status WithHistory(const absl::Status& status, const State& state, absl::Span<const Step> before,
                         const Step& step);

namespace internal {
struct RegisterPrimitive {
  explicit RegisterPrimitive(const Primitive* primitive);
};
}  // namespace internal

#define KILN_PRIMITIVE(variable) \
  static const ::kiln::internal::RegisterPrimitive kRegister_##variable(&variable)

}  // namespace kiln
