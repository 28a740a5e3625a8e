// A plugin that aborts while it is loaded, before it registers modules.
#include <cstdlib>

#include "modules/module.h"

[[maybe_unused]] static const bool kNever = [] {
  std::abort();
  return true;
}();
