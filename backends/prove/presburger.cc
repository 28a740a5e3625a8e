#include "backends/prove/presburger.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "absl/strings/string_view.h"
#include "backends/workers/forked_child.h"
#include "backends/workers/write_all.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/PresburgerRelation.h"

namespace kiln::proof {
namespace {

using mlir::presburger::BoundType;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::IntegerRelation;
using mlir::presburger::PresburgerRelation;
using mlir::presburger::PresburgerSpace;
using mlir::presburger::VarKind;

// The quotients variable / divisor, rounded down, that occur in sums, each with its column in the constraints of a
// Polyhedron.
using Quotients = std::map<std::pair<int, int64_t>, int>;

void AddQuotients(const IndexSum& sum, Quotients& quotients) {
  for (const IndexSplit& s : sum.splits) {
    if (s.lower != 1) quotients[{s.source.id, s.lower}] = 0;
    if (s.extent != 0) quotients[{s.source.id, s.lower * s.extent}] = 0;
  }
}

// The points of a relation, as a set of MLIR's Presburger library. Its dimensions are the results, then the variables;
// quotients of variables are local variables. `fixed` has values for the first results.
class Polyhedron {
 public:
  Polyhedron(const Relation& f, const std::vector<int64_t>& fixed)
      : results_(f.results.size()),
        set_(IntegerPolyhedron(PresburgerSpace::getSetSpace(
            static_cast<unsigned>(f.results.size() + f.points.variables.size())))) {
    const Points& points = f.points;
    for (const IndexSum& sum : f.results) AddQuotients(sum, quotients_);
    for (const Condition& c : points.conditions) AddQuotients(c.value, quotients_);
    for (const Points::Variable& v : points.variables) {
      if (v.value.has_value()) AddQuotients(*v.value, quotients_);
    }
    for (auto& [quotient, column] : quotients_) {
      std::vector<int64_t> row(set_.getNumCols(), 0);
      row[results_ + quotient.first] = 1;
      column = static_cast<int>(set_.addLocalFloorDiv(row, quotient.second));
    }
    for (size_t v = 0; v < points.variables.size(); ++v) {
      const IndexSum variable = IndexSum::Of(Source::Iter(static_cast<int32_t>(v)));
      Within(variable, points.variables[v].extent);
      if (points.variables[v].value.has_value()) Within(*points.variables[v].value + variable * -1, 1);
    }
    for (const Condition& c : points.conditions) Within(c.value, c.extent);
    for (size_t r = 0; r < results_; ++r) {
      std::vector<int64_t> row = Row(f.results[r]);
      row[r] -= 1;
      set_.addEquality(row);
      if (r < fixed.size()) set_.addBound(BoundType::EQ, static_cast<unsigned>(r), fixed[r]);
    }
  }

  const IntegerRelation& set() const { return set_; }
  // Returns the set of the results of all points. In this set, the variables become local (existentially quantified)
  // ones.
  IntegerRelation Image() const {
    IntegerRelation image = set_;
    image.convertToLocal(VarKind::SetDim, static_cast<unsigned>(results_), set_.getNumDimVars());
    return image;
  }

 private:
  std::vector<int64_t> Row(const IndexSum& sum) const {
    std::vector<int64_t> row(set_.getNumCols(), 0);
    row.back() = sum.offset;
    for (const IndexSplit& s : sum.splits) {
      const size_t whole = s.lower == 1 ? results_ + s.source.id : quotients_.at({s.source.id, s.lower});
      row[whole] += s.scale;
      if (s.extent != 0) row[quotients_.at({s.source.id, s.lower * s.extent})] -= s.scale * s.extent;
    }
    return row;
  }
  void Within(const IndexSum& value, int64_t extent) {
    std::vector<int64_t> row = Row(value);
    set_.addInequality(row);
    for (int64_t& coefficient : row) coefficient = -coefficient;
    row.back() += extent - 1;
    set_.addInequality(row);
  }

