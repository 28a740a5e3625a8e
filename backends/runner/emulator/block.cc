#include "backends/runner/emulator/block.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kArenaAlignment = 1024;
constexpr int64_t kLookedAt = int64_t{1}
                              << 22;  // accesses of a block, after which half of the memory is looked at
constexpr int64_t kGrain = 16;
constexpr char kNan = '\xff';  // a float of such bytes is NaN

}  // namespace

EmulatedBlock::EmulatedBlock(Emulation& emulation, EmulatedLaunch& launch, Fibers& fibers, int64_t number,
                             bool checked)
    : emulation_(emulation),
      launch_(launch),
      fibers_(fibers),
      number_(number),
      checked_(checked),
      mode_(checked ? emulation.options_.mode : EmulationMode::kEager),
      arena_(launch.shared_bytes + 2 * kArenaAlignment, kNan),
      random_(emulation.options_.seed * 1000003 + number),
      clocks_(launch.threads),
      threads_(launch.threads) {
  const auto begin = reinterpret_cast<uintptr_t>(arena_.data());
  shared_ = arena_.data() + (kArenaAlignment - begin % kArenaAlignment) % kArenaAlignment;
}

bool EmulatedBlock::Run() {
  ++(checked_ ? emulation_.counts_.blocks : emulation_.counts_.unchecked);
  fibers_.Start(launch_.threads, [this](int64_t) {
    launch_.kernel(launch_.table);
    progress_ = true;
  });
  std::vector<int64_t> order(launch_.threads);
  std::iota(order.begin(), order.end(), 0);
  const bool random = mode_ == EmulationMode::kRandom;
  for (bool running = true; running;) {
    if (random) std::shuffle(order.begin(), order.end(), random_);
    running = progress_ = false;
    for (const int64_t thread : order) {
      if (fibers_.has_ended(thread)) continue;
      running = true;
      fibers_.Run(thread);
      if (!emulation_.fault_.empty()) return false;
      if (random) LandSome();
    }
    if (running && !progress_) emulation_.options_.checks ? Deadlock() : GoOn();
    if (!emulation_.fault_.empty()) return false;
  }
  for (Thread& thread : threads_) Land(thread, UINT32_MAX);
  return true;
}

// --- Memory accesses. Check first looks at the bounds and the alignment of each (with EmulationOptions::checks). Then,
// in mode kRandom, it looks for races and for reads of shared memory that nothing wrote.

std::string EmulatedBlock::Place(const char* address) const {
  const auto at = [&](const char* begin) { return absl::StrCat(address - begin, " of "); };
  if (address >= shared_ && address < shared_ + std::max<int64_t>(launch_.shared_bytes, 1) + kArenaAlignment)
    return absl::StrCat(at(shared_), "shared memory, which has ", launch_.shared_bytes);
  // Finds the argument with the highest begin at or before the address.
  const EmulatedLaunch::Argument* nearest = nullptr;
  for (const auto& argument : launch_.arguments)
    if (argument.begin <= address && (nearest == nullptr || argument.begin > nearest->begin))
      nearest = &argument;
  if (nearest == nullptr) return "before all arguments";
  return absl::StrCat(at(nearest->begin), "argument ", nearest - launch_.arguments.data(), ", which has ",
                      nearest->bytes);
}

void EmulatedBlock::CheckBounds(const char* address, int64_t bytes, int64_t alignment, const char* verb) {
  const auto is_in = [&](const EmulatedLaunch::Argument& a) {
    return address >= a.begin && address + bytes <= a.begin + a.bytes;
  };
  if (!is_in({shared_, launch_.shared_bytes}) && !is_in(last_argument_)) {
    const auto found = std::find_if(launch_.arguments.begin(), launch_.arguments.end(), is_in);
    if (found == launch_.arguments.end())
      Fault(absl::StrCat(verb, bytes, " bytes out of bounds, at byte ", Place(address)));
    last_argument_ = *found;
  }
  if (reinterpret_cast<uintptr_t>(address) % static_cast<uint64_t>(alignment) != 0)
    Fault(absl::StrCat(verb, bytes, " bytes that are not aligned to ", alignment, ", at byte ",
                       Place(address)));
}

