#include "backends/gpu/emit_reduce.h"

#include "absl/algorithm/container.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace nvvm = mlir::NVVM;
using mlir::Value;

constexpr int64_t kWarp = 32;
constexpr size_t kThreadAxes = 3;  // the first of AxisNumbers
constexpr int64_t kSlot = 8;       // bytes of shared memory for a lane of a value

Value Constant32(CodeBuilder& code, int64_t value) {
  return arith::ConstantOp::create(code.b(), code.b().getI32IntegerAttr(static_cast<int32_t>(value)));
}

int64_t LanesOf(mlir::Type type) {
  const auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

// Emits a value of this type, a scalar or a vector, from the values lane_of(0), lane_of(1), ... of its lanes. A scalar
// has one lane.
Value OfLanes(mlir::ImplicitLocOpBuilder& b, mlir::Type type, llvm::function_ref<Value(int64_t)> lane_of) {
  const auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  if (!vector) return lane_of(0);
  llvm::SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) lanes.push_back(lane_of(lane));
  return mlir::vector::FromElementsOp::create(b, vector, lanes);
}

Value LaneOf(mlir::ImplicitLocOpBuilder& b, Value value, int64_t lane) {
  if (!mlir::isa<mlir::VectorType>(value.getType())) return value;
  return mlir::vector::ExtractOp::create(b, value, llvm::ArrayRef<int64_t>{lane});
}

// Emits the exchange of a value of up to 64 bits with another thread by `shuffle`, which exchanges an i32. Values of 64
// bits are split into two halves, and smaller values than 32 bits are extended.
Value InParts(CodeBuilder& code, Value value, llvm::function_ref<Value(Value)> shuffle) {
  mlir::ImplicitLocOpBuilder& b = code.b();
  const mlir::Type type = value.getType(), i32 = b.getI32Type();
  const unsigned width = type.getIntOrFloatBitWidth();
  const mlir::Type bits = b.getIntegerType(width);
  const bool is_float = mlir::isa<mlir::FloatType>(type);
  if (is_float) value = arith::BitcastOp::create(b, bits, value);
  if (width < 32) {
    value = arith::TruncIOp::create(b, bits, shuffle(arith::ExtUIOp::create(b, i32, value)));
  } else if (width == 32) {
    value = shuffle(value);
  } else {
    KILN_CHECK(width == 64, "a value of ", width, " bits");
    const Value by = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    const Value low = shuffle(arith::TruncIOp::create(b, i32, value));
    const Value high = shuffle(arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, value, by)));
    const Value above = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, bits, high), by);
    value = arith::OrIOp::create(b, above, arith::ExtUIOp::create(b, bits, low));
  }
  return is_float ? arith::BitcastOp::create(b, type, value).getResult() : value;
}

}  // namespace

Value LanesOfWarp(CodeBuilder& code, Value thread, int64_t threads) {
  const Value all = Constant32(code, -1);
  const int64_t rest = threads % kWarp;
  if (rest == 0) return all;
  const Value some = Constant32(code, (int64_t{1} << rest) - 1);
  if (threads < kWarp) return some;
  const Value in_last =
      arith::CmpIOp::create(code.b(), arith::CmpIPredicate::uge, thread, Constant32(code, threads - rest));
  return arith::SelectOp::create(code.b(), in_last, some, all);
}

Value ThreadReduction::Combine(Values& values, Fold fold) {
  const int64_t lanes = LanesAcross(kernel_, axes_);
  int64_t threads = 1;
  for (const size_t axis : axes_) threads *= kernel_.sizes[axis];
  CombineLanes(lanes, values, fold);
  if (lanes < threads) CombineThroughMemory(lanes, values, fold);
  return stores_;
}

Value ThreadReduction::Shuffle(Value value, int64_t distance) {
  const auto shuffle = [&](Value part) -> Value {
    return nvvm::ShflOp::create(b_, b_.getI32Type(), LanesOfWarp(code_, thread_, kernel_.threads()), part,
                                Constant32(code_, distance), Constant32(code_, kWarp - 1),
                                nvvm::ShflKind::bfly, mlir::UnitAttr());
  };
  return OfLanes(b_, value.getType(),
                 [&](int64_t lane) { return InParts(code_, LaneOf(b_, value, lane), shuffle); });
}

// Emits the combination of the values of `lanes` adjacent threads of a warp by exchanges at distance 1, 2, 4 and so on.
// Each thread ends with the combination of all.
void ThreadReduction::CombineLanes(int64_t lanes, Values& values, Fold fold) {
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    Values others;
    for (const Value value : values) others.push_back(Shuffle(value, distance));
    values = fold(values, others);
  }
}

Value ThreadReduction::PlaceOf(const Exchange& exchange, Value slot, int64_t lane) {
  if (lane == 0) return slot;
  return arith::AddIOp::create(b_, slot, code_.ConstantIndex(lane * exchange.slots));
}

