#include "lang/reference/symbolic.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/program/layout.h"
#include "lang/program/start.h"
#include "lang/reference/current_owner.h"
#include "lang/reference/executor.h"

namespace kiln {
namespace {

template <typename... Words>
Hash128 Mix(Words... words) {
  Mixer mixer;
  (mixer.Add(static_cast<uint64_t>(words)), ...);
  return mixer.Finish();
}

Hash128 operator+(Hash128 a, Hash128 b) {
  const uint64_t low = a.low + b.low;
  return {a.high + b.high + (low < a.low), low};
}

enum Tag : uint64_t {
  kTagInput = 1,
  kTagKnown,
  kTagApply,
  kTagCast,
  kTagBag,
  kTagTuple,
  kTagMonoid,
  kTagGather
};

struct Term {
  enum class Kind : uint8_t { kUnwritten, kOpaque, kKnown, kBag };
  Kind kind = Kind::kUnwritten;
  DType type = DType::kIndex;  // kKnown
  uint16_t result = 0;         // kBag: the number of the result, if a reduction has several
  int32_t strand = 0;          // in memory: the iteration that wrote it
  Hash128 hash;                // kOpaque: hash of the term; kBag: sum of the hashes of its elements
  Scalar known = {.i = 0};     // kKnown
  Id monoid = kNone;           // kBag: the first of the equal monoids
  uint32_t count = 0;          // kBag: number of elements
  int32_t set = -1;            // kBag with several elements, idempotent: the set that begins with them
};

// One iteration of a loop whose iterations may run at once: a parallel, vectorized, axis or virtual-thread loop.
// `parent` is the enclosing strand, an iteration of the next such loop outwards. Strand 0 is outside of all such loops.
struct Strand {
  int32_t parent = -1, depth = 0;
  int64_t loop = 0;  // counts entries to loops: strands with the same number belong to one run of a loop
  Id node = kNone;
  bool lane = false;
};

// Returns the buffers whose terms are compared: the outputs in the order of the parameters, then the status.
std::vector<Id> Results(const Program& p) {
  std::vector<Id> results;
  for (const Id buffer : p.parameters) {
    if (p.buffers[buffer].role == Role::kOutput) results.push_back(buffer);
  }
  for (size_t b = 0; b < p.buffers.size(); ++b) {
    if (p.buffers[b].role == Role::kStatus) results.push_back(static_cast<Id>(b));
  }
  return results;
}

// The domain of terms, on which symbolic execution runs programs (lang/reference/executor.h): a value is a term, which
// says how it was computed.
class Terms {
 public:
  using Value = Term;

  explicit Terms(const Program& program);

  static Term Constant(DType type, Scalar value) {
    Term term;
    term.kind = Term::Kind::kKnown;
    term.type = type;
    term.known = value;
    return term;
  }
  static Term Index(int64_t value) { return Constant(DType::kIndex, {.i = value}); }
  Term Apply(Op op, DType type, ScalarFunction function, const Term& a, const Term& b, const Term& c) const;
  Term Cast(Op op, DType from, DType to, const Term& a) const {
    if (a.kind == Term::Kind::kKnown) return Constant(to, CastScalar(op, from, to, a.known));
    const Hash128 h = HashOf(a);
    return Opaque(Mix(kTagCast, op, from, to, h.high, h.low));
  }
  const char* Load(Id buffer, int64_t at, Term* to) const {
    if (memory_[buffer].empty()) {
      const Hash128 base = inputs_[buffer];
      *to = Opaque(Mix(kTagInput, base.high, base.low, at));
      return nullptr;
    }
    at += first_[buffer];
    *to = memory_[buffer][at];
    if (to->kind == Term::Kind::kUnwritten) return "reads what is not written yet";
    if (Apart(to->strand) != nullptr) return "reads what another iteration of a parallel loop wrote";
    if (owners_.Owned(buffer) && stamps_[buffer][at] != owners_.Now(buffer))
      return "reads what another owner of it wrote";
    return nullptr;
  }
  const char* Gather(const CodeAccess& access, const int* which, const Term* registers, Term* to);
  const char* Store(Id buffer, int64_t at, const Term& value) {
    at += first_[buffer];
    Term& to = memory_[buffer][at];
    const Strand* const apart = to.strand == strand_ ? nullptr : Apart(to.strand);
    if (apart != nullptr && !(HashOf(to) == HashOf(value)) && !PrivateTo(apart->node, buffer))
      return "writes what another iteration of a parallel loop wrote otherwise";
    Put(to, value);
    if (owners_.Owned(buffer)) stamps_[buffer][at] = owners_.Now(buffer);
    return nullptr;
  }
  const char* Combine(const PlanNode& block, const int64_t* at, Registers<Term>& registers);
  void BeginLoop(const PlanNode& loop);
  void Iterate(int64_t iteration);
  void SelectCopy(Id buffer, int64_t copy) { first_[buffer] = copy * ElementsOf(p_, buffer); }
  void Invalidate(Id buffer) {
    std::fill_n(memory_[buffer].begin() + first_[buffer], ElementsOf(p_, buffer), Term());
  }
  void EndLoop() {
    owners_.EndLoop(open_.back().node);
    strand_ = open_.back().before;
    open_.pop_back();
  }

