// Pin: restricts a sampling site or a choice of the space that follows.
//
//   v = sample-perfect-tile l n=2 @cpu/multi-level-tiling/matmul/R2
//   -> pin site=matmul/R2 to=64,16:        .. only=[64 16]          a fixed decision
//   -> pin site=matmul/R2 to=64,16,32,32:  .. only=[64 16 32 32]    one of two
//
// `site` is the name of a sampling site or a structural choice, or the end of that name after a '/'. `to` lists the
// values that remain: decisions one after the other, or numbers of alternatives. An empty `to` makes the schedule
// inert. The pin of a site that never occurs has no effect. Pin must come before the module that samples. Structure:
// none; a pinned choice keeps the listed alternatives only.
#include "modules/default_modules.h"

namespace kiln {

Space Pin(PinOptions options) {
  return [options](Schedule& s) { s.Pin(options.site, options.to); };
}

KILN_MODULE("pin", Pin, Option("site", &PinOptions::site), Option("to", &PinOptions::to));

}  // namespace kiln