// Emits the store of a value to a slot of shared memory, through which threads exchange values. An i1 takes a byte.
void ThreadReduction::Put(Value value, const Exchange& exchange, Value slot) {
  for (int64_t lane = 0; lane < LanesOf(exchange.type); ++lane) {
    Value stored = LaneOf(b_, value, lane);
    if (stored.getType().isInteger(1)) stored = arith::ExtUIOp::create(b_, b_.getI8Type(), stored);
    mlir::memref::StoreOp::create(b_, stored, exchange.memory,
                                  mlir::ValueRange{PlaceOf(exchange, slot, lane)});
  }
}

Value ThreadReduction::Get(const Exchange& exchange, Value slot) {
  return OfLanes(b_, exchange.type, [&](int64_t lane) -> Value {
    const Value loaded =
        mlir::memref::LoadOp::create(b_, exchange.memory, mlir::ValueRange{PlaceOf(exchange, slot, lane)});
    if (!mlir::getElementTypeOrSelf(exchange.type).isInteger(1)) return loaded;
    return arith::TruncIOp::create(b_, b_.getI1Type(), loaded);
  });
}

// Emits the combination of values through shared memory. The first of each group of `lanes` adjacent threads puts its
// values into the group's slot. Then each thread folds the slots of all groups along the reduced axes. A barrier before
// lets threads finish reading from an earlier exchange.
void ThreadReduction::CombineThroughMemory(int64_t lanes, Values& values, Fold fold) {
  const int64_t slots = kernel_.threads() / lanes;
  llvm::SmallVector<Exchange> exchanges;
  int64_t offset = kernel_.exchange_offset();
  for (const Value value : values) {
    const mlir::Type type = value.getType(), scalar = mlir::getElementTypeOrSelf(type);
    const int64_t count = slots * LanesOf(type);
    exchanges.push_back(
        {SharedMemory(code_, scalar.isInteger(1) ? b_.getI8Type() : scalar, count, offset), type, slots});
    offset += count * kSlot;
  }
  const auto get = [&](Value at) {
    Values got;
    for (const Exchange& exchange : exchanges) got.push_back(Get(exchange, at));
    return got;
  };
  const Value thread = arith::IndexCastUIOp::create(b_, b_.getIndexType(), thread_);
  const Value slot = arith::DivUIOp::create(b_, thread, code_.ConstantIndex(lanes));
  const Value lane = arith::RemUIOp::create(b_, thread, code_.ConstantIndex(lanes));
  nvvm::BarrierOp::create(b_);
  const Value is_first = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, lane, code_.ConstantIndex(0));
  auto branch = mlir::scf::IfOp::create(b_, is_first, /*withElseRegion=*/false);
  {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    for (size_t r = 0; r < values.size(); ++r) Put(values[r], exchanges[r], slot);
  }
  nvvm::BarrierOp::create(b_);

  Value first;  // the slot of the group that has 0 on the axes
  const std::vector<Digit> digits = DigitsOf(lanes, slot, first);
  int64_t count = 1;
  for (const Digit& digit : digits) count *= digit.groups;
  auto loop = mlir::scf::ForOp::create(b_, code_.ConstantIndex(1), code_.ConstantIndex(count),
                                       code_.ConstantIndex(1), mlir::ValueRange(get(first)));
  {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    Value at = first, rest = loop.getInductionVar();
    for (const auto& [groups, distance] : digits) {
      const Value digit = arith::RemUIOp::create(b_, rest, code_.ConstantIndex(groups));
      at = arith::AddIOp::create(b_, at, arith::MulIOp::create(b_, digit, code_.ConstantIndex(distance)));
      rest = arith::DivUIOp::create(b_, rest, code_.ConstantIndex(groups));
    }
    const Values so_far(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    mlir::scf::YieldOp::create(b_, fold(so_far, get(at)));
  }
  values.assign(loop.getResults().begin(), loop.getResults().end());
}

std::vector<ThreadReduction::Digit> ThreadReduction::DigitsOf(int64_t lanes, Value slot, Value& first) {
  std::vector<Digit> digits;
  int64_t distance = 1;
  first = slot;
  for (size_t axis = 0; axis < kThreadAxes; ++axis) {
    const int64_t groups = axis == 0 ? kernel_.sizes[0] / lanes : kernel_.sizes[axis];
    if (absl::c_linear_search(axes_, axis) && groups > 1) {
      digits.push_back({groups, distance});
      Value number = numbers_[axis];
      if (axis == 0) number = arith::DivUIOp::create(b_, number, code_.ConstantIndex(lanes));
      first =
          arith::SubIOp::create(b_, first, arith::MulIOp::create(b_, number, code_.ConstantIndex(distance)));
    }
    distance *= groups;
  }
  return digits;
}

}  // namespace kiln