  Hash128 HashOf(const Term& term) const;
  SymbolicOutputs Outputs() const;

 private:
  using Tuple = absl::InlinedVector<Term, 2>;
  struct OpenLoop {
    int32_t before;
    int64_t number;
    Id node;
    bool lanes;
  };

  static Term Opaque(Hash128 hash) {
    Term term;
    term.kind = Term::Kind::kOpaque;
    term.hash = hash;
    return term;
  }
  // Returns a bag, the unordered operands of a reduction, with one operand: `values`, one for each result. A bag of the
  // same monoid is returned as it is. The monoid's identity, or a neutral start value (-0.0 for a sum), gives the empty
  // bag.
  Term BagOf(Id monoid, const Tuple& values) const;
  Term Union(Term a, const Term& b);
  Term Insert(Term bag, Hash128 item);
  void Put(Term& to, const Term& value) {
    to = value;
    to.strand = strand_;
  }
  // True if the buffer is a temporary that nothing outside of the loop uses, so that each iteration has a copy of its
  // own. False if the loop is on an axis whose iterations share the buffer, by the rules of owners.
  bool PrivateTo(Id loop, Id buffer) const;
  // Finds a loop whose iterations may run at once and of which `strand` and the current strand are in two different
  // iterations. Returns the strand of the current iteration of that loop; nullptr if there is no such loop.
  const Strand* Apart(int32_t strand) const;

