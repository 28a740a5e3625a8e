// Declares a primitive (design D3): a file in lang/primitives/ or lang/lemmas/ with a KILN_PRIMITIVE for each
// primitive. Recording, replay, printing, parsing, the reference page and the fuzzer's generator are derived from the
// declaration.
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
  kFactor,  // a number, or a value, which stands for all of its numbers
};

struct OperandDecl {
  const char* name;
  OperandKind kind;
  bool variadic = false;  // allowed for the last operand only
};

struct AttributeDecl {
  const char* name;
  Attribute fallback;  // default value, which also sets the attribute's type
  // True for an attribute that was added after traces with the primitive had been stored. The hash of a trace then
  // leaves out the attribute's default, so the hashes of older traces stay the same.
  bool is_later = false;
};

// Declares the last attribute of every sampling primitive, `only`: the decisions to which the support is restricted,
// one after the other. An empty list allows all. ScheduleCore::Pin sets it, and Call::Draw applies it.
inline AttributeDecl Only() { return {"only", std::vector<int64_t>()}; }

// A primitive's view of the program and of its step: operands, attributes and results.
class Call {
 public:
  Call(State& state, const Target& target, const Step& step, int step_index, Chooser* chooser)
      : state_(state), target_(target), step_(step), step_index_(step_index), chooser_(chooser) {}

  Program& program() { return state_.program; }
  const Target& target() const { return target_; }
  int num_operands() const { return static_cast<int>(step_.operands.size()); }
  // Returns the node of the block or loop that operand i names.
  Id node(int i) const;
  std::vector<Id> nodes(int from) const;  // of operands from .. last
  // Returns the numbers of operands `from` .. last. A sampled value contributes all of its numbers.
  absl::InlinedVector<int64_t, 6> numbers(int from) const;
  bool IsValue(int i) const { return step_.operands[i].kind == Operand::Kind::kValue; }
  // Returns the number that operand i is, or the numbers of the sampled value that it names.
  Decision value(int i) const;
  // True if one of the operands `from` .. last is a sampled value, so that loops made from it are tainted.
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
  // Lets the chooser draw a decision from the distribution, restricted by the attribute `only`, and returns it as the
  // result of the step. kFailedPrecondition if no decision is left, or the chooser returns one that is not in the
  // support.
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
  const char* result_names;  // "outer inner" for the reference page; "" if there are none
  bool sampling = false;
  bool reads_only =
      false;  // does not change the program, so that a step whose results are unused can be removed
  // A lemma changes what is computed, within a bound that it states. Later steps must preserve the changed program.
  // Lemmas come before all other steps that transform the program (design D9).
  bool lemma = false;
  bool restricts = false;  // adds rules that later steps must obey (analysis/legality.h)
  const char* doc;         // what it does, before -> after, and when it does not apply
  absl::Status (*apply)(Call& call);
  // What a lemma assumes about the data, as a text for AssumptionsOf; "" if nothing.
  const char* assumes = "";
};

// Finds a primitive by its name or a former name (lang/base/aliases.cc); nullptr if there is none.
const Primitive* FindPrimitive(absl::string_view name);
std::vector<const Primitive*> AllPrimitives();  // sorted by name

// Runs one step: looks up its handles (kFailedPrecondition for a dead one, kInvalidArgument for a missing one), applies
// it, and appends the results to the state. A step that breaks a rule of lang/analysis/legality.h or changes the inside
// of an intrinsic's call is undone with kFailedPrecondition, and a lemma after a step that transformed the program is
// refused. On success, `decision` (if not null) receives what a sampling step decided. Error messages name step_index
// and the step.
absl::Status Run(State& state, const Target& target, const Step& step, int step_index, Chooser* chooser,
                 int* num_results, Decision* decision);

// The assumption of lemmas that leave out products with a factor 0, because 0 * x is 0 only for finite x.
inline constexpr char kFiniteFactors[] = "finite inputs and intermediates";

// Returns the assumptions of the steps about the data, each once, sorted and joined by "; "; "" if there are none.
// Results may differ from the original's for data that violate them. The annotation `finite` counts too: older
// schedules set it directly, before the lemma assume-finite existed.
std::string AssumptionsOf(absl::Span<const Step> steps);

// Adds history to the error of a step that did not apply after the steps `before`: a line for each of its
// handles that says which step created it and, for a dead handle, which step consumed it.
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
