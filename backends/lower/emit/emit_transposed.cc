#include "backends/lower/emit/emit_transposed.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

// Returns the largest power of two such that the lanes of each aligned run of this length are neighbors in memory.
int64_t LanesInRuns(const IndexValue& at) {
  const int64_t lanes = std::ssize(at.lanes);
  int64_t run = 1;
  const auto fits = [&](int64_t wider) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      if (at.lanes[lane] != at.lanes[lane / wider * wider] + lane % wider) return false;
    return lanes % wider == 0;
  };
  while (2 * run <= lanes && fits(2 * run)) run *= 2;
  return run;
}

int64_t PowerOfTwo(int64_t least) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
}

// Removes the elements for which `wanted` is true from `all`, and returns them.
template <typename T>
std::vector<T> Take(std::vector<T>& all, llvm::function_ref<bool(const T&)> wanted) {
  std::vector<T> taken;
  std::copy_if(all.begin(), all.end(), std::back_inserter(taken), wanted);
  std::erase_if(all, wanted);
  return taken;
}

mlir::Value Part(CodeBuilder& code, mlir::Value vector, int64_t first, int64_t count) {
  if (mlir::cast<mlir::VectorType>(vector.getType()).getDimSize(0) == count) return vector;
  return mlir::vector::ExtractStridedSliceOp::create(code.b(), vector, llvm::ArrayRef<int64_t>{first},
                                                     llvm::ArrayRef<int64_t>{count},
                                                     llvm::ArrayRef<int64_t>{1});
}

// Emits the store of `count` lanes of a vector, from lane `first` on, to adjacent addresses. If vectors have 64 bytes,
// this takes one store, which is masked unless `count` is a power of two. Otherwise it takes one store for each power
// of two of which `count` is the sum.
void StoreRun(IndexEmitter& indices, mlir::Value memory, const IndexValue& at, mlir::Value from,
              int64_t first, int64_t count) {
  CodeBuilder& code = indices.code();
  mlir::ImplicitLocOpBuilder& b = code.b();
  const int64_t whole = PowerOfTwo(count);
  if (whole != count && code.options().vector_bytes == 64) {
    std::vector<int64_t> inside(whole, 0);
    std::fill_n(inside.begin(), count, 1);
    mlir::vector::MaskedStoreOp::create(b, memory, mlir::ValueRange{indices.Scalar(at)},
                                        code.ConstantLanes(inside, b.getI1Type()),
                                        Part(code, from, first, whole));
    return;
  }
  for (int64_t done = 0; done < count;) {
    const int64_t run = PowerOfTwo(count - done + 1) / 2;
    IndexValue next = at;
    next.constant += done;
    if (run == 1) {
      const mlir::Value one = mlir::vector::ExtractOp::create(b, from, llvm::ArrayRef<int64_t>{first + done});
      mlir::memref::StoreOp::create(b, one, memory, mlir::ValueRange{indices.Scalar(next)});
    } else {
      mlir::vector::StoreOp::create(b, Part(code, from, first + done, run), memory,
                                    mlir::ValueRange{indices.Scalar(next)});
    }
    done += run;
  }
}

}  // namespace

void StoreLanes(IndexEmitter& indices, mlir::Value memory, const IndexValue& at, mlir::Value stored) {
  mlir::ImplicitLocOpBuilder& b = indices.code().b();
  const int64_t run = LanesInRuns(at);
  for (int64_t lane = 0; lane < std::ssize(at.lanes); lane += run) {
    const mlir::Value index = indices.Scalar(at.Lane(lane));
    if (run > 1) {
      mlir::vector::StoreOp::create(b, Part(indices.code(), stored, lane, run), memory, index);
    } else {
      const mlir::Value one = mlir::vector::ExtractOp::create(b, stored, llvm::ArrayRef<int64_t>{lane});
      mlir::memref::StoreOp::create(b, one, memory, index);
    }
  }
}

