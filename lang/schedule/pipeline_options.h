// The options of Schedule::Pipeline: how the children of a loop overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

struct PipelineOptions {
  // By child of the loop: its stage, and its position in one turn. Empty: children that read what others
  // write are one stage behind these; children run as they stand.
  std::vector<int64_t> stages = {}, order = {};
  // By buffer that is carried from child to child, in the order in which the children write them: copies.
  // Empty: as many as the stages need.
  std::vector<int64_t> depths = {};
  std::string transport = "sync";       // of all of them: sync, async or bulk
  std::vector<int64_t> producers = {};  // children that only produce, by number
};

}  // namespace kiln
