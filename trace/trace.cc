#include "trace/trace.h"

#include <algorithm>
#include <cstring>

#include "lang/base/aliases.h"

namespace kiln {
namespace {

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Hasher {
 public:
  void Add(uint64_t word) {
    high_ = Mix(high_ + 0x9e3779b97f4a7c15u + word);
    low_ = Mix((low_ ^ word) * 0xd6e8feb86659fd93u + 0xa0761d6478bd642fu);
  }
  void Add(absl::string_view text) {
    Add(text.size());
    for (; !text.empty(); text.remove_prefix(std::min<size_t>(8, text.size()))) {
      uint64_t word = 0;
      for (size_t i = 0; i < std::min<size_t>(8, text.size()); ++i)
        word |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * i);
      Add(word);
    }
  }
  void operator()(int64_t v) { Add(static_cast<uint64_t>(v)); }
  void operator()(double v) {
    uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    Add(v == 0 ? 0 : bits);
  }
  void operator()(const std::string& v) { Add(absl::string_view(v)); }
  template <typename List>
  void operator()(const List& list) {
    Add(list.size());
    for (const auto& v : list) (*this)(v);
  }
  absl::uint128 value() const { return absl::MakeUint128(high_, low_); }

 private:
  uint64_t high_ = 1, low_ = 2;
};

}  // namespace

absl::uint128 Hash(const Trace& trace) {
  Hasher hash;
  hash.Add(trace.choices.size());
  for (const Schedule::Choice& choice : trace.choices) {
    hash(choice.name);
    hash.Add(static_cast<uint64_t>(choice.n));
    hash.Add(static_cast<uint64_t>(choice.picked));
  }
  for (const Step& step : trace.steps) {
    hash.Add(StoredName(NameKind::kPrimitive, step.primitive->name));
    hash.Add(step.operands.size());
    for (const Operand operand : step.operands) {
      hash.Add(static_cast<uint64_t>(operand.kind));
      hash(operand.number);
    }
    for (size_t i = 0; i < step.attributes.size(); ++i) {
      const AttributeDecl& declared = step.primitive->attributes[i];
      if (declared.is_later && step.attributes[i] == declared.fallback) continue;
      if (declared.is_later) hash.Add(i);
      std::visit(hash, step.attributes[i]);
    }
    hash(step.site);
    hash(step.decision);
    hash.Add(static_cast<uint64_t>(step.first_result));
    hash.Add(static_cast<uint64_t>(step.num_results));
  }
  return hash.value();
}

bool SameButDecision(const Step& a, const Step& b) {
  return a.primitive == b.primitive && a.operands == b.operands && a.attributes == b.attributes &&
         a.site == b.site && a.first_result == b.first_result && a.num_results == b.num_results;
}

bool SameSketch(const Trace& a, const Trace& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), SameButDecision);
}

}  // namespace kiln
