// Emits prefetches for buffers larger than the caches of a core, so that memory is fetched during
// computation.
//
// Streams: a block that computes much for each element prefetches what the next iteration of an outer loop
// loads, and the places that other blocks of its nest will store to. The hardware prefetcher stops at the end
// of a page. Blocks that compute little leave no time for prefetching.
//
// Tiles: before the loops that compute a tile in registers, prefetches the tile of the result that it is
// added to.
//
// Panels: if several tiles read the same panel one after the other, each of them prefetches a part of the
// next panel.
//
// The Emitter creates an object where it needs one.
#pragma once

#include <vector>

#include "backends/lower/emit/emit.h"

namespace kiln {

class Prefetcher {
 public:
  explicit Prefetcher(Emitter& emitter) : e_(emitter) {}

  // Emits prefetches for streams. Call it before a vector is loaded at `at`.
  void Stream(Id buffer, const IndexValue& at);
  // Emits prefetches for tiles of results and for parts of the next panels. Call it before the loop.
  void Tiles(Id loop);

 private:
  int64_t NextOnWalk(const IndexValue& at, int64_t most) const;
  std::vector<Id> StreamsStoredLater(int64_t elements) const;
  void Results(Id nest);
  void Panels(Id loop);
  void Panel(Id buffer, const IndexSum& address, const IndexValue& tile);
  void Line(Id buffer, const IndexValue& at, bool store, unsigned locality = 3);

  Emitter& e_;
};

}  // namespace kiln
