#include "backends/lower/text/loop_plan_parse.h"

#include <algorithm>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "backends/lower/plan/plan_names.h"
#include "lang/program/text_names.h"
#include "lang/text/text.h"
#include "lang/text/text_exprs.h"

namespace kiln::plan {
namespace {

// A recursive-descent parser of the text of a loop plan, for a parsed program and its computed index plan. After the
// first error, methods return at once with an arbitrary value.
class Parser : private ExprReader {
 public:
  Parser(absl::string_view text, Program program, IndexPlan computed)
      : ExprReader(text), plan_{std::move(computed), {}}, names_(program, plan_.indices) {
    p_ = std::move(program);
    JoinNames();
    for (Id node = 0; node < static_cast<Id>(p_.nodes.size()); ++node) {
      if (names_.OfNode(node).empty()) continue;
      nodes_[names_.OfNode(node)] = node;
      if (p_.IsLoop(node))
        loops_.push_back({names_.OfNode(node), Source::Loop(node), double(p_.loop(node).extent.Known())});
    }
    for (size_t b = 0; b < p_.buffers.size(); ++b) buffers_[names_.OfBuffer(b)] = static_cast<Id>(b);
  }

  absl::StatusOr<Planned> Parse() {
    Keyword("kiln.plan");
    Keyword("v1");
    while (ok() && Accept("mark")) ParseMark();
    ParseConditions();
    while (ok() && Accept("buffer")) ParseBuffer();
    while (ok() && Next().kind != Token::Kind::kEnd) ParseEntry();
    if (!ok()) return status();
    return Planned{std::move(p_), std::move(plan_)};
  }

 private:
  // Joins the tokens of a name and its number, as in `conv@2`, to one token. Its text is the name as plans show it,
  // quotes included.
  void JoinNames() {
    std::vector<Token> joined;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      joined.push_back(tokens_[i]);
      const bool is_quoted = tokens_[i].kind == Token::Kind::kQuoted;
      if (!is_quoted && tokens_[i].kind != Token::Kind::kName) continue;
      if (is_quoted) joined.back().text = QuotedPlanName(tokens_[i].text);
      if (!Is("@", i + 1) || Next(i + 2).kind != Token::Kind::kNumber) continue;
      absl::StrAppend(&joined.back().text, "@", Next(i + 2).text);
      i += 2;
    }
    tokens_ = std::move(joined);
  }

  // Returns a name without its quotes and backslashes, or as it is if it has no quotes.
  static std::string Plain(absl::string_view name) {
    if (!absl::ConsumePrefix(&name, "\"") || !absl::ConsumeSuffix(&name, "\"")) return std::string(name);
    std::string plain;
    for (size_t i = 0; i < name.size(); ++i) plain += name[i] == '\\' ? name[++i] : name[i];
    return plain;
  }

  Id NodeCalled(absl::string_view what, bool is_loop) {
    const Token token = Next();
    const std::string name = Name(what);
    const auto found = nodes_.find(name);
    if (!ok()) return kRoot;
    if (found != nodes_.end() && p_.IsLoop(found->second) == is_loop) return found->second;
    FailAt(token, absl::StrCat("found \"", name, "\", wanted ", what, " of the program"));
    return kRoot;
  }
  Id LoopCalled() { return NodeCalled("a loop", true); }
  Id Buffer() {
    const Token token = Next();
    return BufferCalled(Name("a buffer"), token);
  }
  std::vector<Id> Loops() {
    std::vector<Id> loops;
    while (ok() && !Is("{")) loops.push_back(LoopCalled());
    return loops;
  }

