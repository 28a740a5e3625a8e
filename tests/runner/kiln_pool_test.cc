// Tests kiln_parallel_for, the thread pool of compiled code: it runs each iteration once, on several threads, also for
// several callers at once, for nested calls, and in forked processes.
#include "backends/runner/kiln_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace kiln {
namespace {

using Body = std::function<void(int64_t begin, int64_t end)>;

void For(int threads, int64_t total, int64_t chunk, const Body& body) {
  void* args[] = {const_cast<Body*>(&body)};
  kiln_parallel_for(
      threads, total, chunk,
      [](int64_t begin, int64_t end, void** given) { (*static_cast<Body*>(given[0]))(begin, end); }, args);
}

// Counts how often each iteration of a parallel loop ran. `least` is the size of the smallest range that a call of the
// body got, except the range at the end.
struct Counts {
  explicit Counts(int64_t total) : ran(static_cast<size_t>(total)) {}
  void Add(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++ran[static_cast<size_t>(i)];
    if (end < static_cast<int64_t>(ran.size()) && end - begin < least) least = end - begin;
  }
  bool EachOnce() const {
    return std::all_of(ran.begin(), ran.end(), [](const std::atomic<int>& count) { return count == 1; });
  }
  std::vector<std::atomic<int>> ran;
  std::atomic<int64_t> least{INT64_MAX};
};

TEST(KilnPool, RunsEachIterationOnceInRangesOfAtLeastAChunk) {
  for (const int threads : {-1, 0, 1, 2, 3, 8}) {
    for (const int64_t total : {0, 1, 2, 3, 7, 64, 1000}) {
      for (const int64_t chunk : {0, 1, 5, 2000}) {
        Counts counts(total);
        For(threads, total, chunk, [&](int64_t begin, int64_t end) { counts.Add(begin, end); });
        EXPECT_TRUE(counts.EachOnce()) << threads << " threads, " << total << " iterations";
        EXPECT_GE(counts.least, chunk) << threads << " threads, " << total << " iterations";
      }
    }
  }
  For(2, -5, 1, [](int64_t, int64_t) { ADD_FAILURE() << "there is nothing to run"; });
}

// Runs `threads` iterations in parallel, each of which waits until all have begun, at most five seconds. Returns the
// ids of the threads that ran them.
std::set<std::thread::id> Meet(int threads) {
  std::atomic<int> arrived{0};
  std::vector<std::thread::id> met(static_cast<size_t>(threads));
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  For(threads, threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      met[static_cast<size_t>(i)] = std::this_thread::get_id();
      ++arrived;
      while (arrived < threads && std::chrono::steady_clock::now() < late) std::this_thread::yield();
    }
  });
  return {met.begin(), met.end()};
}

TEST(KilnPool, IterationsRunAtTheSameTimeOnAsManyThreadsAsAreAsked) {
  for (const int threads : {2, 5, 2, 3}) {
    const auto met = Meet(threads);
    EXPECT_EQ(met.size(), threads);
    EXPECT_TRUE(met.contains(std::this_thread::get_id()));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the others sleep
  EXPECT_EQ(Meet(2).size(), 2);
}

TEST(KilnPool, WhatIterationsWroteIsSeenByTheCaller) {
  std::vector<int64_t> written(64);
  for (int64_t round = 0; round < 20000; ++round) {
    For(2, 64, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) written[static_cast<size_t>(i)] = round + i;
    });
    for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(written[static_cast<size_t>(i)], round + i);
  }
}

TEST(KilnPool, CallersAtTheSameTimeAreAllServed) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        Counts counts(50);
        For(3, 50, 1, [&](int64_t begin, int64_t end) { counts.Add(begin, end); });
        wrong += !counts.EachOnce();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(KilnPool, ABodyMayCallItToo) {
  std::atomic<int> ran{0};
  For(2, 8, 1, [&](int64_t begin, int64_t end) {
    For(2, (end - begin) * 10, 1,
        [&](int64_t first, int64_t last) { ran += static_cast<int>(last - first); });
  });
  EXPECT_EQ(ran, 80);
}

TEST(KilnPool, AForkedChildRunsEverythingItself) {
  EXPECT_EQ(Meet(2).size(), 2);
  const pid_t child = fork();
  if (child == 0) {
    Counts counts(100);
    For(2, 100, 1, [&](int64_t begin, int64_t end) { counts.Add(begin, end); });
    _exit(counts.EachOnce() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kiln
