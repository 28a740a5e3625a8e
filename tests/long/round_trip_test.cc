// Tests how long a request to a runner takes without the kernel.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "tests/runner/kernels.h"

namespace kiln {
namespace {

TEST(Overhead, OfARoundTrip) {
  RunRequest small = Request(kTwice);
  RunRequest large = Request("int f(float* a, float* b) { return 0; }", 1 << 20);
  for (RunRequest* request : {&small, &large}) {
    request->timing.runs = 3;
    constexpr int kRequests = 50;
    RunOne(*request);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRequests; ++i) RunOne(*request);
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    std::cout << "a request with 2 x " << request->kernel.params[0].elements << " floats takes "
              << spent.count() / kRequests << " ms\n";
    EXPECT_LT(spent.count() / kRequests, 200);
  }
}

}  // namespace
}  // namespace kiln
