// The options of Schedule::Pipeline, which let the children of a loop overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/schedule/handle.h"

namespace kiln {

struct PipelineOptions {
  // For each child of the loop: its stage, and its position within one iteration of the pipeline. Empty: a
  // child that reads another child's result is one stage later, and the order stays as it is.
  std::vector<int64_t> stages = {}, order = {};
  // The number of copies of each buffer that one child writes for others, in the order in which the children
  // write them, or one number for all. Empty: as many as the stages require. Without stages, a reader is as
  // many stages behind as its buffers have copies, less one.
  std::vector<Factor> depths = {};
  std::string transport = "sync";       // of all those buffers: sync, async or bulk
  std::vector<int64_t> producers = {};  // numbers of children that only produce for others
};

}  // namespace kiln
