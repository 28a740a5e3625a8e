#include "backends/runner/emulator/emulator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "backends/runner/emulator/block.h"

namespace kiln {
namespace {

using Words = std::array<int64_t, 4>;

constexpr int64_t kAlignment = 256;            // of the workspace
constexpr int64_t kBeyond = int64_t{1} << 16;  // bytes after it, which kernels may touch without checks

thread_local Emulation* g_emulation = nullptr;
thread_local EmulatedBlock* g_block = nullptr;
thread_local std::vector<char> g_workspace;

}  // namespace

std::string Encode(const EmulationOptions& options) {
  const Words words = {static_cast<int64_t>(options.mode), static_cast<int64_t>(options.seed),
                       options.most_accesses, options.whole_launches};
  return {reinterpret_cast<const char*>(words.data()), sizeof(words)};
}

bool Decode(const std::string& bytes, EmulationOptions* options) {
  Words words = {};
  if (bytes.size() != sizeof(words)) return false;
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  if (words[0] < 0 || words[0] > static_cast<int64_t>(EmulationMode::kRandom)) return false;
  *options = {static_cast<EmulationMode>(words[0]), static_cast<uint64_t>(words[1]), words[2], words[3]};
  return true;
}

Emulation::Emulation(const EmulationOptions& options) : options_(options), outer_(g_emulation) {
  g_emulation = this;
}
Emulation::~Emulation() { g_emulation = outer_; }

struct EmulatedRun {
  // Returns the numbers of all blocks of a launch in the order in which they run. The order is ascending; if accesses
  // are limited and there are at least 4 blocks, it is the first, the last, the middle one, then the others shuffled by
  // the seed.
  static std::vector<int64_t> Order(const EmulationOptions& options, int64_t blocks) {
    std::vector<int64_t> order(blocks);
    std::iota(order.begin(), order.end(), 0);
    if (options.most_accesses == 0 || blocks < 4) return order;
    std::swap(order[1], order.back());
    std::swap(order[2], order[blocks / 2]);
    std::mt19937_64 random(options.seed);
    std::shuffle(order.begin() + 3, order.end(), random);
    return order;
  }

  static int32_t Launch(EmulatedLaunch launch) {
    static thread_local Fibers fibers;
    if (g_emulation == nullptr) {
      const Emulation eager({});
      return Launch(std::move(launch));
    }
    if (!g_emulation->fault_.empty()) return kEmulationFault;
    const EmulationOptions& options = g_emulation->options_;
    EmulationCounts& counts = g_emulation->counts_;
    const bool is_whole = ++counts.launches <= options.whole_launches;
    const int64_t end = options.most_accesses > 0 ? counts.accesses + options.most_accesses
                                                  : std::numeric_limits<int64_t>::max();
    bool checked = true;
    for (const int64_t b : Order(options, launch.blocks)) {
      if (!checked && !is_whole) {
        ++counts.left_out;
        continue;
      }
      EmulatedBlock block(*g_emulation, launch, fibers, b, checked);
      g_block = &block;
      const bool ok = block.Run();
      g_block = nullptr;
      if (!ok) return kEmulationFault;
      checked &= counts.accesses < end;
    }
    return 0;
  }
};

}  // namespace kiln

using kiln::g_block;

int32_t kiln_emulate_launch(const char* name, void (*kernel)(void* const*), void* const* arguments,
                            const int64_t* bytes, int64_t count, int64_t blocks, int64_t threads,
                            int64_t shared_bytes) {
  kiln::EmulatedLaunch launch{.name = name,
                              .kernel = kernel,
                              .table = arguments,
                              .blocks = blocks,
                              .threads = threads,
                              .shared_bytes = shared_bytes};
  for (int64_t a = 0; a < count; ++a)
    launch.arguments.push_back({static_cast<char*>(arguments[a]), bytes[a]});
  return kiln::EmulatedRun::Launch(std::move(launch));
}

void* kiln_emulate_workspace(int64_t bytes) {
  kiln::g_workspace.assign(bytes + kiln::kAlignment + kiln::kBeyond, '\xff');
  const auto begin = reinterpret_cast<uintptr_t>(kiln::g_workspace.data());
  return kiln::g_workspace.data() + (kiln::kAlignment - begin % kiln::kAlignment) % kiln::kAlignment;
}

void* kiln_emulate_shared() { return g_block->shared(); }
int32_t kiln_emulate_thread() { return static_cast<int32_t>(g_block->thread()); }
int32_t kiln_emulate_block() { return static_cast<int32_t>(g_block->number()); }
int32_t kiln_emulate_threads() { return static_cast<int32_t>(g_block->launch().threads); }
int32_t kiln_emulate_blocks() { return static_cast<int32_t>(g_block->launch().blocks); }
void kiln_emulate_access(const void* address, int64_t bytes, int64_t alignment, int32_t write) {
  g_block->Access(static_cast<const char*>(address), bytes, alignment, write != 0);
}
void kiln_emulate_barrier(int64_t site, int32_t number, int32_t threads) {
  g_block->Barrier(site, number, threads);
}
void kiln_emulate_warp_barrier(int64_t site, int32_t mask) {
  g_block->WarpBarrier(site, static_cast<uint32_t>(mask));
}
int32_t kiln_emulate_shuffle(int64_t site, int32_t mask, int32_t value, int32_t offset, int32_t clamp,
                             int32_t kind) {
  return g_block->Shuffle(site, static_cast<uint32_t>(mask), value, offset, clamp, kind);
}
void kiln_emulate_copy(void* to, const void* from, int32_t bytes, int32_t read) {
  g_block->Copy(static_cast<char*>(to), static_cast<const char*>(from), bytes, read);
}
void kiln_emulate_commit() { g_block->Commit(); }
void kiln_emulate_wait(int32_t groups) { g_block->Wait(groups); }