void EmulatedBlock::Check(const char* address, int64_t bytes, int64_t alignment, bool write, uint32_t group) {
  ++emulation_.counts_.accesses;
  const char* const verb = write ? "writes " : "reads ";
  if (emulation_.options_.checks) CheckBounds(address, bytes, alignment, verb);
  if (mode_ != EmulationMode::kRandom) return;
  const auto at = reinterpret_cast<uint64_t>(address);
  if (!IsLookedAt(at)) return;
  const bool in_shared = address >= shared_ && address < arena_.data() + arena_.size();
  if (in_shared && !write && !shadow_.IsWritten(at, bytes))
    Fault(absl::StrCat("reads what nothing wrote, at byte ", Place(address)));
  Shadow& shadow = in_shared ? shadow_ : launch_.global;
  const auto race = shadow.Access(clocks_, number_, {thread(), write, group}, at, bytes);
  if (!race) return;
  Fault(absl::StrCat("a race: ", verb, "byte ", Place(address), ", which ", race->copy ? "a copy of " : "",
                     "thread ", race->thread,
                     race->block == number_ ? "" : absl::StrCat(" of block ", race->block),
                     race->write ? " writes" : " reads"));
}

bool EmulatedBlock::IsLookedAt(uint64_t address) {
  if (++accesses_ % kLookedAt == 0) unseen_ = unseen_ << 1 | 1;
  return unseen_ == 0 ||
         ((address / kGrain + emulation_.options_.seed) * 0x9e3779b97f4a7c15 >> 32 & unseen_) == 0;
}

// --- Barriers and shuffles: a thread that arrives waits until all threads of the barrier or shuffle are there. Without
// EmulationOptions::checks, it waits at most until no thread can go on.

template <typename Complete>
void EmulatedBlock::Meet(Meeting& meeting, const char* what, int64_t site, int64_t wanted,
                         const Complete& complete) {
  if (meeting.here.empty()) {
    meeting.site = site;
    meeting.wanted = wanted;
  } else if (meeting.site != site || meeting.wanted != wanted) {
    Object(absl::StrCat("meets thread ", meeting.here[0], " at another ", what));
  }
  meeting.here.push_back(thread());
  progress_ = true;
  if (std::ssize(meeting.here) == wanted) {
    complete();
    meeting.here.clear();
    ++meeting.generation;
    return;
  }
  const uint64_t before = meeting.generation;
  Thread& me = threads_[thread()];
  me.waits_at = what;
  me.waits_with = wanted;
  while (meeting.generation == before) fibers_.Yield();
  me.waits_at = nullptr;
  progress_ = true;
}

void EmulatedBlock::Barrier(int64_t site, int32_t number, int32_t threads) {
  ++emulation_.counts_.barriers;
  if (number < 0 || number > 15) Object(absl::StrCat("uses barrier ", number, "; there are 0 to 15"));
  if (threads % kWarp != 0 || threads > launch_.threads)
    Object(absl::StrCat("waits at a barrier for ", threads, " of ", launch_.threads, " threads"));
  Meeting& meeting = barriers_[number];
  Meet(meeting, "barrier", site, threads == 0 ? launch_.threads : threads, [&] { Order(meeting.here); });
}

void EmulatedBlock::WarpBarrier(int64_t site, uint32_t mask) {
  const int64_t warp = thread() / kWarp;
  if ((mask >> (thread() % kWarp) & 1) == 0) Object("waits at a barrier of its warp that leaves it out");
  Meeting& meeting = warps_[warp];
  Meet(meeting, "barrier of a warp", site, __builtin_popcount(mask), [&] { Order(meeting.here); });
}

