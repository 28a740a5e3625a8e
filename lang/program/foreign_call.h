// A call of foreign code, which is no part of a program but runs between its blocks: another compiler made it from
// operations that a Program cannot express. The call reads all of some buffers and writes all of others. Plain data.
#pragma once

#include <string>
#include <vector>

#include "lang/program/ids.h"

namespace kiln {

struct ForeignCall {
  std::string name = "";        // for people: the operation that it begins with
  std::vector<Id> reads = {};   // buffers
  std::vector<Id> writes = {};  // buffers, which nothing else writes
};

}  // namespace kiln