  size_t results_;
  IntegerRelation set_;
  Quotients quotients_;
};

std::vector<int64_t> Part(llvm::ArrayRef<llvm::DynamicAPInt> sample, size_t from, size_t count) {
  std::vector<int64_t> part;
  for (size_t i = from; i < from + count; ++i) part.push_back(static_cast<int64_t>(sample[i]));
  return part;
}

// Looks for a point of f whose results begin with `results`. Returns kNo with such a point, or kYes if there is none.
Reply PointOf(const Relation& f, const std::vector<int64_t>& results) {
  const auto sample = Polyhedron(f, results).set().findIntegerSample();
  if (!sample.has_value()) return {Answer::kYes};  // f is empty
  return {Answer::kNo, Part(*sample, f.results.size(), f.points.variables.size())};
}

// Returns the set of pairs of a point of f and a point of g that have equal results. Variables of f come first.
Points Product(const Relation& f, const Relation& g) {
  Points both = f.points;
  const auto first = static_cast<int32_t>(both.variables.size());
  const auto shifted = [&](IndexSum sum) {
    for (IndexSplit& s : sum.splits) s.source.id += first;
    return sum;
  };
  for (const auto& [extent, value] : g.points.variables)
    both.variables.push_back(
        {extent, value.has_value() ? std::optional<IndexSum>(shifted(*value)) : std::nullopt});
  for (const Condition& c : g.points.conditions) both.conditions.push_back({shifted(c.value), c.extent});
  for (size_t r = 0; r < f.results.size(); ++r)
    both.conditions.push_back({f.results[r] + shifted(g.results[r]) * -1, 1});
  return both;
}

// Calls `ask` in a child process and returns its reply; kUnknown if the child cannot be started, crashes, or does not
// reply within the limit.
Reply Apart(const PresburgerOptions& options, absl::FunctionRef<Reply()> ask) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    EndWithParent(parent);
    const Reply reply = ask();
    std::vector<int64_t> words = {static_cast<int64_t>(reply.answer)};
    words.insert(words.end(), reply.point.begin(), reply.point.end());
    const absl::string_view bytes(reinterpret_cast<const char*>(words.data()),
                                  words.size() * sizeof(int64_t));
    _exit(WriteAll(ends[1], bytes) ? 0 : 1);
  }
  close(ends[1]);
  Reply reply;
  pollfd ready{ends[0], POLLIN, 0};
  if (child > 0 && poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(options.limit))) == 1) {
    int64_t words[512];
    const ssize_t bytes = read(ends[0], words, sizeof words);
    if (bytes >= static_cast<ssize_t>(sizeof words[0]))
      reply = {static_cast<Answer>(words[0]), {words + 1, words + bytes / sizeof words[0]}};
  }
  close(ends[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return reply;
}

Reply EmptyHere(const Points& points) { return PointOf({points, {}}, {}); }

constexpr unsigned kNoColumn = ~0U;

std::vector<llvm::DynamicAPInt> RowOf(llvm::ArrayRef<llvm::DynamicAPInt> given, unsigned dims,
                                      const std::vector<unsigned>& locals, unsigned columns) {
  std::vector<llvm::DynamicAPInt> row(columns, llvm::DynamicAPInt(0));
  for (unsigned c = 0; c < dims; ++c) row[c] = given[c];
  for (size_t l = 0; l < locals.size(); ++l) {
    if (given[dims + l] != 0) row[locals[l]] = given[dims + l];
  }
  row.back() = given.back();
  return row;
}

// Returns a point of f that is in none of the sets g, whose local variables are quotients; nullopt if there is none.
// Also returns nullopt, and sets `unknown`, if a quotient is not known. (MLIR's own difference of sets is wrong if two
// inequalities say more about a local variable than that it is a quotient.)
std::optional<std::vector<int64_t>> Outside(const IntegerRelation& f, llvm::ArrayRef<IntegerRelation> g,
                                            bool& unknown) {
  if (unknown) return std::nullopt;
  if (g.empty()) {
    const auto sample = f.findIntegerSample();
    if (!sample.has_value()) return std::nullopt;
    return Part(*sample, 0, f.getNumDimVars());
  }
  if (f.isIntegerEmpty()) return std::nullopt;
  const IntegerRelation& cut = g[0];
  const unsigned dims = cut.getNumDimVars();
  IntegerRelation rest = f;
  const mlir::presburger::DivisionRepr quotients = cut.getLocalReprs();
  std::vector<unsigned> locals(cut.getNumLocalVars(), kNoColumn);
  for (size_t added = 0; added < locals.size();) {
    const size_t before = added;
    for (size_t l = 0; l < locals.size(); ++l) {
      if (locals[l] != kNoColumn || !quotients.hasRepr(static_cast<unsigned>(l))) continue;
      const auto dividend = quotients.getDividend(static_cast<unsigned>(l));
      bool known = true;
      for (size_t m = 0; m < locals.size(); ++m) known &= dividend[dims + m] == 0 || locals[m] != kNoColumn;
      if (!known) continue;
      locals[l] = rest.addLocalFloorDiv(RowOf(dividend, dims, locals, rest.getNumCols()),
                                        quotients.getDenom(static_cast<unsigned>(l)));
      ++added;
    }
    if (added != before) continue;
    unknown = true;
    return std::nullopt;
  }
  const auto without = [&](std::vector<llvm::DynamicAPInt> row) {
    for (llvm::DynamicAPInt& c : row) c = -c;
    row.back() -= 1;
    IntegerRelation part = rest;
    part.addInequality(row);
    return Outside(part, g.drop_front(), unknown);
  };
  for (unsigned i = 0; i < cut.getNumEqualities() + cut.getNumInequalities(); ++i) {
    const bool equality = i < cut.getNumEqualities();
    const auto given = equality ? cut.getEquality(i) : cut.getInequality(i - cut.getNumEqualities());
    std::vector<llvm::DynamicAPInt> row = RowOf(given, dims, locals, rest.getNumCols());
    if (auto point = without(row)) return point;
    if (equality) {
      std::vector<llvm::DynamicAPInt> other = row;
      for (llvm::DynamicAPInt& c : other) c = -c;
      if (auto point = without(other)) return point;
      rest.addEquality(row);
    } else {
      rest.addInequality(row);
    }
  }
  return std::nullopt;
}

Reply CoversHere(const Relation& f, const std::vector<Relation>& g) {
  PresburgerRelation covering(Polyhedron(g[0], {}).Image());
  for (size_t i = 1; i < g.size(); ++i) covering.unionInPlace(Polyhedron(g[i], {}).Image());
  covering = covering.computeReprWithOnlyDivLocals();
  bool unknown = false;
  const auto results = Outside(Polyhedron(f, {}).Image(), covering.getAllDisjuncts(), unknown);
  if (unknown) return {};
  return results.has_value() ? PointOf(f, *results) : Reply{Answer::kYes};
}

Reply DeterminesHere(const std::vector<Relation>& f, const std::vector<std::vector<IndexSum>>& values) {
  for (size_t i = 0; i < f.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const Points both = Product(f[i], f[j]);
      const auto first = static_cast<int32_t>(f[i].points.variables.size());
      std::vector<Points> wrong;
      if (i != j) wrong.push_back(both);
      for (const IndexSum& value : i == j ? values[i] : std::vector<IndexSum>()) {
        IndexSum less = value;  // the values at the second point
        for (IndexSplit& s : less.splits) s.source.id += first;
        less = less + value * -1 + IndexSum::Constant(-1);
        const Interval bounds = Bounds(less, both);
        if (bounds.max < 0) continue;
        Points some = both;
        some.conditions.push_back({less, bounds.max + 1});
        wrong.push_back(some);
      }
      for (const Points& points : wrong) {
        Reply reply = EmptyHere(points);
        if (reply.answer == Answer::kYes) continue;
        if (reply.answer == Answer::kNo) reply.point.resize(first);
        return reply;
      }
    }
  }
  return {Answer::kYes};
}

}  // namespace

Reply PresburgerProver::Empty(const Points& points) {
  return Apart(options_, [&] { return EmptyHere(points); });
}

Reply PresburgerProver::Covers(const Relation& f, const std::vector<Relation>& g) {
  if (g.empty()) return Empty(f.points);
  return Apart(options_, [&] { return CoversHere(f, g); });
}

Reply PresburgerProver::Determines(const std::vector<Relation>& f,
                                   const std::vector<std::vector<IndexSum>>& values) {
  return Apart(options_, [&] { return DeterminesHere(f, values); });
}

}  // namespace kiln::proof
