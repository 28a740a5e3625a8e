// stream-results: large results may be stored past the caches.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

// y = x + x; `read`: and z = y + y.
Program Sums(int64_t rows, bool read) {
  Builder b("sums");
  const Id x = b.Input("X", DType::kF32, {rows, 64});
  const Id y = read ? b.Temporary("Y", DType::kF32, {rows, 64}) : b.Output("Y", DType::kF32, {rows, 64});
  const Sum i = b.Iter(0), j = b.Iter(1);
  b.Compute("y", {{"i", rows}, {"j", 64}}, {y, {i, j}}, b.Add(b.Load(x, {i, j}), b.Load(x, {i, j})));
  if (!read) return b.Finish();
  const Id z = b.Output("Z", DType::kF32, {rows, 64});
  b.Compute("z", {{"i", rows}, {"j", 64}}, {z, {i, j}}, b.Add(b.Load(y, {i, j}), b.Load(y, {i, j})));
  return b.Finish();
}

constexpr char kSpace[] = "each-block(stream-results)";

Target WithCache(int64_t rows) {
  Target target;
  target.l2_bytes = rows * 64 * 4 / 4;
  return target;
}

TEST(StreamResults, AsksForLargeResults) {
  ExpectModule("stream_results", kSpace, Sums(8, false), WithCache(8));
}

TEST(StreamResults, LeavesWhatCachesHold) {
  EXPECT_EQ(SketchesText(kSpace, Sums(8, false), WithCache(9)).find("annotate-block"), std::string::npos);
}

TEST(StreamResults, LeavesWhatIsReadAgain) {
  const std::string text = SketchesText(kSpace, Sums(8, true), WithCache(8));
  EXPECT_NE(text.find("get-block \"z\""), std::string::npos);
  EXPECT_EQ(text.find("get-block \"y\""), std::string::npos);
}

}  // namespace
}  // namespace kiln