void DelayedStores::Flush(int number) {
  const CodeBuilder& code = indices_.code();
  std::vector<DelayedStore> now =
      Take<DelayedStore>(delayed_, [&](const DelayedStore& store) { return store.flush == number; });
  while (!now.empty()) {
    const DelayedStore first = now.front();
    std::vector<DelayedStore> group = Take<DelayedStore>(now, [&](const DelayedStore& store) {
      return store.buffer == first.buffer && store.at.terms == first.at.terms &&
             store.at.lanes == first.at.lanes;
    });
    std::sort(group.begin(), group.end(),
              [](const DelayedStore& a, const DelayedStore& b) { return a.at.constant < b.at.constant; });
    loads_.Forget(first.buffer);
    const int64_t most = code.options().vector_bytes / SizeOf(code.program().buffers[first.buffer].dtype);
    for (size_t begin = 0; begin < group.size();) {
      size_t end = begin + 1;
      while (end < group.size() && static_cast<int64_t>(end - begin) < most &&
             group[end].at.constant == group[end - 1].at.constant + 1)
        ++end;
      StoreTransposed(absl::MakeSpan(group).subspan(begin, end - begin));
      begin = end;
    }
  }
}

// Emits delayed stores whose vectors (`rows`) have neighboring addresses in each lane. Transposes squares of lanes in
// registers: step b exchanges, between registers i and i + 2^b, bit b of the register's number with bit b of the lane's
// number. Then stores adjacent elements together.
void DelayedStores::StoreTransposed(absl::Span<const DelayedStore> rows) {
  CodeBuilder& code = indices_.code();
  const mlir::Value memory = buffers_[rows.front().buffer];
  const DelayedStore& first = rows.front();
  const int64_t count = std::ssize(rows), square = PowerOfTwo(count),
                size = SizeOf(code.program().buffers[first.buffer].dtype),
                register_lanes = std::max(square, code.options().vector_bytes / size),
                lanes = std::ssize(first.at.lanes);
  if (count == 1) return StoreLanes(indices_, memory, first.at, first.stored);
  const auto shuffle = [&](mlir::Value a, mlir::Value b, llvm::ArrayRef<int64_t> mask) -> mlir::Value {
    return mlir::vector::ShuffleOp::create(code.b(), a, b, mask);
  };
  for (int64_t begin = 0; begin < lanes; begin += register_lanes) {
    const int64_t used = std::min(register_lanes, lanes - begin);
    const int64_t width = std::max(square, PowerOfTwo(used));
    llvm::SmallVector<mlir::Value> registers;
    for (const DelayedStore& row : rows) {
      mlir::Value part = Part(code, row.stored, begin, used);
      llvm::SmallVector<int64_t> filled(width, mlir::vector::ShuffleOp::kPoisonIndex);
      for (int64_t lane = 0; lane < used; ++lane) filled[lane] = lane;
      registers.push_back(used == width ? part : shuffle(part, part, filled));
    }
    while (std::ssize(registers) < square) registers.push_back(registers.back());
    for (int64_t bit = 1; bit < square; bit *= 2) {
      llvm::SmallVector<int64_t> low, high;
      for (int64_t lane = 0; lane < width; ++lane) {
        low.push_back((lane & bit) == 0 ? lane : width + (lane ^ bit));
        high.push_back((lane & bit) == 0 ? lane | bit : width + lane);
      }
      for (int64_t i = 0; i < square; ++i) {
        if ((i & bit) != 0) continue;
        const mlir::Value a = registers[i], b = registers[i | bit];
        registers[i] = shuffle(a, b, low);
        registers[i | bit] = shuffle(a, b, high);
      }
    }
    for (int64_t lane = 0; lane < used; ++lane)
      StoreRun(indices_, memory, first.at.Lane(begin + lane), registers[lane % square],
               lane / square * square, count);
  }
}

}  // namespace kiln
