#include "tests/support/tiny_intrinsics.h"

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "lang/intrinsics/declare.h"

namespace kiln {
namespace {

constexpr const char* kTypes[] = {"i32", "f64"};

// The program that describes an intrinsic for a product of 2x2 matrices. $0 is the dtype.
constexpr char kMma[] = R"(kiln.program v1
program mma
parameters A, B, C
buffer A: $0[2, 2] input
buffer B: $0[2, 2] input
buffer C: $0[2, 2] output
for k < 2 unrolled {
  for i < 2 unrolled {
    for j < 2 vectorized {
      block mma {
        spatial i < 2 = i
        spatial j < 2 = j
        reduction k < 2 = k
        C[i, j] sum= A[i, k]*B[k, j]
      }
    }
  }
}
)";

constexpr char kDot[] = R"(kiln.program v1
program dot
parameters A, B, C
buffer A: $0[$1] input
buffer B: $0[$1] input
buffer C: $0[] output
for k < $1 unrolled {
  block dot {
    reduction k < $1 = k
    C[] sum= A[k]*B[k]
  }
}
)";

constexpr char kAxpy[] = R"(kiln.program v1
program axpy
parameters A, B, C
buffer A: $0[] input
buffer B: $0[$1] input
buffer C: $0[$1] output
for j < $1 vectorized {
  block axpy {
    spatial j < $1 = j
    reduction k < 1 = 0
    C[j] sum= A[]*B[j]
  }
}
)";

constexpr char kCopy[] = R"(kiln.program v1
program copy
parameters A, B
buffer A: $0[$1] input
buffer B: $0[$1] output
for i < $1 vectorized {
  block copy {
    spatial i < $1 = i
    B[i] = A[i]
  }
}
)";

constexpr char kSum[] = R"(kiln.program v1
program sum
parameters A, C
buffer A: $0[$1] input
buffer C: $0[] output
for k < $1 {
  block sum {
    reduction k < $1 = k
    C[] sum= A[k]
  }
}
)";

struct Kind {
  const char *name, *description;
  int64_t least, most;  // range of sizes
};
constexpr Kind kKinds[] = {{"mma", kMma, 2, 2},
                           {"dot", kDot, 2, 4},
                           {"axpy", kAxpy, 2, 4},
                           {"copy", kCopy, 2, 4},
                           {"sum", kSum, 2, 4}};

const bool kDeclared = [] {
  for (const Kind& kind : kKinds) {
    for (const char* type : kTypes) {
      for (int64_t size = kind.least; size <= kind.most; ++size) {
        const std::string name = absl::Substitute("tiny.$0.$1x$2", kind.name, type, size);
        IntrinsicFamily family{.name = name, .compute = name};
        DeclareIntrinsics(family, {{name, absl::Substitute(kind.description, type, size)}});
      }
    }
  }
  return true;
}();

}  // namespace

std::vector<std::string> TinyIntrinsics() {
  std::vector<std::string> names;
  for (const Intrinsic* const intrinsic : AllIntrinsics()) {
    if (kDeclared && absl::StartsWith(intrinsic->name, "tiny.")) names.push_back(intrinsic->name);
  }
  return names;
}

}  // namespace kiln
