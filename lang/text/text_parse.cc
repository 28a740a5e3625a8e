#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lang/program/text_names.h"
#include "lang/text/text.h"
#include "lang/text/text_exprs.h"
#include "lang/verify/verify.h"

namespace kiln {
namespace {

// A recursive-descent parser of program texts. After the first error, every method returns immediately with an
// arbitrary value.
class Parser : private ExprReader {
 public:
  explicit Parser(absl::string_view text) : ExprReader(text) {}

  absl::StatusOr<Program> Parse() {
    Keyword("kiln.program");
    Keyword("v1");
    Keyword("program");
    p_.name = Name("a name");
    std::vector<std::pair<std::string, Token>> parameters;
    if (Accept("parameters")) {
      do {
        const Token token = Next();
        parameters.emplace_back(Name("a buffer"), token);
      } while (Accept(","));
    }
    while (ok() && Accept("buffer")) ParseBuffer();
    p_.parameters.clear();
    for (const auto& [name, token] : parameters) p_.parameters.push_back(BufferCalled(name, token));
    while (ok() && Accept("monoid")) ParseMonoid();
    while (ok() && Next().kind != Token::Kind::kEnd) ParseNode(kRoot, kNone, {}, 0);
    if (!constants_.empty())
      p_.constants = std::make_shared<const std::vector<std::string>>(std::move(constants_));
    if (!ok()) return status();
    Id broken = kNone;
    const absl::Status valid = Verify(p_, broken);
    if (valid.ok()) return std::move(p_);
    FailAt(broken != kNone ? blocks_[broken] : tokens_[0], valid.message());
    return status();
  }

 private:
  // --- parsing of declarations: buffers and monoids
  void ParseBuffer() {
    const Token token = Next();
    const std::string name = Name("a buffer's name");
    Keyword(":");
    const std::optional<DType> type = ParseDType(Next().text);
    if (!type.has_value()) return Wanted("a dtype");
    ++at_;
    std::vector<Extent> shape;
    double elements = 1;
    Keyword("[");
    while (ok() && !Accept("]")) {
      if (!shape.empty()) Keyword(",");
      shape.push_back(ParseExtent());
      elements *= static_cast<double>(shape.back().UpperBound());
    }
    CheckSize(elements, token);
    const Role role = static_cast<Role>(OneOf(kRoleNames, "a role"));
    const Id id = p_.AddBuffer(name, type.value_or(DType::kF32), shape, role);
    if (!buffers_.emplace(name, id).second)
      return FailAt(token, absl::StrCat("buffer \"", name, "\" is there already"));
    if (const std::optional<Storage> storage = ParseStorage(Next().text); storage.has_value() && Is("/", 1)) {
      at_ += 2;
      p_.buffers[id].scope = {*storage, static_cast<Owner>(OneOf(kOwnerNames, "an owner"))};
    }
    if (Accept("layout")) ParseLayout(id, shape.size());
    if (Accept("data")) {
      if (Next().kind != Token::Kind::kQuoted || Next().text.size() % 2 != 0 ||
          Next().text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return Wanted("bytes in hexadecimal");
      }
      p_.buffers[id].data = static_cast<Id>(constants_.size());
      constants_.push_back(absl::HexStringToBytes(tokens_[at_++].text));
    }
  }
  void ParseLayout(Id id, size_t rank) {
    Scope scope;
    for (size_t d = 0; d < rank; ++d)
      scope.push_back(
          {absl::StrCat("d", d), Source::Iter(static_cast<int32_t>(d)),
           static_cast<double>(p_.dims[p_.buffers[id].shape.begin + static_cast<int>(d)].UpperBound())});
    Layout layout;
    layout.axes = ParseMarks(scope);
    if (Accept("kinds")) {
      std::vector<int32_t> kinds;
      Keyword("(");
      do kinds.push_back(OneOf(kAxisNames, "a kind of axis"));
      while (ok() && Accept(","));
      Keyword(")");
      layout.kinds = p_.AddList(kinds);
    }
    if (Accept("swizzle")) layout.swizzle = SwizzleBits();
    if (Accept("padding")) layout.padding = ParseExpr();
    p_.buffers[id].layout = layout;
  }
  void ParseMonoid() {
    Monoid monoid;
    monoid.kind = Monoid::Kind::kCustom;
    const std::string name = Name("a monoid's name");
    monoid.idempotent = Accept("idempotent");
    monoid.exact = Accept("exact");
    Keyword("identity");
    std::vector<int32_t> identity;
    const bool several = Accept("(");
    do identity.push_back(ParseExpr());
    while (several && ok() && Accept(","));
    if (several) Keyword(")");
    Keyword("combine");
    if (!ok()) return;
    for (const Id e : identity) results_.push_back(p_.exprs[e].dtype);
    monoid.identity = p_.AddList(identity);
    monoid.combine = ParseExprs(identity.size());
    results_.clear();
    monoids_[name] = static_cast<Id>(p_.monoids.size());
    p_.monoids.push_back(monoid);
  }

