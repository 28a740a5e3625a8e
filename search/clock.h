// An interface for clocks, so that tests can set the time (design D15). The search reads from a clock how much of a
// time budget is spent, and the dates of records.
//
// The time only decides whether more work may begin (a batch of candidates, another race of the fastest programs, a run
// of the whole model, further changes of default schedules), and appears in reports.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace kiln {

class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the wall-clock time in milliseconds since 1970, UTC.
  virtual int64_t WallMillis() const = 0;
  // Returns the seconds since some fixed instant. Never decreases.
  virtual double Seconds() const = 0;
};

class SystemClock final : public Clock {
 public:
  int64_t WallMillis() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  double Seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

// A clock whose Seconds is the CPU time of this process, all threads together. WallMillis is the time of the system.
class ProcessClock final : public Clock {
 public:
  int64_t WallMillis() const override { return SystemClock().WallMillis(); }
  double Seconds() const override {
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
};

// A clock for tests that stands still until Advance. Each call of Seconds first adds `tick` seconds. Not thread safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(double tick = 0) : tick_(tick) {}
  void Advance(double seconds) { now_ += seconds; }
  int64_t WallMillis() const override { return static_cast<int64_t>(now_ * 1000); }
  double Seconds() const override { return now_ += tick_; }

 private:
  double tick_;
  mutable double now_ = 0;
};

}  // namespace kiln
