// Tests programs as bytes: they can be read back, and truncated or changed bytes are refused.
#include "lang/text/serialize.h"

#include "gtest/gtest.h"
#include "lang/program/builder.h"

namespace kiln {
namespace {

Program Sample() {
  Builder b("sample");
  const Id a = b.Input("A", DType::kF32, {4, 8}), t = b.Constant("T", DType::kI8, {3}, "abc");
  const Id c = b.Output("C", DType::kF32, {4});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  const Id inside = b.Mul(b.Load(a, {i, k}), b.Cast(DType::kF32, b.Load(t, {IndexSum::Constant(1)})));
  b.Reduce("sum", {{"i", 4}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {i}},
           b.Within({{i + IndexSum::Constant(-1), 3}}, inside, b.Float(DType::kF32, 0)));
  return b.Finish();
}

TEST(Serialize, GivesBackTheSameProgram) {
  const Program p = Sample();
  const auto q = Deserialize(Serialize(p));
  ASSERT_TRUE(q.ok()) << q.status();
  EXPECT_EQ(q->name, "sample");
  EXPECT_EQ(q->names, p.names);
  EXPECT_EQ(q->parameters, p.parameters);
  EXPECT_EQ(q->lists, p.lists);
  EXPECT_EQ(*q->constants, *p.constants);
  EXPECT_EQ(Serialize(*q).size(), Serialize(p).size());
}

TEST(Serialize, GivesBackTheEmptyProgram) { EXPECT_TRUE(Deserialize(Serialize(Program())).ok()); }

TEST(Serialize, RefusesBytesThatAreCutAnywhere) {
  const std::string bytes = Serialize(Sample());
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(Deserialize(absl::string_view(bytes).substr(0, n)).status().code(),
              absl::StatusCode::kInvalidArgument)
        << n;
  }
}

TEST(Serialize, RefusesAnyChangedByte) {
  const std::string bytes = Serialize(Sample());
  for (size_t n = 0; n < bytes.size(); ++n) {
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 0x55);
    EXPECT_EQ(Deserialize(changed).status().code(), absl::StatusCode::kInvalidArgument) << n;
  }
}

// Deserialize refuses programs with ids out of bounds. Their checksum is correct, so that the check of ids must find
// the error.
TEST(Serialize, RefusesIdsOutOfBounds) {
  const auto refused = [](void (*change)(Program&)) {
    Program p = Sample();
    change(p);
    const absl::Status status = Deserialize(Serialize(p)).status();
    return status.code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](Program& p) { p.blocks[0].monoid = 9; }));
  EXPECT_TRUE(refused([](Program& p) { p.blocks[0].values = {1 << 30, 1 << 30}; }));
  EXPECT_TRUE(
      refused([](Program& p) { p.exprs.back() = {Op::kNeg, DType::kF32, static_cast<Id>(p.exprs.size())}; }));
  EXPECT_TRUE(refused([](Program& p) { p.nodes[1].first = 99; }));
  EXPECT_TRUE(refused([](Program& p) { p.buffers[0].dtype = static_cast<DType>(77); }));
  EXPECT_TRUE(refused([](Program& p) { p.buffers[1].data = 5; }));
  EXPECT_TRUE(refused([](Program& p) { p.iters[0].binding = 1000; }));
  EXPECT_TRUE(refused([](Program& p) { p.parameters.push_back(-1); }));
}

}  // namespace
}  // namespace kiln
