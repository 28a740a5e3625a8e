#include "lang/text/serialize.h"

#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr absl::string_view kMagic = "KILNPROG";
constexpr uint32_t kVersion = 2;

template <typename P, typename F>
void ForEachVector(P& p, F&& f) {
  f(p.nodes), f(p.loops), f(p.blocks), f(p.buffers), f(p.parameters), f(p.iters), f(p.marks), f(p.splits),
      f(p.exprs);
  f(p.accesses), f(p.monoids), f(p.dims), f(p.lists), f(p.pipelines), f(p.stages), f(p.rings);
}

uint64_t Checksum(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

class Writer {
 public:
  template <typename T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void PutText(absl::string_view text) {
    Put<uint64_t>(text.size());
    bytes_.append(text.data(), text.size());
  }
  template <typename T>
  void PutVector(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    Put<uint64_t>(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  std::string Take() { return std::move(bytes_); }
  absl::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : left_(bytes) {}
  bool ok() const { return ok_; }
  bool done() const { return ok_ && left_.empty(); }

  template <typename T>
  T Get() {
    T value{};
    const absl::string_view taken = Take(sizeof value);
    if (ok_) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::string GetText() { return std::string(Take(Get<uint64_t>())); }
  template <typename T>
  void GetVector(std::vector<T>* values) {
    const uint64_t count = Get<uint64_t>();
    if (count > left_.size() / sizeof(T)) ok_ = false;
    if (!ok_) return;
    const absl::string_view taken = Take(count * sizeof(T));
    values->resize(count);
    if (count > 0) std::memcpy(static_cast<void*>(values->data()), taken.data(), taken.size());
  }

 private:
  absl::string_view Take(uint64_t count) {
    if (count > left_.size()) ok_ = false;
    if (!ok_) return {};
    const absl::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }

  absl::string_view left_;
  bool ok_ = true;
};

void PutStamp(Writer& writer) {
  writer.PutText(kMagic);
  writer.Put(kVersion);
  const Program shape;
  ForEachVector(shape, [&](const auto& v) { writer.Put<uint32_t>(sizeof(v[0])); });
}

// Checks that every id, range and enumerator of a deserialized program is valid. Verify then checks the meaning.
class IdCheck {
 public:
  explicit IdCheck(const Program& p) : p_(p) {}

  bool Hold() {
    ok_ = !p_.nodes.empty() && p_.nodes[0].kind == Node::Kind::kRoot &&
          (p_.names.empty() || p_.names.back() == '\0');
    for (const Node& n : p_.nodes) CheckNode(n);
    for (const LoopNode& l : p_.loops) {
      Name(l.name), Size(l.extent), Enum(l.kind, LoopKind::kVirtualThread), Index(l.definition, p_.marks),
          List(l.annotations), Index(l.pipeline, p_.pipelines);
    }
    for (const PipelineNode& l : p_.pipelines) In(l.stages, p_.stages), In(l.rings, p_.rings);
    for (const PipelineStage& s : p_.stages) Enum(s.role, PipelineRole::kProducer);
    for (const Ring& r : p_.rings) Needed(r.buffer, p_.buffers), Enum(r.transport, Transport::kBulk);
    for (const BlockNode& b : p_.blocks) CheckBlock(b);
    for (const Buffer& b : p_.buffers) CheckBuffer(b);
    for (const Id id : p_.parameters) Needed(id, p_.buffers);
    for (const Iter& i : p_.iters) {
      Name(i.name), Size(i.extent), Enum(i.kind, IterKind::kReduction), Index(i.binding, p_.marks);
    }
    for (const IndexMark& m : p_.marks) Size(m.extent), In(m.splits, p_.splits);
    for (const IndexSplit& s : p_.splits) {
      Enum(s.source.kind, Source::Kind::kMark), Require(s.lower >= 1 && s.extent >= 0 && s.source.id >= 0);
      if (s.source.kind == Source::Kind::kLoop)
        Needed(s.source.id, p_.nodes), Require(!ok_ || IsLoop(s.source.id));
      if (s.source.kind == Source::Kind::kMark) Needed(s.source.id, p_.marks);
    }
    for (size_t i = 0; i < p_.exprs.size(); ++i) CheckExpr(static_cast<Id>(i));
    for (const Access& a : p_.accesses) Needed(a.buffer, p_.buffers), Ids(a.index, p_.marks);
    for (const Monoid& m : p_.monoids)
      Enum(m.kind, Monoid::Kind::kCustom), Ids(m.identity, p_.exprs), Ids(m.combine, p_.exprs);
    for (const Extent& e : p_.dims) Size(e);
    return ok_;
  }

 private:
  void Require(bool holds) { ok_ = ok_ && holds; }
  template <typename E>
  void Enum(E value, E last) {
    Require(static_cast<unsigned>(value) <= static_cast<unsigned>(last));
  }
  template <typename T>
  void Index(Id id, const std::vector<T>& pool) {
    Require(id >= kNone && id < static_cast<int64_t>(pool.size()));
  }
  template <typename T>
  void Needed(Id id, const std::vector<T>& pool) {
    Require(id != kNone), Index(id, pool);
  }
  template <typename T>
  void In(Range r, const std::vector<T>& pool) {
    Require(r.begin >= 0 && r.count >= 0 && int64_t{r.begin} + r.count <= static_cast<int64_t>(pool.size()));
  }
  void List(Range r) { In(r, p_.lists); }
  template <typename T>
  void Ids(Range r, const std::vector<T>& pool) {
    List(r);
    for (int32_t i = 0; ok_ && i < r.count; ++i) Needed(p_.lists[r.begin + i], pool);
  }
  void Name(Id name) { Require(name >= kNone && name < static_cast<int64_t>(p_.names.size())); }
  void Size(const Extent& e) {
    Require(e.parameter() >= kNone && e.divisor() >= 1), Index(e.parameter(), p_.buffers);
  }
  bool IsLoop(Id node) const {
    return p_.nodes[node].kind == Node::Kind::kLoop || p_.nodes[node].kind == Node::Kind::kDead;
  }

  void CheckNode(const Node& n) {
    Enum(n.kind, Node::Kind::kDead);
    for (const Id id : {n.parent, n.prev, n.next, n.first, n.last}) Index(id, p_.nodes);
    if (n.kind == Node::Kind::kLoop) Needed(n.index, p_.loops);
    if (n.kind == Node::Kind::kBlock) Needed(n.index, p_.blocks);
  }

  void CheckBlock(const BlockNode& b) {
    Name(b.name), Name(b.intrinsic), In(b.iters, p_.iters), Ids(b.domain, p_.marks),
        Index(b.monoid, p_.monoids), In(b.dests, p_.accesses);
    Ids(b.values, p_.exprs), Ids(b.initial, p_.exprs), List(b.annotations);
    Enum(b.provenance.kind, Provenance::Kind::kPadding), Require(b.provenance.origin >= kNone),
        Ids(b.provenance.map, p_.marks);
    Require(b.values.count == b.dests.count && (b.initial.count == 0 || b.initial.count == b.dests.count));
  }

  void CheckBuffer(const Buffer& b) {
    Name(b.name), Enum(b.dtype, DType::kI16), Enum(b.role, Role::kStatus), In(b.shape, p_.dims);
    Enum(b.scope.storage, Storage::kWarpgroup), Enum(b.scope.owner, Owner::kGrid);
    Ids(b.layout.axes, p_.marks), List(b.layout.kinds), Index(b.layout.padding, p_.exprs);
    Require(b.data >= kNone &&
            (b.data == kNone || (p_.constants && b.data < static_cast<int64_t>(p_.constants->size()))));
  }

  // Checks an expression. Its operands must come before it, so expressions cannot contain themselves.
  void CheckExpr(Id id) {
    const Expr& e = p_.exprs[id];
    Enum(e.op, Op::kCttz), Enum(e.dtype, DType::kI16);
    if (!ok_) return;
    for (const Id operand : e.Operands()) Require(operand >= 0 && operand < id);
    if (e.op == Op::kIndex) Needed(e.AsIndex(), p_.marks);
    if (e.op == Op::kLoad) Needed(e.AsLoad().buffer, p_.buffers), Ids(e.AsLoad().index, p_.marks);
    if (e.op == Op::kGather) Needed(e.AsGather().buffer, p_.buffers);
    if (e.op == Op::kWithin) Ids(e.AsWithin().marks, p_.marks);
  }

  const Program& p_;
  bool ok_ = true;
};

}  // namespace

std::string Serialize(const Program& program) {
  Writer writer;
  PutStamp(writer);
  writer.PutText(program.name);
  ForEachVector(program, [&](const auto& vector) { writer.PutVector(vector); });
  writer.PutText(program.names);
  writer.Put<uint64_t>(program.constants ? program.constants->size() : 0);
  if (program.constants) {
    for (const std::string& bytes : *program.constants) writer.PutText(bytes);
  }
  writer.Put(Checksum(writer.bytes()));
  return writer.Take();
}

absl::StatusOr<Program> Deserialize(absl::string_view bytes) {
  const auto bad = [](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("not a program: ", why));
  };
  Writer stamp;
  PutStamp(stamp);
  if (bytes.substr(0, stamp.bytes().size()) != stamp.bytes()) return bad("another version wrote these bytes");
  if (bytes.size() < stamp.bytes().size() + sizeof(uint64_t)) return bad("it is cut");
  uint64_t checksum;
  std::memcpy(&checksum, bytes.data() + bytes.size() - sizeof checksum, sizeof checksum);
  bytes.remove_suffix(sizeof checksum);
  if (Checksum(bytes) != checksum) return bad("its checksum is wrong");
  Reader reader(bytes.substr(stamp.bytes().size()));
  Program program;
  program.name = reader.GetText();
  ForEachVector(program, [&](auto& vector) { reader.GetVector(&vector); });
  program.names = reader.GetText();
  const uint64_t constants = reader.Get<uint64_t>();
  if (!reader.ok() || constants > bytes.size() / sizeof(uint64_t)) return bad("it is cut");
  std::vector<std::string> data;
  for (uint64_t i = 0; i < constants && reader.ok(); ++i) data.push_back(reader.GetText());
  if (!reader.done()) return bad("its length is wrong");
  if (constants > 0) program.constants = std::make_shared<const std::vector<std::string>>(std::move(data));
  if (!IdCheck(program).Hold()) return bad("an id or a range is out of bounds");
  program.expr_index.Update(program.exprs);
  const absl::Status status = Verify(program);
  if (!status.ok()) return bad(status.message());
  return program;
}

}  // namespace kiln
