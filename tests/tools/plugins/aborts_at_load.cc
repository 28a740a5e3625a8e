// Never gets as far as having modules.
#include <cstdlib>

#include "modules/module.h"

[[maybe_unused]] static const bool kNever = [] {
  std::abort();
  return true;
}();
