// Runs a matrix product by a library that is installed on the machine, in place of a kernel, for comparison in `kiln
// bench`. The library is loaded into the calling process, which belongs to a candidate.
#pragma once

#include <sched.h>

#include <memory>
#include <string>

#include "backends/runner/runner.h"
#include "backends/runner/timing.h"

namespace kiln {

class BoundProduct {
 public:
  // Loads the first library that exists and has the function, sets its number of threads, and calls the product once,
  // so that the library creates its threads, which may run on `cores`. Returns null, and the reason in `error`, if
  // there is no such library or the product does not fit the arguments.
  static std::unique_ptr<BoundProduct> Make(const LibraryProduct& product,
                                            const std::vector<void*>& arguments, int threads,
                                            const cpu_set_t& cores, std::string* error);

  // Returns a kernel that computes the product. It is valid as long as this object. Its status is dnnl_sgemm's result;
  // 0 for cblas_sgemm.
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
