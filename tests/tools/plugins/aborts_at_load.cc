// A faulty plugin for tests: it aborts while it is loaded, before it registers modules.
#include <cstdlib>

#include "modules/module.h"

[[maybe_unused]] static const bool kNever = [] {
  std::abort();
  return true;
}();
