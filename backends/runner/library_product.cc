#include "backends/runner/library_product.h"

#include <dlfcn.h>

#include <climits>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr char kDnnl[] = "dnnl_sgemm";

// Names of functions that set a library's number of threads. The number is a 32-bit or 64-bit integer, both passed in
// the same register.
constexpr const char* kThreadSetters[] = {"MKL_Set_Num_Threads", "openblas_set_num_threads",
                                          "bli_thread_set_num_threads", "omp_set_num_threads"};
constexpr int kMklSequential = 1;

template <typename Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void SetThreads(void* library, int threads) {
  if (auto* const layer = Find<int(int)>(library, "MKL_Set_Threading_Layer"); layer && threads == 1)
    layer(kMklSequential);
  for (const char* const name : kThreadSetters) {
    if (auto* const set = Find<void(int64_t)>(library, name)) set(threads);
  }
}

// Restricts the calling thread to these cores, which threads that it creates inherit. The destructor restores the
// thread's cores.
class AffinityScope {
 public:
  explicit AffinityScope(const cpu_set_t& cores) {
    sched_getaffinity(0, sizeof before_, &before_);
    sched_setaffinity(0, sizeof cores, &cores);
  }
  ~AffinityScope() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

bool MakesSense(const LibraryProduct& product, size_t arguments, std::string* error) {
  for (const uint64_t at : {product.a, product.b, product.c}) {
    if (at >= arguments) *error = absl::StrCat("there is no parameter ", at);
  }
  for (const int64_t size : {product.m, product.n, product.k}) {
    if (size < 1 || size > INT_MAX) *error = absl::StrCat("a matrix of ", size);
  }
  return error->empty();
}

}  // namespace

std::unique_ptr<BoundProduct> BoundProduct::Make(const LibraryProduct& product,
                                                 const std::vector<void*>& arguments, int threads,
                                                 const cpu_set_t& cores, std::string* error) {
  if (!MakesSense(product, arguments.size(), error)) return nullptr;
  const AffinityScope scope(cores);
  for (const std::string& name : product.libraries) {
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      absl::StrAppend(error, error->empty() ? "" : "; ", dlerror());
      continue;
    }
    if (void* const function = dlsym(library, product.symbol.c_str())) {
      SetThreads(library, threads);
      std::unique_ptr<BoundProduct> bound(new BoundProduct(product, arguments, function));
      bound->Kernel().Run();
      return bound;
    }
    absl::StrAppend(error, error->empty() ? "" : "; ", name, " has no symbol '", product.symbol, "'");
  }
  return nullptr;
}

int BoundProduct::Call(void* self, void* const* arguments) {
  const auto& bound = *static_cast<const BoundProduct*>(self);
  const LibraryProduct& p = bound.product_;
  const auto *const a = static_cast<const float*>(arguments[p.a]), *const b = static_cast<const float*>(
                                                                       arguments[p.b]);
  auto* const c = static_cast<float*>(arguments[p.c]);
  const int64_t lda = p.a_transposed ? p.m : p.k, ldb = p.b_transposed ? p.k : p.n;
  if (p.symbol == kDnnl) {
    return reinterpret_cast<int (*)(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t,
                                    const float*, int64_t, float, float*, int64_t)>(bound.function_)(
        p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, 1, a, lda, b, ldb, 0, c, p.n);
  }
  enum { kRowMajor = 101, kPlain = 111, kTransposed = 112 };
  reinterpret_cast<void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                            float*, int)>(bound.function_)(
      kRowMajor, p.a_transposed ? kTransposed : kPlain, p.b_transposed ? kTransposed : kPlain,
      static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), 1, a, static_cast<int>(lda), b,
      static_cast<int>(ldb), 0, c, static_cast<int>(p.n));
  return 0;
}

}  // namespace kiln