  const Program& p_;
  std::vector<std::vector<Term>> memory_;      // by buffer; empty: an input
  std::vector<int64_t> first_;                 // by buffer: first element of the selected copy
  std::vector<std::vector<uint64_t>> stamps_;  // by buffer: the owners that wrote; empty: there are no axes
  std::vector<Hash128> inputs_;                // by buffer: hash of an input
  std::vector<Id> same_monoid_;                // by monoid: the first that is equal
  std::vector<Hash128> monoids_;
  std::vector<std::vector<Hash128>> sets_;
  std::vector<Strand> strands_{1};
  std::vector<OpenLoop> open_;
  int32_t strand_ = 0;
  int64_t loops_ = 0;
  CurrentOwner owners_;
};

Terms::Terms(const Program& program) : p_(program), owners_(program) {
  memory_.resize(p_.buffers.size());
  inputs_.resize(p_.buffers.size());
  first_.resize(p_.buffers.size(), 0);
  for (size_t b = 0; b < p_.buffers.size(); ++b) {
    const Buffer& buffer = p_.buffers[b];
    if (!IsGiven(buffer.role))
      memory_[b].resize(ElementsOf(p_, static_cast<Id>(b)) * CopiesOf(p_, static_cast<Id>(b)));
    if (buffer.data == kNone) continue;
    Mixer mixer;
    for (const char c : (*p_.constants)[buffer.data]) mixer.Add(static_cast<unsigned char>(c));
    inputs_[b] = mixer.Finish();
  }
  stamps_.resize(p_.buffers.size());
  for (size_t b = 0; b < stamps_.size(); ++b)
    if (owners_.Owned(static_cast<Id>(b))) stamps_[b].resize(memory_[b].size());
  for (size_t i = 0; i < p_.parameters.size(); ++i) inputs_[p_.parameters[i]] = Mix(kTagInput, i);
  for (const Monoid& monoid : p_.monoids) {
    // Runs the code that combines two values of the monoid on opaque terms for its arguments. Monoids are equal if the
    // hashes of the results are.
    const BodyCode code(p_, p_.List(monoid.combine), 2 * monoid.identity.count, [](Source) { return 0; });
    std::vector<Term> registers;
    for (int r = 0; r < code.num_registers(); ++r) {
      registers.push_back(r < 2 * monoid.identity.count ? Opaque(Mix(kTagMonoid, r))
                                                        : Constant(code.type(r), code.initial()[r]));
    }
    struct Pure {
      const Terms& terms;
      static bool Load(const CodeAccess&, int64_t, Term*) { return false; }
      static bool Gather(const CodeAccess&, const int*, const Term*, Term*) { return false; }
      Term Apply(Op op, DType type, ScalarFunction f, const Term& a, const Term& b, const Term& c) const {
        return terms.Apply(op, type, f, a, b, c);
      }
      Term Cast(Op op, DType from, DType to, const Term& a) const { return terms.Cast(op, from, to, a); }
      static Term Index(int64_t value) { return Terms::Index(value); }
    } pure{*this};
    code.RunIn(pure, nullptr, registers.data());
    Mixer mixer;
    for (int r = 0; r < monoid.combine.count; ++r) {
      const Hash128 h = HashOf(registers[code.result(r)]);
      mixer.Add(h.high);
      mixer.Add(h.low);
      mixer.Add(static_cast<uint64_t>(p_.exprs[p_.List(monoid.combine)[r]].dtype));
    }
    const Hash128 hash = mixer.Finish();
    same_monoid_.push_back(
        static_cast<Id>(std::find(monoids_.begin(), monoids_.end(), hash) - monoids_.begin()));
    monoids_.push_back(hash);
  }
}

Hash128 Terms::HashOf(const Term& term) const {
  switch (term.kind) {
    case Term::Kind::kUnwritten:
      return {};
    case Term::Kind::kOpaque:
      return term.hash;
    case Term::Kind::kKnown:
      return Mix(kTagKnown, term.type, term.known.i);
    case Term::Kind::kBag:
      if (term.count == 1 && p_.monoids[term.monoid].identity.count == 1) return term.hash;
      return Mix(kTagBag, monoids_[term.monoid].high, monoids_[term.monoid].low, term.hash.high,
                 term.hash.low, term.count, term.result);
  }
  return {};
}

Term Terms::Apply(Op op, DType type, ScalarFunction function, const Term& a, const Term& b,
                  const Term& c) const {
  const Term* const operands[] = {&a, &b, &c};
  const int arity = Arity(op);
  const auto known = [](const Term& term) { return term.kind == Term::Kind::kKnown; };
  const auto zero = [&](const Term& term) { return known(term) && term.known.i == 0; };
  if (op == Op::kSelect && known(a)) return a.known.i != 0 ? b : c;
  if (op == Op::kMul && (zero(a) || zero(b))) return Constant(type, {.i = 0});
  if (std::all_of(operands, operands + arity, [&](const Term* t) { return known(*t); })) {
    return Constant(type, RoundScalar(type, function(a.known, b.known, c.known)));
  }
  Mixer mixer;
  mixer.Add(kTagApply);
  mixer.Add(static_cast<uint64_t>(op) << 8 | static_cast<uint64_t>(type));
  for (int i = 0; i < arity; ++i) {
    const Hash128 h = HashOf(*operands[i]);
    mixer.Add(h.high);
    mixer.Add(h.low);
  }
  return Opaque(mixer.Finish());
}

// Reads a buffer at computed indices. If an index is not a known number, the gather may read any element that the known
// indices allow, and the result is a term of all these elements. Returns an error if one of them must not be read.
const char* Terms::Gather(const CodeAccess& access, const int* which, const Term* registers, Term* to) {
  const int rank = static_cast<int>(access.dims.size());
  Mixer mixer;
  mixer.Add(kTagGather);
  const auto add = [](Mixer& mixed, Hash128 h) {
    mixed.Add(h.high);
    mixed.Add(h.low);
  };
  std::vector<int64_t> places{0};  // positions of the elements that it may read
  bool known = true;
  for (int d = 0; d < rank; ++d) {
    const Term& term = registers[which[d]];
    add(mixer, HashOf(term));
    const CodeAccess::Dim& dim = access.dims[d];
    const bool here = term.kind == Term::Kind::kKnown;
    known &= here;
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      const int64_t first = here ? dim.Nearest(term.known.i) : 0, end = here ? first + 1 : dim.extent;
      for (int64_t i = first; i < end; ++i) next.push_back(place + i * dim.stride);
    }
    places = std::move(next);
  }
  if (known) return Load(access.buffer, places[0], to);
  if (!memory_[access.buffer].empty()) {
    for (const int64_t place : places) {
      Term element;
      if (const char* wrong = Load(access.buffer, place, &element)) return wrong;
      add(mixer, HashOf(element));
    }
  } else {
    add(mixer, inputs_[access.buffer]);
  }
  *to = Opaque(mixer.Finish());
  return nullptr;
}

Term Terms::BagOf(Id monoid, const Tuple& values) const {
  Term bag = values[0];
  bool poured = true, neutral = true;
  for (size_t r = 0; r < values.size(); ++r) {
    const Term& v = values[r];
    poured &= v.kind == Term::Kind::kBag && same_monoid_[v.monoid] == same_monoid_[monoid] && v.result == r &&
              v.hash == bag.hash && v.count == bag.count;
    const Expr& identity = p_.exprs[p_.List(p_.monoids[monoid].identity)[r]];
    neutral &= v.kind == Term::Kind::kKnown && identity.op == Op::kConstant &&
               (v.known.i == ConstantValue(identity).i ||
                v.known.i == NeutralBits(p_, p_.monoids[monoid], static_cast<int>(r)));
  }
  if (poured) return bag;
  bag = Term();
  bag.kind = Term::Kind::kBag;
  bag.monoid = same_monoid_[monoid];
  if (neutral) return bag;
  bag.count = 1;
  bag.hash = HashOf(values[0]);
  for (size_t r = 1; r < values.size(); ++r) {
    const Hash128 h = HashOf(values[r]);
    bag.hash = Mix(kTagTuple, bag.hash.high, bag.hash.low, h.high, h.low);
  }
  return bag;
}

Term Terms::Insert(Term bag, Hash128 item) {
  if (bag.count == 1) {
    bag.set = static_cast<int32_t>(sets_.size());
    sets_.push_back({bag.hash});
  }
  const auto begin = sets_[bag.set].begin(), end = begin + bag.count;
  if (std::find(begin, end, item) != end) return bag;
  if (sets_[bag.set].size() != bag.count) {  // another bag has extended the set, so this one needs a copy
    std::vector<Hash128> copy(begin, end);
    bag.set = static_cast<int32_t>(sets_.size());
    sets_.push_back(std::move(copy));
  }
  sets_[bag.set].push_back(item);
  bag.hash = bag.hash + item;
  ++bag.count;
  return bag;
}

Term Terms::Union(Term a, const Term& b) {
  if (a.count == 0) return b;
  if (!p_.monoids[a.monoid].idempotent) {
    a.hash = a.hash + b.hash;
    a.count += b.count;
  } else if (b.count == 1) {
    a = Insert(a, b.hash);
  } else {
    for (uint32_t i = 0; i < b.count; ++i) a = Insert(a, sets_[b.set][i]);
  }
  return a;
}

const char* Terms::Combine(const PlanNode& block, const int64_t* at, Registers<Term>& registers) {
  const size_t results = block.dests.size();
  Tuple now, lifts;
  for (size_t r = 0; r < results; ++r) {
    const Id buffer = block.dests[r].buffer;
    now.push_back(memory_[buffer][first_[buffer] + at[r]]);
    if (now[r].kind == Term::Kind::kUnwritten) return "combines into what is not initialized";
    const Strand* const apart = Apart(now[r].strand);
    if (apart != nullptr && !apart->lane)
      return "combines into what another iteration of a parallel loop wrote";
    if (owners_.Owned(buffer) && stamps_[buffer][first_[buffer] + at[r]] != owners_.Now(buffer))
      return "combines into what another owner of it wrote";
    lifts.push_back(registers.body[block.body.result(static_cast<int>(r))]);
  }
  const Term added = BagOf(block.monoid, lifts);
  if (added.count == 0) return nullptr;
  Term bag = Union(BagOf(block.monoid, now), added);
  for (size_t r = 0; r < results; ++r) {
    bag.result = static_cast<uint16_t>(r);
    const Id buffer = block.dests[r].buffer;
    Put(memory_[buffer][first_[buffer] + at[r]], bag);
  }
  return nullptr;
}

void Terms::BeginLoop(const PlanNode& loop) {
  const bool lanes = loop.kind == LoopKind::kVectorized || IsThreadAxis(loop.kind);
  open_.push_back({strand_, ++loops_, loop.node, lanes});
}

void Terms::Iterate(int64_t iteration) {
  const OpenLoop& loop = open_.back();
  strand_ = static_cast<int32_t>(strands_.size());
  strands_.push_back({loop.before, strands_[loop.before].depth + 1, loop.number, loop.node, loop.lanes});
  owners_.Iterate(loop.node, iteration);
}

bool Terms::PrivateTo(Id loop, Id buffer) const {
  if (p_.buffers[buffer].role != Role::kTemporary) return false;
  if (owners_.watches() && OnAxis(p_, loop) && !IsPrivateTo(p_, buffer, loop)) return false;
  const auto below = [&](Id block) { return IsAncestor(p_, loop, block); };
  const std::vector<Id> readers = Readers(p_, buffer), writers = Writers(p_, buffer);
  return std::all_of(readers.begin(), readers.end(), below) &&
         std::all_of(writers.begin(), writers.end(), below);
}

const Strand* Terms::Apart(int32_t other) const {
  int32_t own = strand_;
  if (own == other) return nullptr;
  const auto up = [&](int32_t s, int32_t depth) {
    while (strands_[s].depth > depth) s = strands_[s].parent;
    return s;
  };
  const int32_t depth = std::min(strands_[own].depth, strands_[other].depth);
  own = up(own, depth);
  other = up(other, depth);
  while (strands_[own].parent != strands_[other].parent) {
    own = strands_[own].parent;
    other = strands_[other].parent;
  }
  return own != other && strands_[own].loop == strands_[other].loop ? &strands_[own] : nullptr;
}

SymbolicOutputs Terms::Outputs() const {
  SymbolicOutputs outputs;
  for (const Id buffer : Results(p_)) {
    outputs.emplace_back();
    for (const Term& term : memory_[buffer]) outputs.back().push_back({HashOf(term), term.count});
  }
  return outputs;
}

}  // namespace

