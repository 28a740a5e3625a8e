// Writes the C header of a whole model: a comment, macros with the sizes and the alignment of weights and arena, and
// the functions NAME, NAME_prepare and, with threads, NAME_set_threads.
#pragma once

#include <string>

#include "lang/model/model_plan.h"

namespace kiln {

struct ModelHeader {
  std::string name;      // of the function
  std::string made_for;  // the machine
  bool takes_threads = false;
  int64_t weights_offset = 0;  // of the weights in NAME.weights; 0: there is no such file
  std::string notes;           // lines for the comment
};

std::string ModelHeaderText(const Program& model, const ModelPlan& plan, const ModelHeader& header);

}  // namespace kiln
