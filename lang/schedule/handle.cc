#include "lang/schedule/handle.h"

#include <optional>

namespace kiln {
namespace {

thread_local std::optional<PastTheEnd> noted;
thread_local PastTheEnd taken;

}  // namespace

void NotePastTheEnd(const PastTheEnd& use) {
  if (!noted) noted = use;
}

const PastTheEnd* TakePastTheEnd() {
  if (!noted) return nullptr;
  taken = *noted;
  noted.reset();
  return &taken;
}

}  // namespace kiln