absl::StatusOr<SymbolicOutputs> RunSymbolic(const Program& program, const InterpreterOptions& options) {
  Terms terms(program);
  const ExecutionPlan plan(program);
  const absl::Status status = Executor<Terms>(plan, options, terms).Run();
  if (!status.ok()) return status;
  return terms.Outputs();
}

absl::Status CheckSymbolic(const Program& program, const SymbolicOutputs& wanted,
                           const InterpreterOptions& options) {
  const absl::StatusOr<SymbolicOutputs> found = RunSymbolic(program, options);
  if (!found.ok()) return found.status();
  size_t output = 0;
  for (const Id buffer : Results(program)) {
    const std::vector<SymbolicElement>&has = (*found)[output], &should = wanted[output];
    ++output;
    const auto at = std::mismatch(has.begin(), has.end(), should.begin(), should.end());
    if (at.first == has.end() && at.second == should.end()) continue;
    if (has.size() != should.size()) return absl::InternalError("the programs have other outputs");
    const auto describe = [](const SymbolicElement& e) {
      return e.term == Hash128() ? std::string("nothing")
             : e.combined == 0 ? absl::StrCat("term ", e.term.low % 0x10000)
                               : absl::StrCat("term ", e.term.low % 0x10000, " of ", e.combined, " combined");
    };
    std::vector<int64_t> index;
    int64_t rest = at.first - has.begin(), stride = static_cast<int64_t>(has.size());
    for (const Extent& e : program.Dims(program.buffers[buffer].shape)) {
      stride /= e.Known();
      index.push_back(rest / stride);
      rest %= stride;
    }
    return absl::InternalError(absl::StrCat(program.Text(program.buffers[buffer].name), "[",
                                            absl::StrJoin(index, ", "), "] holds ", describe(*at.first),
                                            ", wanted ", describe(*at.second)));
  }
  return absl::OkStatus();
}

}  // namespace kiln