  int ConditionNumber() {
    int number = 0;
    if (Next().kind != Token::Kind::kName || !IsConditionName(Next().text) ||
        !absl::SimpleAtoi(Next().text.substr(1), &number)) {
      Wanted("a condition such as c0");
      return 0;
    }
    ++at_;
    return number;
  }
  int OneCondition() {
    const Token token = Next();
    const int number = ConditionNumber();
    if (ok() && number >= std::ssize(plan_.indices.conditions))
      FailAt(token, absl::StrCat("there is no condition c", number));
    return number;
  }
  std::vector<int> Conditions() {
    std::vector<int> conditions;
    do conditions.push_back(OneCondition());
    while (ok() && Next().kind == Token::Kind::kName && IsConditionName(Next().text));
    return conditions;
  }
  std::vector<int> ConditionsAfter(absl::string_view keyword) {
    return Accept(keyword) ? Conditions() : std::vector<int>();
  }

  // --- Parses the line of a mark, a sum that others divide, and gives its name to the program's mark with an equal
  // sum. Fails if the program has no such mark.
  void ParseMark() {
    const std::string name = Name("a mark's name");
    Keyword(":");
    const Token token = Next();
    const IndexSum sum = ParseSum(loops_);
    const double reach = reach_;
    if (!ok()) return;
    Id found = kNone;
    for (const auto& [mark, definition] : plan_.indices.marks) {
      if ((found == kNone || mark < found) && names_.Key(definition) == names_.Key(sum)) found = mark;
    }
    if (found == kNone) return FailAt(token, "no index of the program divides this sum");
    loops_.push_back({name, Source::Mark(found), reach});
  }

  // Parses the lines of all conditions, which must be those of the program, in any order. Gives the program's
  // conditions the numbers that they have in the text.
  void ParseConditions() {
    IndexPlan& indices = plan_.indices;
    const auto key = [&](const IndexSum& value, int64_t extent) {
      return absl::StrCat("0 <= ", names_.Key(value), " < ", extent);
    };
    std::multimap<std::string, int> left;  // conditions of the program that the text has not named yet
    for (int c = 0; c < std::ssize(indices.conditions); ++c)
      left.emplace(key(indices.conditions[c].value, indices.conditions[c].extent), c);
    std::vector<int> computed;  // by number in the text: the number in the program
    while (ok() && Accept("condition")) {
      const Token token = Next();
      if (const int number = ConditionNumber(); ok() && number != std::ssize(computed))
        FailAt(token, absl::StrCat("found c", number, ", wanted c", computed.size()));
      Keyword(":");
      if (Next().text != "0") return Wanted("\"0 <=\"");
      ++at_;
      Keyword("<");
      Keyword("=");
      const IndexSum value = ParseSum(loops_);
      Keyword("<");
      const int64_t extent = Integer("an extent");
      const auto found = left.find(key(value, extent));
      if (!ok()) return;
      if (found == left.end())
        return FailAt(token,
                      absl::StrCat("the program has no such condition", left.empty() ? "" : "; it has ",
                                   left.empty() ? "" : left.begin()->first));
      computed.push_back(found->second);
      left.erase(found);
    }
    if (ok() && !left.empty())
      return Wanted(absl::StrCat("the program's condition c", computed.size(), ": ", left.begin()->first));
    std::vector<int> numbers(computed.size());  // by number in the program: the number in the text
    std::vector<Condition> conditions;
    for (size_t c = 0; c < computed.size(); ++c) {
      numbers[computed[c]] = static_cast<int>(c);
      conditions.push_back(indices.conditions[computed[c]]);
    }
    indices.conditions = std::move(conditions);
    const auto renumber = [&](std::vector<int>& list) {
      for (int& condition : list) condition = numbers[condition];
    };
    for (auto& [node, block] : indices.blocks) {
      renumber(block.guards);
      renumber(block.droppable);
      for (auto& [expr, within] : block.within) renumber(within);
    }
  }

