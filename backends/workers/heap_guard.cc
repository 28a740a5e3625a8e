#include "backends/workers/heap_guard.h"

#include <array>

namespace kiln {
namespace {

constexpr int kMaxBlocks = 4096;

std::array<std::atomic<GuardedBuffer*>, kMaxBlocks> g_blocks;
std::atomic<int64_t> g_spare{0}, g_violated{-1};
std::atomic<bool> g_used{false};
thread_local bool t_allocates = false;  // true while this thread allocates a guarded block

std::atomic<GuardedBuffer*>* Find(const void* memory) {
  for (std::atomic<GuardedBuffer*>& place : g_blocks) {
    const GuardedBuffer* block = place;
    if (block != nullptr && block->data() == memory) return &place;
  }
  return nullptr;
}

void Check(const GuardedBuffer& block) {
  if (!block.CanaryIntact()) g_violated = block.bytes();
}

}  // namespace

std::atomic<bool> heap_is_guarded{false};
std::atomic<int> guarded_blocks{0};

HeapGuard::HeapGuard(int64_t spare) {
  g_spare = spare;
  g_violated = -1;
  g_used = false;
  heap_is_guarded = true;
}

HeapGuard::~HeapGuard() { heap_is_guarded = false; }

bool HeapGuard::Used() const { return g_used; }

int64_t HeapGuard::Violated() const {
  for (const std::atomic<GuardedBuffer*>& place : g_blocks) {
    if (const GuardedBuffer* block = place; block != nullptr) Check(*block);
  }
  return g_violated;
}

void* AllocateGuarded(size_t bytes) {
  if (t_allocates) return nullptr;
  t_allocates = true;
  const auto spare = static_cast<size_t>(g_spare.load());
  auto block = GuardedBuffer::Make(-1, static_cast<int64_t>(bytes > spare ? bytes - spare : bytes));
  t_allocates = false;
  if (block == nullptr) return nullptr;
  ++guarded_blocks;
  for (std::atomic<GuardedBuffer*>& place : g_blocks) {
    GuardedBuffer* none = nullptr;
    if (!place.compare_exchange_strong(none, block.get())) continue;
    g_used = true;
    return block.release()->data();
  }
  --guarded_blocks;
  block->Unmap();
  return nullptr;
}

bool FreeGuarded(void* memory) {
  std::atomic<GuardedBuffer*>* place = memory == nullptr ? nullptr : Find(memory);
  if (place == nullptr) return false;
  const std::unique_ptr<GuardedBuffer> block(place->exchange(nullptr));
  Check(*block);
  block->Unmap();
  --guarded_blocks;
  return true;
}

int64_t GuardedBytes(const void* memory) {
  const std::atomic<GuardedBuffer*>* place = memory == nullptr ? nullptr : Find(memory);
  return place == nullptr ? -1 : place->load()->bytes();
}

const GuardedBuffer* GuardedAt(const char* address) {
  for (const std::atomic<GuardedBuffer*>& place : g_blocks) {
    const GuardedBuffer* block = place;
    if (block != nullptr && block->Reaches(address)) return block;
  }
  return nullptr;
}

}  // namespace kiln
