#include "backends/vendor/vendor_libraries.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "absl/types/span.h"
#include "backends/measure/kernel.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"
#include "lang/patterns/contraction.h"

namespace kiln {
namespace {

struct Library {
  const char* name;
  const char* symbol;
  std::vector<std::string> files;
};

const std::vector<Library>& Libraries() {
  static const auto* const libraries =
      new std::vector<Library>{{"mkl", "cblas_sgemm", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}},
                               {"openblas", "cblas_sgemm", {"libopenblas.so.0", "libopenblas.so"}},
                               {"blis", "cblas_sgemm", {"libblis.so.4", "libblis.so.3", "libblis.so"}},
                               {"onednn", "dnnl_sgemm", {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"}}};
  return *libraries;
}

// An f32 matrix that a block accesses at two of its iters, each of which covers a whole dimension.
struct Matrix {
  Id buffer = kNone;
  std::array<int, 2> iters = {-1, -1};
};

std::optional<Matrix> AsMatrix(const Program& p, Id block, Id buffer, absl::Span<const Id> index) {
  const auto dims = p.Dims(p.buffers[buffer].shape);
  if (p.buffers[buffer].dtype != DType::kF32 || dims.size() != 2 || index.size() != 2) return std::nullopt;
  Matrix matrix{buffer, {}};
  for (size_t d = 0; d < 2; ++d) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(p, index[d]);
    if (!simple || simple->offset != 0) return std::nullopt;
    const Extent& extent = p.Iters(p.block(block).iters)[static_cast<size_t>(simple->iter)].extent;
    if (!extent.constant() || extent != dims[d]) return std::nullopt;
    matrix.iters[d] = simple->iter;
  }
  return matrix;
}

std::optional<Matrix> AsMatrix(const Program& p, Id block, Id factor) {
  const Expr& e = p.exprs[factor];
  return e.op == Op::kLoad ? AsMatrix(p, block, e.AsLoad().buffer, p.List(e.AsLoad().index)) : std::nullopt;
}

std::optional<uint64_t> PositionOf(const Program& p, Id buffer) {
  const auto at = std::find(p.parameters.begin(), p.parameters.end(), buffer);
  if (at == p.parameters.end()) return std::nullopt;
  return static_cast<uint64_t>(at - p.parameters.begin());
}

}  // namespace

std::optional<LibraryProduct> AsLibraryProduct(const Program& program) {
  const std::vector<Id> blocks = Blocks(program);
  if (blocks.size() != 1 || program.parameters.size() != 3) return std::nullopt;
  const Id block = blocks[0];
  const absl::StatusOr<Contraction> contraction = AsContraction(program, block);
  if (!contraction.ok()) return std::nullopt;
  const Expr& value = program.exprs[program.List(program.block(block).values)[0]];
  if (value.dtype != DType::kF32 || value.operand(0) != contraction->a || value.operand(1) != contraction->b)
    return std::nullopt;
  const Access& dest = program.Accesses(program.block(block).dests)[0];
  auto a = AsMatrix(program, block, contraction->a), b = AsMatrix(program, block, contraction->b);
  const auto c = AsMatrix(program, block, dest.buffer, program.List(dest.index));
  if (!a || !b || !c || program.block(block).iters.count != 3) return std::nullopt;
  const auto [m, n] = c->iters;
  const auto has = [](const Matrix& matrix, int iter) {
    return matrix.iters[0] == iter || matrix.iters[1] == iter;
  };
  if (!has(*a, m)) std::swap(a, b);
  const int k = 3 - m - n;
  if (m == n || !has(*a, m) || !has(*a, k) || !has(*b, k) || !has(*b, n)) return std::nullopt;
  const auto extent = [&](int iter) {
    return program.Iters(program.block(block).iters)[iter].extent.Known();
  };
  const auto at_a = PositionOf(program, a->buffer), at_b = PositionOf(program, b->buffer),
             at_c = PositionOf(program, c->buffer);
  if (!at_a || !at_b || !at_c) return std::nullopt;
  return LibraryProduct{.m = extent(m),
                        .n = extent(n),
                        .k = extent(k),
                        .a_transposed = a->iters[1] == m,
                        .b_transposed = b->iters[1] == k,
                        .a = *at_a,
                        .b = *at_b,
                        .c = *at_c};
}

std::vector<VendorLibrary> VendorLibrariesOf(const Program& original,
                                             const std::vector<std::string>& folders) {
  std::vector<VendorLibrary> peers;
  const std::optional<LibraryProduct> product = AsLibraryProduct(original);
  if (!product) return peers;
  for (const Library& library : Libraries()) {
    KernelObject kernel{.params = ParamsOf(original, TolerancesOf(original), RangesOf(original)),
                        .product = product};
    kernel.product->symbol = library.symbol;
    for (const std::string& folder : folders) {
      for (const std::string& file : library.files)
        kernel.product->libraries.push_back(std::filesystem::absolute(folder) / file);
    }
    kernel.product->libraries.insert(kernel.product->libraries.end(), library.files.begin(),
                                     library.files.end());
    peers.push_back({library.name, std::move(kernel)});
  }
  return peers;
}

}  // namespace kiln
