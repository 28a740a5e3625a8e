// A call between the blocks of a program that is no part of it: code that another compiler makes of operations which
// a Program cannot express. It reads all of some buffers and writes all of others. Plain data.
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