  // --- parsing of the tree: loops and blocks
  Range ParseNotes() {
    std::vector<int32_t> pairs;
    while (ok() && Accept("@")) {
      pairs.push_back(p_.Intern(Name("a note's name")));
      Keyword("=");
      pairs.push_back(Id32("a number"));
    }
    return p_.AddList(pairs);
  }
  void ParseNode(Id parent, Id block, const Scope& scope, int depth) {
    if (depth > 400) return FailAt(Next(), "the tree is too deep");
    const bool prepare = Accept("prepare");
    if (!Is("for") && !Is("block")) return Wanted("\"for\" or \"block\"");
    const Id node = Accept("for") ? ParseLoop(parent, block, scope, depth)
                                  : (Accept("block"), ParseBlock(parent, block, scope, depth));
    if (ok()) p_.nodes[node].prepare = prepare;
  }
  void ParseChildren(Id node, Id block, const Scope& scope, int depth) {
    while (ok() && !Accept("}")) ParseNode(node, block, scope, depth + 1);
  }
  void ParsePipeline(Id node) {
    std::vector<Ring> rings;
    Keyword("(");
    const std::vector<PipelineStage> stages = Stages();
    if (Accept(";")) {
      do {
        Ring ring;
        const Token token = Next();
        ring.buffer = BufferCalled(Name("a buffer"), token);
        ring.depth = Id32("a number of copies");
        ring.transport = static_cast<Transport>(OneOf(kTransportNames, "a transport"));
        rings.push_back(ring);
      } while (ok() && Accept(","));
    }
    Keyword(")");
    if (ok()) p_.SetPipeline(node, stages, rings);
  }
  Id ParseLoop(Id parent, Id block, Scope scope, int depth) {
    const std::string name = Name("a loop's name");
    Keyword("<");
    const Extent extent = ParseExtent();
    const Id node = p_.AddLoop(name, extent);
    p_.Append(parent, node);
    if (!Is("tainted") && Next().kind == Token::Kind::kName) {
      p_.loop(node).kind = KindOfLoop();
      if (p_.loop(node).kind == LoopKind::kPipelined) ParsePipeline(node);
    }
    p_.loop(node).tainted = Accept("tainted");
    p_.loop(node).annotations = ParseNotes();
    Keyword("{");
    scope.push_back({name, Source::Loop(node), static_cast<double>(extent.UpperBound())});
    ParseChildren(node, block, scope, depth);
    return node;
  }
  Id ParseBlock(Id parent, Id, Scope scope, int depth) {
    const Token place = Next();
    BlockNode b;
    b.name = p_.AddName(Name("a block's name"));
    if (Accept("intrinsic")) b.intrinsic = p_.Intern(Name("an intrinsic's name"));
    b.annotations = ParseNotes();
    Keyword("{");
    while (ok() && Accept("let")) {
      const std::string name = Name("a name");
      Keyword("=");
      const IndexSum sum = ParseSum(scope);
      Keyword("<");
      const double reach = reach_;
      scope.push_back({name, Source::Mark(p_.AddMark(sum, ParseExtent())), reach});
    }
    std::vector<Iter> iters;
    body_.clear();
    while (ok() && (Is("spatial") || Is("reduction"))) {
      Iter iter;
      iter.kind = Accept("spatial") ? IterKind::kSpatial : (Accept("reduction"), IterKind::kReduction);
      const std::string name = Name("an iter's name");
      iter.name = p_.AddName(name);
      Keyword("<");
      iter.extent = ParseExtent();
      body_.push_back({name, Source::Iter(static_cast<int32_t>(iters.size())),
                       static_cast<double>(iter.extent.UpperBound())});
      Keyword("=");
      IndexSum sum = ParseSum(scope);
      if (Accept("where")) {
        do {
          const IndexSum guard = ParseSum(scope);
          for (IndexSplit s : guard.splits) {
            s.scale = 0;  // scale 0: requires the guard to hold and adds nothing
            sum.splits.push_back(s);
          }
        } while (ok() && Accept(","));
      }
      iter.binding = p_.AddMark(sum, iter.extent);
      iters.push_back(iter);
    }
    b.iters = {static_cast<int32_t>(p_.iters.size()), static_cast<int32_t>(iters.size())};
    p_.iters.insert(p_.iters.end(), iters.begin(), iters.end());
    if (Accept("domain")) b.domain = ParseMarks(body_);
    ParseValues();
    if (Is("[", 1)) ParseBody(b);
    values_.clear();
    if (Accept("from")) ParseOrigin(b);
    const Id node = p_.AddBlock(b);
    blocks_[node] = place;
    p_.Append(parent, node);
    const Scope inner = body_;
    ParseChildren(node, node, inner, depth);
    return node;
  }
  void ParseBody(BlockNode& b) {
    std::vector<Access> dests;
    do dests.push_back(ParseAccess());
    while (ok() && Accept(","));
    if (!ok()) return;
    b.dests = {static_cast<int32_t>(p_.accesses.size()), static_cast<int32_t>(dests.size())};
    p_.accesses.insert(p_.accesses.end(), dests.begin(), dests.end());
    if (!Is("=")) {
      b.accumulates = Accept("accumulate");
      const Token token = Next();
      const std::string name = Name("\"=\" or a monoid");
      const auto custom = monoids_.find(name);
      if (custom != monoids_.end()) {
        b.monoid = custom->second;
      } else {
        int kind = 0;
        constexpr int kCustom = static_cast<int>(Monoid::Kind::kCustom);
        while (kind < kCustom && ToString(static_cast<Monoid::Kind>(kind)) != name) ++kind;
        if (kind == kCustom) return FailAt(token, absl::StrCat("there is no monoid \"", name, "\""));
        b.monoid = p_.AddMonoid(static_cast<Monoid::Kind>(kind), p_.buffers[dests[0].buffer].dtype);
      }
    }
    Keyword("=");
    b.values = ParseExprs(dests.size());
    if (Accept("initial")) b.initial = ParseExprs(dests.size());
  }
  void ParseOrigin(BlockNode& b) {
    constexpr absl::string_view kKinds[] = {"compute", "copy", "init", "partial", "padding"};
    b.provenance.kind = static_cast<Provenance::Kind>(OneOf(kKinds, "an origin"));
    const Token token = Next();
    b.provenance.origin = b.provenance.kind == Provenance::Kind::kCopy ? BufferCalled(Name("a buffer"), token)
                                                                       : Id32("a block's number");
    if (Is("(")) b.provenance.map = ParseMarks(body_);
  }

  std::map<std::string, Id> monoids_;
  std::map<Id, Token> blocks_;  // the position of each block's name
  std::vector<std::string> constants_;
};

}  // namespace

absl::StatusOr<Program> ParseProgram(absl::string_view text) { return Parser(text).Parse(); }

}  // namespace kiln
