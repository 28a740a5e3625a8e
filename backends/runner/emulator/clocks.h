// Finds races between the threads of a kernel with vector clocks (FastTrack, Flanagan and Freund 2009): two accesses to
// a byte race if one writes and no synchronization orders them.
//
//   Clocks clocks(64);
//   Shadow shadow;
//   if (auto race = shadow.Access(clocks, block, {.thread = 3, .write = true}, address, 16)) ... *race is the other one
//   clocks.Join({0, 1, ..., 63});      // a barrier of these threads
//
// An asynchronous copy that a thread has not waited for counts as an access of a second agent beside the thread.
// Accesses of different blocks are never ordered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace kiln {

class Clocks {
 public:
  explicit Clocks(int64_t threads);
  // A barrier: orders what each of these threads did before what any of them does from here on.
  void Join(absl::Span<const int64_t> threads);
  // Orders the thread's asynchronous copies up to this group before what the thread does from here on, as it waited for
  // them.
  void Wait(int64_t thread, uint32_t group);

  uint32_t Now(int64_t thread) const { return now_[thread]; }
  // True if an event of `who` at this time is ordered before what `thread` does now; always for `who` == `thread`.
  // `who` is a thread, or threads() + t for the copies of thread t, whose time is the number of the copy's group.
  bool IsBefore(int64_t who, uint32_t time, int64_t thread) const {
    return who == thread || (*seen_[thread])[who] >= time;
  }
  int64_t threads() const { return static_cast<int64_t>(now_.size()); }

 private:
  using Seen = std::shared_ptr<const std::vector<uint32_t>>;
  std::vector<uint32_t> now_;
  std::vector<Seen> seen_;  // by thread: the last time of each thread and agent that is before now
};

class Shadow {
 public:
  struct Use {
    int64_t thread = 0;
    bool write = false;
    uint32_t group = 0;  // of a copy; 0: the thread's own access
  };
  struct Past {
    int64_t block = 0;
    int64_t thread = 0;
    bool write = false, copy = false;
  };

  // Adds an access to bytes first .. first + count - 1. Returns a past access that races with the new one; nullopt if
  // none does.
  std::optional<Past> Access(const Clocks& clocks, int64_t block, Use use, uint64_t first, int64_t count);
  // True if past accesses wrote each of the bytes first .. first + count - 1.
  bool IsWritten(uint64_t first, int64_t count) const;
  void Clear() { words_.clear(); }

 private:
  struct Entry {
    int64_t block;
    uint32_t who, time;
    uint8_t bytes;  // of the word, a bit each
    bool write;
  };
  using Entries = absl::InlinedVector<Entry, 2>;
  absl::flat_hash_map<uint64_t, Entries> words_;  // of 4 bytes
};

}  // namespace kiln
