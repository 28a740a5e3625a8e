// Pin: what a user knows of the space that follows.
//
//   v = sample-perfect-tile l n=2 @cpu/multi-level-tiling/matmul/R2
//   -> pin site=matmul/R2 to=64,16:        .. only=[64 16]          a fixed decision
//   -> pin site=matmul/R2 to=64,16,32,32:  .. only=[64 16 32 32]    one of two
//
// `site` is the name of a site or of a structural choice, or the end of one after a '/'; `to` lists what is
// left of its support: decisions one after the other, or alternatives. Stands before what it restricts.
// Structure: none; a choice that is pinned has the alternatives that are left.
#include "modules/default_modules.h"

namespace kiln {

Space Pin(PinOptions options) {
  return [options](Schedule& s) { s.Pin(options.site, options.to); };
}

KILN_MODULE("pin", Pin, Option("site", &PinOptions::site), Option("to", &PinOptions::to));

}  // namespace kiln
