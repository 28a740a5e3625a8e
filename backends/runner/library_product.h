// Products of matrices by a library of the machine, as kernels: what `kiln bench` compares with. The library
// is loaded into the calling process, which is a candidate's.
#pragma once

#include <sched.h>

#include <memory>
#include <string>

#include "backends/runner/runner.h"
#include "backends/runner/timing.h"

namespace kiln {

class BoundProduct {
 public:
  // The first of the libraries that can be loaded and has the function is told how many threads it has, and
  // called once, so that its threads are made, which may run on `cores`. Null, and why: there is none, or the
  // product makes no sense for so many arguments.
  static std::unique_ptr<BoundProduct> Make(const LibraryProduct& product,
                                            const std::vector<void*>& arguments, int threads,
                                            const cpu_set_t& cores, std::string* error);

  // Valid as long as this is. It returns what the library's function does, or 0.
  BoundKernel Kernel() const { return {&Call, const_cast<BoundProduct*>(this), arguments_}; }

 private:
  BoundProduct(const LibraryProduct& product, const std::vector<void*>& arguments, void* function)
      : product_(product), arguments_(arguments), function_(function) {}
  static int Call(void* self, void* const* arguments);

  const LibraryProduct product_;
  const std::vector<void*> arguments_;
  void* const function_;
};

}  // namespace kiln
