// The options of Schedule::Pipeline, which let the children of a loop overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/schedule/handle.h"

namespace kiln {

struct PipelineOptions {
  // The stage of each child of the loop, and its position among the children in one turn of the pipeline. Without
  // `stages` and `depths`, a child that reads another child's result is one stage later than that child. Without
  // `order`, the children keep their order.
  std::vector<int64_t> stages = {}, order = {};
  // The number of copies of each buffer that one child writes for others, in the order in which the children write
  // them, or one number for all. If empty, there are as many copies as the stages require. If depths are given and no
  // stages, a reader is one stage less behind than its buffers have copies.
  std::vector<Factor> depths = {};
  std::string transport = "sync";       // of all those buffers: sync, async or bulk
  std::vector<int64_t> producers = {};  // numbers of children that only produce for others
};

}  // namespace kiln
