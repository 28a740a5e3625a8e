#include "backends/runner/protocol.h"
#include "backends/workers/frames.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kiln {
namespace {

RunRequest FullRequest() {
  RunRequest request;
  request.kernel = {.shared_object = std::string("\x7f"
                                                 "ELF\0x",
                                                 6),
                    .symbol = "f",
                    .prepare_symbol = "p"};
  request.kernel.params = {
      {.dtype = "f16", .elements = 3, .role = KernelParam::kPrepared, .data = "abcdef", .tolerance = {1, 2}}};
  request.peers = {
      request.kernel, {.symbol = "g"}, {.product = LibraryProduct{.libraries = {"l"}, .k = 7, .c = 1}}};
  request.timing.stop_rules = {{.after_runs = 1, .over_seconds = 0.5}};
  request.limits.seconds = 3;
  request.reference_kernel = ReferenceKernel{.kernel = {.symbol = "r"}, .seconds = 5};
  request.reference = "here";
  return request;
}

TEST(Protocol, WhatIsEncodedIsDecoded) {
  RunRequest decoded;
  ASSERT_TRUE(Decode(Encode(FullRequest()), &decoded));
  EXPECT_EQ(Encode(decoded), Encode(FullRequest()));
  EXPECT_EQ(decoded.kernel.prepare_symbol, "p");
  EXPECT_EQ(decoded.peers[1].prepare_symbol, std::nullopt);
  EXPECT_FALSE(decoded.peers[1].product);
  EXPECT_EQ(decoded.peers[2].product->k, 7);
  EXPECT_EQ(decoded.peers[2].product->c, 1);
  EXPECT_EQ(decoded.reference_kernel->kernel.symbol, "r");
  EXPECT_EQ(decoded.kernel.params[0].role, KernelParam::kPrepared);

  const RunResult result{.status = RunStatus::kTimedOut,
                         .detail = "x",
                         .seconds = {1, 2},
                         .quiet = true,
                         .slowdown = 3,
                         .least_slowdown = 0.5,
                         .retaken = 5,
                         .preempted = 6,
                         .peer_seconds = {{3}, {}},
                         .peer_preempted = {7, 8},
                         .max_error = 4};
  RunResult same;
  ASSERT_TRUE(Decode(Encode(result), &same));
  EXPECT_EQ(Encode(same), Encode(result));
}

TEST(Protocol, RefusesEveryPrefixAndWhatIsTooLong) {
  const std::string bytes = Encode(FullRequest());
  RunRequest request;
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(Decode(bytes.substr(0, length), &request)) << length;
  EXPECT_FALSE(Decode(bytes + "x", &request));
}

TEST(Protocol, KeepsTablesAndFieldsOfKernels) {
  RunRequest request = FullRequest(), decoded;
  request.kernel.takes_table = true;
  request.peers[0].fields = {{.tag = 7, .bytes = "blocks"}};
  ASSERT_TRUE(Decode(Encode(request), &decoded));
  EXPECT_TRUE(decoded.kernel.takes_table);
  ASSERT_EQ(decoded.peers[0].fields.size(), 1u);
  EXPECT_EQ(decoded.peers[0].fields[0].tag, 7u);
  EXPECT_EQ(decoded.peers[0].fields[0].bytes, "blocks");
}

TEST(Protocol, RefusesRequestsOfOtherVersions) {
  const std::string bytes = Encode(FullRequest());
  ASSERT_EQ(bytes.rfind("kiln-run 3\n", 0), 0u);
  std::string next = bytes;
  next[9] = '4';
  RunRequest request;
  EXPECT_FALSE(Decode(next, &request));
  EXPECT_FALSE(Decode(bytes.substr(kRunProtocol.size()), &request)) << "what builds before version 2 wrote";
}

TEST(Protocol, SurvivesAnyFlippedByte) {
  const std::string bytes = Encode(FullRequest());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0xff);
    RunRequest request;
    Decode(flipped, &request);
  }
}

TEST(Protocol, FramesTellAClosedEndFromADeadlineFromAStop) {
  int ends[2], stop[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(stop), 0);
  std::string bytes;
  EXPECT_EQ(ReadFrame(ends[0], -1, SecondsFromNow(0.01), &bytes), FrameStatus::kTimedOut);
  ASSERT_TRUE(WriteFrame(ends[1], "hello"));
  EXPECT_EQ(ReadFrame(ends[0], stop[0], kNoDeadline, &bytes), FrameStatus::kOk);
  EXPECT_EQ(bytes, "hello");
  ASSERT_EQ(write(stop[1], "x", 1), 1);
  EXPECT_EQ(ReadFrame(ends[0], stop[0], kNoDeadline, &bytes), FrameStatus::kInterrupted);
  ASSERT_EQ(write(ends[1], "this is not the header of a frame", 33), 33);
  EXPECT_EQ(ReadFrame(ends[0], -1, kNoDeadline, &bytes), FrameStatus::kClosed);
  for (int fd : {ends[0], ends[1], stop[0], stop[1]}) close(fd);
}

}  // namespace
}  // namespace kiln
