// Gives each element of a buffer a number, also elements beyond the buffer's shape, for thread_clocks.h.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

class ElementNumbers {
 public:
  explicit ElementNumbers(const Program& program) : p_(program) {}

  // Returns the number of the element at these indices: its row-major position in the buffer, or a negative number of
  // its own if the indices are beyond the buffer's shape.
  int64_t Of(Id buffer, const std::vector<int64_t>& indices) {
    const auto shape = p_.Dims(p_.buffers[buffer].shape);
    int64_t place = 0;
    bool inside = true;
    for (size_t d = 0; d < indices.size(); ++d) {
      inside = inside && indices[d] >= 0 && indices[d] < shape[d].Known();
      place = place * shape[d].Known() + indices[d];
    }
    if (inside) return place;
    const auto next = -1 - static_cast<int64_t>(beyond_.size());
    return beyond_.try_emplace({buffer, indices}, next).first->second;
  }

 private:
  const Program& p_;
  std::map<std::pair<Id, std::vector<int64_t>>, int64_t> beyond_;
};

}  // namespace kiln
