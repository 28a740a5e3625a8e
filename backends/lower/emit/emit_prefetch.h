// What is fetched while something else is computed, of buffers larger than the caches of a core.
//
// Streams: a block that computes much of each element that it loads prefetches meanwhile what the next
// iteration around loads, and what others of its nest store to. What the machine prefetches by itself stops
// at the end of a page, and blocks that compute little have no time for it.
//
// Tiles: before the loops that compute a tile in registers, the tile of the result that it is added to.
//
// Panels: what several tiles read one after the other is followed by another panel, of which each tile
// prefetches a part.
//
// A friend of the Emitter, which makes one where it is used.
#pragma once

#include <vector>

#include "backends/lower/emit/emit.h"

namespace kiln {

class Prefetcher {
 public:
  explicit Prefetcher(Emitter& emitter) : e_(emitter) {}

  // Before a vector is loaded at `at`.
  void Stream(Id buffer, const IndexValue& at);
  // Before a loop: results that are added to, and parts of the next panels.
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