  void ParseBuffer() {
    const Id id = Buffer();
    if (!ok()) return;
    BufferPlan& buffer = plan_.indices.buffers[id];
    Keyword(":");
    buffer.elements = Integer("a number of elements");
    Keyword("elements");
    Keyword(",");
    buffer.place =
        static_cast<Memory>(OneOf(kMemoryNames, "parameter, global, alloca, heap, shared or workspace"));
    if (HasOffset(buffer.place)) {
      Keyword("at");
      buffer.offset = Integer("an offset in bytes");
    }
    buffer.per_iteration = Accept("per");
    if (buffer.per_iteration) Keyword("iteration");
    buffer.shares = kNone;
    if (!Accept(",")) return;
    for (const char* word : {"in", "the", "memory", "of"}) Keyword(word);
    buffer.shares = Buffer();
  }

  // --- Parses an entry point: its name, the word `prepare` for one of the prepare phase, and its tree of nodes.
  void ParseEntry() {
    Keyword("entry");
    Entry entry;
    entry.name = Plain(Name("an entry's name"));
    entry.prepare = Accept("prepare");
    entry.nodes = ParseNodes(0);
    plan_.entries.push_back(std::move(entry));
  }

  // Parses a list of nodes in braces. `depth` is the number of nodes around it; fails if it exceeds 800.
  Nodes ParseNodes(int depth) {
    Nodes nodes;
    if (depth > 800) FailAt(Next(), "the tree is too deep");
    Keyword("{");
    while (ok() && !Accept("}")) nodes.push_back(ParseNode(depth + 1));
    return nodes;
  }

  Node ParseNode(int depth) {
    if (Accept("for")) {
      const Loop loop = ParseLoop();
      return {loop, {ParseNodes(depth)}};
    }
    if (Accept("if")) return ParseBranch(depth);
    if (Accept("switch")) return ParseSwitch(depth);
    if (Accept("first")) {
      Keyword("over");
      First first{Loops()};
      Nodes starts = ParseNodes(depth);
      return {std::move(first), {std::move(starts), ParseNodes(depth)}};
    }
    if (Accept("call")) return ParseCall(depth);
    if (Accept("prefetch")) return {ParsePrefetch()};
    if (Accept("flush")) return {Flush{Id32("a number")}};
    if (Accept("fence")) return {Fence{}};
    if (Accept("commit")) return {Commit{}};
    if (Accept("sync")) {
      Sync sync{static_cast<Owner>(OneOf(kOwnerNames, "an owner"))};
      if (Accept("groups")) sync.groups = Id32("a number of groups");
      return {sync};
    }
    return {ParseLeaf()};
  }

  Loop ParseLoop() {
    Loop loop{.loop = LoopCalled()};
    if (Accept("one")) {
      loop.run = Run::kOne;
      return loop;
    }
    const Token range = Next();
    int64_t end = Integer("a number of iterations");
    if (Accept("..")) {
      loop.first = end;
      end = Integer("the end of the iterations");
    }
    loop.count = end - loop.first;
    if (Accept("threads")) loop.run = Run::kThreads;
    if (Accept("unrolled")) loop.run = Run::kUnrolled;
    if (Accept("lanes")) {
      loop.run = Run::kLanes;
      loop.lanes = Integer("a number of lanes");
    }
    if (Accept("axis")) {
      loop.run = Run::kAxis;
      const Token token = Next();
      loop.axis = KindOfLoop();
      if (loop.axis < LoopKind::kBlockX || loop.axis > LoopKind::kThreadZ)
        FailAt(token, absl::StrCat(ToString(loop.axis), " is no axis"));
    }
    if (Accept("steps")) loop.steps = Integer("a number of steps");
    loop.trims = ConditionsAfter("trim");
    loop.decided = ConditionsAfter("decided");
    loop.runs_once = Accept("once");
    loop.ahead = Accept("ahead");
    if (Accept("role")) loop.role = Id32("a role");
    if (!ok()) return loop;
    const int64_t extent = p_.loop(loop.loop).extent.Known();
    if (loop.first < 0 || loop.count < 1 || loop.steps < 1 || end > extent / loop.steps)
      FailAt(range, absl::StrCat("the loop has the iterations 0..", extent));
    if (loop.run == Run::kLanes && loop.lanes < 1) FailAt(range, "the loop has no lanes");
    return loop;
  }

