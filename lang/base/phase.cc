#include "lang/base/phase.h"

#include <atomic>

namespace kiln {
namespace {

std::atomic<const char*> current{""};
std::atomic<void (*)(const char*)> watcher{nullptr};

void Enter(const char* name) {
  current = name;
  if (const auto changed = watcher.load()) changed(name);
}

}  // namespace

Phase::Phase(const char* name) : before_(current) { Enter(name); }
Phase::~Phase() { Enter(before_); }

const char* Phase::Current() { return current; }

void Phase::Watch(void (*changed)(const char* now)) { watcher = changed; }

}  // namespace kiln
