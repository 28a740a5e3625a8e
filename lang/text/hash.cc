#include "lang/text/hash.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

using Words = std::vector<uint64_t>;

Hash128 HashWords(const uint64_t* begin, const uint64_t* end) {
  Mixer mixer;
  for (const uint64_t* w = begin; w != end; ++w) mixer.Add(*w);
  mixer.Add(static_cast<uint64_t>(end - begin));
  return mixer.Finish();
}

// Encodes a program as words that do not depend on names and ids. Equal programs have equal words. Expressions and
// guards enter as 128-bit hashes, marks inside of indices as 64-bit hashes; otherwise equal words mean equal programs.
class Encoder {
 public:
  explicit Encoder(const Program& program) : p_(program), buffer_number_(program.buffers.size(), kNone) {
    loop_number_.resize(p_.nodes.size(), 0);
    expr_hash_.resize(p_.exprs.size());
    words_.reserve(512);
  }

  const Words& Encode() {
    Add(p_.parameters.size());
    for (const Id b : p_.parameters) Add(BufferNumber(b));
    Children(kRoot, kNone, 0);
    return words_;
  }

 private:
  template <typename T>
  void Add(T value) {
    words_.push_back(static_cast<uint64_t>(value));
  }
  void Add(const Hash128& hash) {
    Add(hash.high);
    Add(hash.low);
  }
  void AddText(absl::string_view text) {
    Add(text.size());
    for (size_t at = 0; at < text.size(); at += 8) {
      uint64_t word = 0;
      for (size_t i = at; i < std::min(at + 8, text.size()); ++i) {
        word |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i - at));
      }
      Add(word);
    }
  }
  void AddExtent(const Extent& e) {
    Add(e.UpperBound());
    if (e.constant()) return;
    Add(e.LowerBound());
    Add(e.divisor());
    Add(BufferNumber(e.parameter()));
  }

  // Returns the number of a buffer: buffers are numbered in the order of their first use. The first use also adds words
  // with the buffer's properties.
  int BufferNumber(Id id) {
    if (buffer_number_[id] != kNone) return buffer_number_[id];
    const int number = buffer_number_[id] = next_buffer_++;
    const Buffer& b = p_.buffers[id];
    Add(static_cast<int>(b.dtype) | static_cast<int>(b.role) << 8 | static_cast<int>(b.scope.storage) << 16 |
        static_cast<int>(b.scope.owner) << 24);
    Add(b.shape.count);
    for (const Extent& e : p_.Dims(b.shape)) AddExtent(e);
    Add(b.layout.axes.count);
    if (b.layout.axes.count != 0) {
      for (const Id mark : p_.List(b.layout.axes)) {
        AddSum(p_.SumOf(mark), nullptr);
        AddExtent(p_.marks[mark].extent);
      }
      Add(b.layout.kinds.count);
      for (const int32_t kind : p_.List(b.layout.kinds)) Add(kind);
      Add(b.layout.swizzle.from | b.layout.swizzle.to << 8 | b.layout.swizzle.bits << 16);
      if (b.layout.padding != kNone) Add(ExprHash(b.layout.padding));
    }
    if (b.data != kNone) AddText((*p_.constants)[b.data]);
    return number;
  }

  // Adds the words of an index sum, with its terms in an order that depends on no id. `resolver` may be null if the sum
  // has only iters.
  void AddSum(const IndexSum& sum, Resolver* resolver) {
    struct Term {
      uint64_t scale, source, lower, extent;
      auto operator<=>(const Term&) const = default;
    };
    absl::InlinedVector<Term, 6> terms;
    for (const IndexSplit& s : sum.splits) {
      uint64_t source = static_cast<uint64_t>(s.source.id);
      if (s.source.kind == Source::Kind::kLoop) source = 1000 + loop_number_[s.source.id];
      if (s.source.kind == Source::Kind::kMark) source = MarkHash(s.source.id, *resolver);
      terms.push_back({static_cast<uint64_t>(s.scale), source, static_cast<uint64_t>(s.lower),
                       static_cast<uint64_t>(s.extent)});
    }
    std::sort(terms.begin(), terms.end());
    Add(sum.offset);
    Add(terms.size());
    for (const Term& t : terms) {
      Add(t.scale);
      Add(t.source);
      Add(t.lower);
      Add(t.extent);
    }
  }

  // Removes the words from position `mark` on, and returns their hash.
  Hash128 Take(size_t mark) {
    const Hash128 hash = HashWords(words_.data() + mark, words_.data() + words_.size());
    words_.resize(mark);
    return hash;
  }

  uint64_t MarkHash(Id mark, Resolver& resolver) {
    const size_t begin = words_.size();
    AddSum(resolver.Resolve(mark), &resolver);
    AddExtent(p_.marks[mark].extent);
    return Take(begin).low;
  }

  Hash128 ExprHash(Id id) {
    if (!(expr_hash_[id] == Hash128{})) return expr_hash_[id];
    const Expr& e = p_.exprs[id];
    // Numbers the buffer and hashes the operands first. That may add words, which must not be among those of this
    // expression.
    uint64_t buffer = 0;
    if (BufferRead(e) != kNone) buffer = static_cast<uint64_t>(BufferNumber(BufferRead(e)));
    Hash128 operands[3];
    const int arity = Arity(e.op);
    for (int i = 0; i < arity; ++i) operands[i] = ExprHash(e.operand(i));
    const size_t begin = words_.size();
    Add(static_cast<int>(e.op) << 8 | static_cast<int>(e.dtype));
    if (e.op == Op::kConstant || e.op == Op::kArg) Add(e.Number());
    if (e.op == Op::kIndex) AddSum(p_.SumOf(e.AsIndex()), nullptr);
    if (e.op == Op::kGather) Add(buffer);
    if (e.op == Op::kLoad) {
      Add(buffer);
      for (const Id mark : p_.List(e.AsLoad().index)) AddSum(p_.SumOf(mark), nullptr);
    }
    if (e.op == Op::kWithin) {
      for (const Id mark : p_.List(e.AsWithin().marks)) {
        AddSum(p_.SumOf(mark), nullptr);
        AddExtent(p_.marks[mark].extent);
      }
    }
    for (int i = 0; i < arity; ++i) Add(operands[i]);
    return expr_hash_[id] = Take(begin);
  }

  void AddExprs(Range list) {
    Add(list.count);
    for (const Id e : p_.List(list)) {
      const Hash128 hash = ExprHash(e);
      Add(hash);
    }
  }

  void AddAnnotations(Range annotations) {
    Add(annotations.count);
    const auto pairs = p_.List(annotations);
    for (size_t i = 0; i < pairs.size(); i += 2) {
      AddText(p_.Text(pairs[i]));
      Add(pairs[i + 1]);
    }
  }

  void AddPipeline(const LoopNode& loop) {
    Add(p_.Stages(loop).size());
    for (const PipelineStage& s : p_.Stages(loop)) Add(s.stage), Add(s.order), Add(s.role);
    Add(p_.Rings(loop).size());
    for (const Ring& r : p_.Rings(loop)) {
      const int buffer = BufferNumber(r.buffer);
      Add(buffer), Add(r.depth), Add(r.transport);
    }
  }

  void Children(Id parent, Id scope, int depth) {
    for (Id n = p_.nodes[parent].first; n != kNone; n = p_.nodes[n].next) {
      const bool is_block = p_.IsBlock(n);
      const bool intrinsic = is_block && p_.block(n).intrinsic != kNone;
      Add((is_block ? 2 : 1) | (p_.nodes[n].prepare ? 4 : 0) | (intrinsic ? 8 : 0));
      if (is_block) {
        Block(n, scope);
        Children(n, n, 0);
      } else {
        const LoopNode& loop = p_.loop(n);
        loop_number_[n] = depth;
        AddExtent(loop.extent);
        Add(static_cast<int>(loop.kind));
        AddAnnotations(loop.annotations);
        if (loop.kind == LoopKind::kPipelined) AddPipeline(loop);
        Children(n, scope, depth + 1);
      }
    }
    Add(0);
  }

  void Block(Id node, Id scope) {
    const BlockNode& b = p_.block(node);
    AddAnnotations(b.annotations);
    if (b.intrinsic != kNone) AddText(p_.Text(b.intrinsic));
    Resolver resolver(p_, scope);
    Add(b.iters.count);
    for (const Iter& iter : p_.Iters(b.iters)) {
      Add(static_cast<int>(iter.kind));
      AddExtent(iter.extent);
      AddSum(resolver.ResolveChecked(iter.binding), &resolver);
    }
    absl::InlinedVector<Hash128, 4> guards;
    for (size_t i = 0; i < resolver.guards().size(); ++i) {
      const Guard guard = resolver.guards()[i];
      const size_t begin = words_.size();
      AddSum(guard.value, &resolver);
      Add(guard.extent);
      guards.push_back(Take(begin));
    }
    std::sort(guards.begin(), guards.end());
    guards.erase(std::unique(guards.begin(), guards.end()), guards.end());
    Add(guards.size());
    for (const Hash128& guard : guards) Add(guard);
    Add(b.domain.count);
    for (const Id mark : p_.List(b.domain)) {
      AddSum(p_.SumOf(mark), nullptr);
      AddExtent(p_.marks[mark].extent);
    }
    Add(b.dests.count);
    for (const Access& dest : p_.Accesses(b.dests)) {
      const int buffer = BufferNumber(dest.buffer);
      Add(buffer);
      for (const Id mark : p_.List(dest.index)) AddSum(p_.SumOf(mark), nullptr);
    }
    AddExprs(b.values);
    Add(b.monoid != kNone);
    if (b.monoid == kNone) return;
    AddExprs(b.initial);
    const Monoid& monoid = p_.monoids[b.monoid];
    Add(int{b.accumulates} | int{monoid.exact} << 1 | int{monoid.idempotent} << 2);
    AddExprs(monoid.identity);
    AddExprs(monoid.combine);
  }

  const Program& p_;
  std::vector<int> buffer_number_;
  std::vector<int> loop_number_;  // by node: the loop's position on its path
  std::vector<Hash128> expr_hash_;
  int next_buffer_ = 0;
  Words words_;
};

}  // namespace

std::string ToString(Hash128 hash) { return absl::StrFormat("%016x%016x", hash.high, hash.low); }

Hash128 HashOf(const Program& program) {
  Encoder encoder(program);
  const Words& words = encoder.Encode();
  return HashWords(words.data(), words.data() + words.size());
}

bool Equal(const Program& a, const Program& b) {
  Encoder left(a), right(b);
  return left.Encode() == right.Encode();
}

}  // namespace kiln