int32_t EmulatedBlock::Shuffle(int64_t site, uint32_t mask, int32_t value, int32_t offset, int32_t clamp,
                               int32_t kind) {
  const int64_t warp = thread() / kWarp, lane = thread() % kWarp;
  if ((mask >> lane & 1) == 0) Object("takes part in a shuffle that leaves it out");
  Meeting& meeting = warps_[warp];
  // Stores the lane's value in one of two maps, which take turns from shuffle to shuffle: threads may still read the
  // values of the previous shuffle. They have done so before this one completes, since all of them come to it again.
  std::map<int64_t, int32_t>& values = meeting.generation % 2 == 0 ? meeting.even : meeting.odd;
  values[lane] = value;
  Meet(meeting, "shuffle", site, __builtin_popcount(mask), [] {});
  // Computes the lane that the value comes from, as PTX defines `shfl`. The upper bits of `clamp` divide the warp into
  // segments; a lane whose source is outside of its segment gets its own value.
  const int64_t segment = clamp >> 8 & 31, most = clamp & 31;
  const int64_t first = lane & segment, last = (lane & segment) | (most & ~segment);
  int64_t from = lane;
  bool valid = true;
  if (kind == 0) valid = (from = lane ^ offset) <= last;
  if (kind == 1) valid = (from = lane - offset) >= (first | (most & ~segment));
  if (kind == 2) valid = (from = lane + offset) <= last;
  if (kind == 3) valid = (from = first | (offset & ~segment)) <= last;
  if (!valid) from = lane;
  const auto found = values.find(from);
  if (found != values.end()) return found->second;
  Object(absl::StrCat("shuffles from lane ", from, ", which takes no part"));
  return value;
}

// --- Asynchronous copies from global to shared memory. A copy reads its bytes when a thread issues it, and writes them
// when it lands: at once in mode kEager, when the thread waits for its group in kLate, and in kRandom at a random time
// until then.

void EmulatedBlock::Copy(char* to, const char* from, int32_t bytes, int32_t read) {
  Thread& me = threads_[thread()];
  Access(from, read, bytes, false, me.group);
  Access(to, bytes, bytes, true, me.group);
  std::vector<char> data(bytes);
  std::memcpy(data.data(), from, read);
  me.copies.push_back({to, std::move(data), me.group});
  if (mode_ == EmulationMode::kEager) Land(me, me.group);
}

void EmulatedBlock::Commit() { ++threads_[thread()].group; }

void EmulatedBlock::Wait(int32_t groups) {
  Thread& me = threads_[thread()];
  const uint32_t done = me.group - 1 > static_cast<uint32_t>(groups) ? me.group - 1 - groups : 0;
  Land(me, done);
  if (mode_ == EmulationMode::kRandom) clocks_.Wait(thread(), done);
}

void EmulatedBlock::Land(Thread& thread, uint32_t last_group) {
  for (const PendingCopy& copy : thread.copies)
    if (copy.group <= last_group) std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
  std::erase_if(thread.copies, [&](const PendingCopy& copy) { return copy.group <= last_group; });
}

void EmulatedBlock::LandSome() {
  Thread& thread = threads_[random_() % threads_.size()];
  if (!thread.copies.empty() && random_() % 2 == 0) Land(thread, thread.copies.front().group);
}

// --- Faults: stores the message of the first one, which ends the launch. The thread with the fault does not go on.

void EmulatedBlock::Deadlock() {
  std::map<std::string, std::vector<int64_t>> waiting;
  int64_t ended = 0;
  for (int64_t t = 0; t < launch_.threads; ++t) {
    if (fibers_.has_ended(t)) {
      ++ended;
    } else {
      const Thread& thread = threads_[t];
      const bool waits = thread.waits_at != nullptr;
      waiting[waits ? absl::StrCat("a ", thread.waits_at, " that ", thread.waits_with, " threads must reach")
                    : ""]
          .push_back(t);
    }
  }
  std::string text = absl::StrCat(launch_.name, ", block ", number_, ": a deadlock: ");
  for (const auto& [what, who] : waiting)
    absl::StrAppend(&text, who.size(), who.size() == 1 ? " thread waits for " : " threads wait for ", what,
                    "; ");
  emulation_.fault_ = absl::StrCat(text, ended, " have ended");
}

void EmulatedBlock::GoOn() {
  for (auto* meetings : {&barriers_, &warps_}) {
    for (auto& [number, meeting] : *meetings) {
      if (!meeting.here.empty()) Order(meeting.here);
      meeting.here.clear();
      ++meeting.generation;
    }
  }
}

void EmulatedBlock::Fault(const std::string& what) {
  if (emulation_.fault_.empty())
    emulation_.fault_ = absl::StrCat(launch_.name, ", block ", number_, ", thread ", thread(), ": ", what);
  for (;;) fibers_.Yield();
}

}  // namespace kiln