  Node ParseBranch(int depth) {
    Branch branch{.tests = Conditions()};
    std::vector<Nodes> arms{ParseNodes(depth)};
    if (Accept("else")) {
      branch.decided = Accept("decided");
      arms.push_back(ParseNodes(depth));
    }
    return {std::move(branch), std::move(arms)};
  }

  Node ParseSwitch(int depth) {
    Switch by{.condition = OneCondition()};
    Keyword("{");
    Keyword("all");
    std::vector<Nodes> arms{ParseNodes(depth)};
    while (ok() && !Accept("}")) {
      by.values.push_back(Integer("a value"));
      arms.push_back(ParseNodes(depth));
    }
    return {std::move(by), std::move(arms)};
  }

  Leaf ParseLeaf() {
    Leaf leaf{.block = NodeCalled("a block", false)};
    if (Accept("start")) {
      leaf.starts = true;
    } else if (Accept("combine")) {
      leaf.starts = false;
    }
    leaf.across = Accept("across");
    leaf.fast = Accept("fast");
    leaf.asks = ConditionsAfter("asks");
    if (!Accept("stores")) return leaf;
    while (ok() && (Is("plain") || Is("stream") || Is("transposed") || Is("async"))) {
      Store store;
      if (Accept("stream")) {
        store.mode = Store::Mode::kStream;
      } else if (Accept("async")) {
        store.mode = Store::Mode::kAsync;
      } else if (Accept("transposed")) {
        store = {Store::Mode::kTransposed, Id32("a number")};
      } else {
        Keyword("plain");
      }
      leaf.stores.push_back(store);
    }
    return leaf;
  }

  Node ParseCall(int depth) {
    Call call;
    call.intrinsic = Plain(Name("an intrinsic"));
    call.outer = LoopCalled();
    call.asks = ConditionsAfter("asks");
    std::vector<Nodes> arms;
    if (Is("{")) arms.push_back(ParseNodes(depth));
    return {std::move(call), std::move(arms)};
  }

  Prefetch ParsePrefetch() {
    Prefetch prefetch;
    prefetch.write = !Is("[", 1) && Accept("write");
    prefetch.buffer = Buffer();
    Keyword("[");
    prefetch.address = ParseSum(loops_);
    Keyword("]");
    if (Accept("over")) {
      while (ok() && !Is("lines")) {
        Loop loop{.loop = LoopCalled(), .run = Run::kUnrolled};
        if (Accept("one")) {
          loop.run = Run::kOne;
        } else {
          loop.count = Integer("a number of iterations");
        }
        prefetch.over.push_back(std::move(loop));
      }
    }
    Keyword("lines");
    prefetch.lines = Integer("a number of cache lines");
    Keyword("locality");
    prefetch.locality = Id32("a locality from 0 to 3");
    return prefetch;
  }

  LoopPlan plan_;
  const PlanNames names_;
  std::map<std::string, Id> nodes_;  // by name
  Scope loops_;                      // and marks
};

}  // namespace

absl::StatusOr<Planned> ParsePlan(absl::string_view text, const PlanOptions& options) {
  const size_t before = text.find("\nkiln.plan ");
  const absl::string_view head = text.substr(0, before);
  auto program = ParseProgram(head);
  if (!program.ok()) return program.status();
  const std::string lines(absl::c_count(head, '\n'), '\n');  // so that positions are those of the text
  if (absl::Status constant = CheckConstantExtents(*program, "lowering"); !constant.ok()) return constant;
  IndexPlan indices = PlanIndices(*program, options);
  const absl::string_view plan = before == absl::string_view::npos ? "" : text.substr(before);
  return Parser(absl::StrCat(lines, plan), *std::move(program), std::move(indices)).Parse();
}

std::string Text(const Planned& planned) {
  return absl::StrCat(ToString(planned.program), "\n", ToString(planned.program, planned.plan));
}

}  // namespace kiln::plan
