#include "backends/import/foreign/expand.h"

#include "backends/import/foreign/tensor_loops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace tensor = mlir::tensor;

llvm::ArrayRef<int64_t> ShapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

bool IsStatic(mlir::Value value) {
  const auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

int64_t Integer(mlir::Operation* op, llvm::StringRef name, int64_t otherwise) {
  const auto attribute = op->getAttrOfType<mlir::IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

bool Flag(mlir::Operation* op, llvm::StringRef name) {
  const auto attribute = op->getAttrOfType<mlir::BoolAttr>(name);
  return attribute && attribute.getValue();
}

// Returns the operands of a tm_tensor operation after `ins` (which = 0) or `outs` (1); an empty list if the operation
// does not say which operands they are.
ValueList Segment(mlir::Operation* op, int which) {
  const auto sizes = op->getAttrOfType<mlir::DenseI32ArrayAttr>("operandSegmentSizes");
  if (!sizes || sizes.size() != 2) return {};
  const auto ins = static_cast<unsigned>(sizes[0]), outs = static_cast<unsigned>(sizes[1]);
  if (ins + outs != op->getNumOperands()) return {};
  return ValueList(which == 0 ? op->getOperands().take_front(ins) : op->getOperands().drop_front(ins));
}

// Copies the body of a region with one block to the insertion point, with `arguments` in place of its parameters, and
// returns the values that it yields. Elements are passed as tensors of rank 0 if the region takes such tensors, and
// come back as elements.
ValueList Inline(mlir::Region& region, TensorLoops& loops, mlir::ValueRange arguments) {
  mlir::Block& block = region.front();
  mlir::IRMapping map;
  for (auto [parameter, value] : llvm::zip_equal(block.getArguments(), arguments)) {
    const bool wrapped =
        mlir::isa<mlir::TensorType>(parameter.getType()) && parameter.getType() != value.getType();
    map.map(parameter, wrapped ? mlir::Value(tensor::FromElementsOp::create(loops.b, loops.loc,
                                                                            parameter.getType(), value))
                               : value);
  }
  // Copies all operations but the last one, which ends the region. It is of an unknown dialect, so MLIR does not know
  // it as a terminator.
  for (mlir::Operation& op : llvm::make_range(block.begin(), std::prev(block.end()))) loops.b.clone(op, map);
  ValueList results;
  for (const mlir::Value value : block.back().getOperands()) {
    const mlir::Value copy = map.lookupOrDefault(value);
    results.push_back(mlir::isa<mlir::TensorType>(copy.getType()) ? loops.At(copy, {}) : copy);
  }
  return results;
}

bool HasOneBlock(mlir::Operation* op, unsigned regions) {
  return op->getNumRegions() == regions &&
         llvm::all_of(op->getRegions(), [](mlir::Region& region) { return region.hasOneBlock(); });
}

// --- Each function below expands one kind of operation, here stablehlo.while. It returns false, and changes nothing,
// if the operation has a form that it does not recognize.

bool ExpandWhile(mlir::Operation* op) {
  if (!HasOneBlock(op, 2)) return false;
  mlir::OpBuilder b(op);
  const mlir::Location loc = op->getLoc();
  auto loop = mlir::scf::WhileOp::create(b, loc, op->getResultTypes(), op->getOperands());
  loop.getBefore().takeBody(op->getRegion(0));
  loop.getAfter().takeBody(op->getRegion(1));
  mlir::Operation* condition = &loop.getBefore().front().back();
  b.setInsertionPoint(condition);
  const mlir::Value holds = tensor::ExtractOp::create(b, loc, condition->getOperand(0), mlir::ValueRange());
  mlir::scf::ConditionOp::create(b, loc, holds, loop.getBefore().front().getArguments());
  condition->erase();
  mlir::Operation* end = &loop.getAfter().front().back();
  b.setInsertionPoint(end);
  mlir::scf::YieldOp::create(b, loc, end->getOperands());
  end->erase();
  op->replaceAllUsesWith(loop.getResults());
  op->erase();
  return true;
}

// --- stablehlo.sort and tm_tensor.sort: a merge sort

// Emits the condition that element b, which comes later in the row than element a, must be put before a.
using TakesRight = llvm::function_ref<mlir::Value(mlir::ValueRange, mlir::ValueRange)>;

class Sorter {
 public:
  Sorter(TensorLoops& loops, int64_t dim, llvm::ArrayRef<int64_t> shape, TakesRight takes_right)
      : l_(loops), dim_(dim), shape_(shape), length_(shape[dim]), takes_right_(takes_right) {}

  // Emits a merge sort of all rows: each pass merges sorted runs of 1, 2, 4, ... elements from one set of tensors to
  // another. Returns the sorted tensors.
  ValueList Run(const ValueList& tensors) {
    ValueList carried = tensors;
    for (const mlir::Value value : tensors) {
      const auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
      carried.push_back(tensor::EmptyOp::create(l_.b, l_.loc, type.getShape(), type.getElementType()));
    }
    carried.push_back(l_.Index(1));
    int64_t passes = 0;
    while ((int64_t{1} << passes) < length_) ++passes;
    const size_t count = tensors.size();
    ValueList sorted =
        l_.For(l_.Index(0), l_.Index(passes), l_.Index(1), carried, [&](mlir::Value, mlir::ValueRange c) {
          const mlir::Value width = c.back();
          ValueList next = Pass(c.take_front(count), c.slice(count, count), width);
          next.append(c.begin(), c.begin() + static_cast<int64_t>(count));
          next.push_back(l_.Add(width, width));
          return next;
        });
    sorted.truncate(count);
    return sorted;
  }

 private:
  ValueList Pass(mlir::ValueRange from, mlir::ValueRange to, mlir::Value width) {
    llvm::SmallVector<int64_t> rows(shape_);
    rows.erase(rows.begin() + dim_);
    return l_.ForAll(rows, to, [&](ValueList row, mlir::ValueRange rest) {
      const mlir::Value step = l_.Add(width, width), end = l_.Index(length_);
      return l_.For(l_.Index(0), end, step, rest, [&](mlir::Value low, mlir::ValueRange values) {
        const mlir::Value middle = l_.Least(l_.Add(low, width), end);
        return Merge(from, values, row, low, middle, l_.Least(l_.Add(low, step), end));
      });
    });
  }

  ValueList Merge(mlir::ValueRange from, mlir::ValueRange to, const ValueList& row, mlir::Value low,
                  mlir::Value middle, mlir::Value high) {
    ValueList carried(to);
    carried.push_back(low);
    carried.push_back(middle);
    ValueList merged = l_.For(low, high, l_.Index(1), carried, [&](mlir::Value k, mlir::ValueRange c) {
      const mlir::Value left = c[c.size() - 2], right = c.back(), last = l_.Index(length_ - 1);
      const mlir::Value left_at = l_.Least(left, last), right_at = l_.Least(right, last);
      const mlir::Value wins = takes_right_(Read(from, row, left_at), Read(from, row, right_at));
      const mlir::Value no = arith::ConstantOp::create(l_.b, l_.loc, l_.b.getBoolAttr(false));
      const mlir::Value yes = arith::ConstantOp::create(l_.b, l_.loc, l_.b.getBoolAttr(true));
      const mlir::Value taken =
          l_.Select(l_.Less(right, high), l_.Select(l_.Less(left, middle), wins, yes), no);
      const ValueList picked = Read(from, row, l_.Select(taken, right_at, left_at));
      ValueList next;
      for (size_t i = 0; i < from.size(); ++i) next.push_back(l_.Put(picked[i], c[i], At(row, k)));
      next.push_back(l_.Add(left, l_.Select(taken, l_.Index(0), l_.Index(1))));
      next.push_back(l_.Add(right, l_.Select(taken, l_.Index(1), l_.Index(0))));
      return next;
    });
    merged.truncate(from.size());
    return merged;
  }

  ValueList At(const ValueList& row, mlir::Value position) const {
    ValueList index = row;
    index.insert(index.begin() + dim_, position);
    return index;
  }

  ValueList Read(mlir::ValueRange from, const ValueList& row, mlir::Value position) {
    ValueList values;
    for (const mlir::Value value : from) values.push_back(l_.At(value, At(row, position)));
    return values;
  }

  TensorLoops& l_;
  const int64_t dim_;
  const llvm::ArrayRef<int64_t> shape_;
  const int64_t length_;
  const TakesRight takes_right_;
};

// Returns (a0, b0, a1, b1, ...), the arguments of a sort's comparator: elements a and b of each sorted tensor.
ValueList Pairs(mlir::ValueRange a, mlir::ValueRange b) {
  ValueList pairs;
  for (size_t i = 0; i < a.size(); ++i) {
    pairs.push_back(a[i]);
    pairs.push_back(b[i]);
  }
  return pairs;
}

// Expands an operation that sorts rows by a comparator region. `strict`: the comparator says whether its first element
// comes before its second, as in stablehlo. Otherwise it says whether the two are in order, as in tm_tensor.
bool ExpandSort(mlir::Operation* op, bool strict) {
  const ValueList tensors = strict ? ValueList(op->getOperands()) : Segment(op, 1);
  if (!HasOneBlock(op, 1) || tensors.empty() || tensors.size() != op->getNumResults()) return false;
  if (!llvm::all_of(tensors, [&](mlir::Value t) { return IsStatic(t) && ShapeOf(t) == ShapeOf(tensors[0]); }))
    return false;
  const auto rank = static_cast<int64_t>(ShapeOf(tensors[0]).size());
  int64_t dim = Integer(op, "dimension", -1);
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank || op->getRegion(0).getNumArguments() != 2 * tensors.size()) return false;
  mlir::OpBuilder b(op);
  TensorLoops loops(b, op->getLoc());
  const auto takes_right = [&](mlir::ValueRange left, mlir::ValueRange right) -> mlir::Value {
    if (strict) return Inline(op->getRegion(0), loops, Pairs(right, left))[0];
    const mlir::Value in_order = Inline(op->getRegion(0), loops, Pairs(left, right))[0];
    const mlir::Value yes = arith::ConstantOp::create(b, loops.loc, b.getBoolAttr(true));
    return arith::XOrIOp::create(b, loops.loc, in_order, yes);
  };
  op->replaceAllUsesWith(Sorter(loops, dim, ShapeOf(tensors[0]), takes_right).Run(tensors));
  op->erase();
  return true;
}

// --- tm_tensor.scan, topk and scatter, which become loops over single elements

// Expands tm_tensor.scan to loops that compute out[i] = f(out[i - 1], in[i]), or f(out[i - 1], in[i - 1]) if not
// inclusive. out[0] is in[0], or if not inclusive the accumulator. The new accumulator is the last element of out.
bool ExpandScan(mlir::Operation* op) {
  const ValueList ins = Segment(op, 0), outs = Segment(op, 1);
  if (!HasOneBlock(op, 1) || ins.size() != 1 || outs.size() != 2 || op->getNumResults() != 2) return false;
  if (!IsStatic(ins[0]) || !IsStatic(outs[0]) || !IsStatic(outs[1])) return false;
  const int64_t dim = Integer(op, "dimension", -1);
  llvm::SmallVector<int64_t> rows(ShapeOf(ins[0]));
  if (dim < 0 || dim >= static_cast<int64_t>(rows.size())) return false;
  const int64_t length = rows[dim];
  rows.erase(rows.begin() + dim);
  const bool inclusive = Flag(op, "inclusive");
  mlir::OpBuilder b(op);
  TensorLoops l(b, op->getLoc());
  const auto with = [&](ValueList row, mlir::Value i) {
    row.insert(row.begin() + dim, i);
    return row;
  };
  const ValueList results = l.ForAll(rows, outs, [&](ValueList row, mlir::ValueRange carried) {
    const mlir::Value first = inclusive ? l.At(ins[0], with(row, l.Index(0))) : l.At(carried[1], row);
    const mlir::Value out = l.Put(first, carried[0], with(row, l.Index(0)));
    const ValueList scanned =
        l.For(l.Index(1), l.Index(length), l.Index(1), {out, first}, [&](mlir::Value i, mlir::ValueRange c) {
          const mlir::Value before = l.Add(i, l.Index(-1));
          const mlir::Value next =
              Inline(op->getRegion(0), l, {c[1], l.At(ins[0], with(row, inclusive ? i : before))})[0];
          return ValueList{l.Put(next, c[0], with(row, i)), next};
        });
    return ValueList{scanned[0], l.Put(scanned[1], carried[1], row)};
  });
  op->replaceAllUsesWith(results);
  op->erase();
  return true;
}

// Expands tm_tensor.topk to loops that insert each element of a row into a sorted list of the k best so far: before the
// first that it beats, if any, and the rest moves on. So of equal elements the first stays in front if the comparison
// is strict.
bool ExpandTopk(mlir::Operation* op) {
  const ValueList ins = Segment(op, 0), outs = Segment(op, 1);
  if (!HasOneBlock(op, 1) || ins.empty() || outs.size() != 2 || op->getNumResults() != 2) return false;
  if (!llvm::all_of(ins, IsStatic) || !llvm::all_of(outs, IsStatic)) return false;
  const int64_t dim = Integer(op, "dimension", -1);
  llvm::SmallVector<int64_t> rows(ShapeOf(ins[0]));
  if (dim < 0 || dim >= static_cast<int64_t>(rows.size())) return false;
  const int64_t length = rows[dim], best = ShapeOf(outs[0])[dim];
  rows.erase(rows.begin() + dim);
  mlir::OpBuilder b(op);
  TensorLoops l(b, op->getLoc());
  const mlir::Type index_type = mlir::cast<mlir::RankedTensorType>(outs[1].getType()).getElementType();
  const auto with = [&](ValueList row, mlir::Value i) {
    row.insert(row.begin() + dim, i);
    return row;
  };
  const ValueList results = l.ForAll(rows, outs, [&](ValueList row, mlir::ValueRange kept) {
    return l.For(l.Index(0), l.Index(length), l.Index(1), kept, [&](mlir::Value i, mlir::ValueRange lists) {
      ValueList carried(lists);
      carried.push_back(l.At(ins[0], with(row, i)));
      carried.push_back(ins.size() > 1 ? l.At(ins[1], with(row, i))
                                       : mlir::Value(arith::IndexCastOp::create(b, l.loc, index_type, i)));
      carried.push_back(arith::ConstantOp::create(b, l.loc, b.getBoolAttr(false)));  // it is in the list
      ValueList next =
          l.For(l.Index(0), l.Index(best), l.Index(1), carried, [&](mlir::Value k, mlir::ValueRange c) {
            const mlir::Value there = l.At(c[0], with(row, k)), there_at = l.At(c[1], with(row, k));
            const mlir::Value beats = Inline(op->getRegion(0), l, {c[2], there})[0];
            const mlir::Value moves = arith::OrIOp::create(b, l.loc, c[4], beats);
            return ValueList{l.Put(l.Select(moves, c[2], there), c[0], with(row, k)),
                             l.Put(l.Select(moves, c[3], there_at), c[1], with(row, k)),
                             l.Select(moves, there, c[2]), l.Select(moves, there_at, c[3]), moves};
          });
      next.truncate(2);
      return next;
    });
  });
  op->replaceAllUsesWith(results);
  op->erase();
  return true;
}

// Expands tm_tensor.scatter to loops that compute out[..] = f(update[..], out[..]) at the places that the rows of
// indices name. Indices out of bounds write nothing.
bool ExpandScatter(mlir::Operation* op) {
  const ValueList ins = Segment(op, 0), outs = Segment(op, 1);
  if (!HasOneBlock(op, 1) || ins.size() != 2 || outs.size() != 1 || op->getNumResults() != 1) return false;
  if (!llvm::all_of(ins, IsStatic) || !IsStatic(outs[0]) || ShapeOf(ins[1]).size() != 2) return false;
  const llvm::ArrayRef<int64_t> updates = ShapeOf(ins[0]), shape = ShapeOf(outs[0]);
  const int64_t depth = ShapeOf(ins[1])[1];
  llvm::SmallVector<int64_t> dims;
  if (const auto map = op->getAttrOfType<mlir::DenseI64ArrayAttr>("dimension_map")) {
    dims.assign(map.asArrayRef().begin(), map.asArrayRef().end());
  } else {
    for (int64_t d = 0; d < depth; ++d) dims.push_back(d);
  }
  if (static_cast<int64_t>(dims.size()) != depth || updates.empty() || updates.size() > shape.size() + 1)
    return false;
  mlir::OpBuilder b(op);
  TensorLoops l(b, op->getLoc());
  const ValueList results = l.ForAll(updates, outs, [&](ValueList point, mlir::ValueRange carried) {
    ValueList index(shape.size(), l.Index(0));
    const size_t shift = shape.size() - updates.size();  // the last dimensions of both are the same
    for (size_t d = 1; d < updates.size(); ++d) index[d + shift] = point[d];
    mlir::Value inside = arith::ConstantOp::create(b, l.loc, b.getBoolAttr(true));
    for (int64_t i = 0; i < depth; ++i) {
      mlir::Value at = l.At(ins[1], {point[0], l.Index(i)});
      if (!at.getType().isIndex()) at = arith::IndexCastOp::create(b, l.loc, b.getIndexType(), at);
      index[dims[i]] = l.Add(index[dims[i]], at);
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      const mlir::Value fits =
          arith::AndIOp::create(b, l.loc, l.Less(l.Index(-1), index[d]), l.Less(index[d], l.Index(shape[d])));
      inside = arith::AndIOp::create(b, l.loc, inside, fits);
      index[d] = arith::MaxSIOp::create(b, l.loc, l.Least(index[d], l.Index(shape[d] - 1)), l.Index(0));
    }
    const mlir::Value old = l.At(carried[0], index);
    const mlir::Value changed = Inline(op->getRegion(0), l, {l.At(ins[0], point), old})[0];
    return ValueList{l.Put(l.Select(inside, changed, old), carried[0], index)};
  });
  op->replaceAllUsesWith(results);
  op->erase();
  return true;
}

}  // namespace

void ExpandForeign(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> found;
  module.walk<mlir::WalkOrder::PostOrder>([&](mlir::Operation* op) {
    if (!op->isRegistered()) found.push_back(op);
  });
  for (mlir::Operation* op : found) {
    const llvm::StringRef name = op->getName().getStringRef();
    if (name == "stablehlo.while") ExpandWhile(op);
    if (name == "stablehlo.sort") ExpandSort(op, /*strict=*/true);
    if (name == "tm_tensor.sort") ExpandSort(op, /*strict=*/false);
    if (name == "tm_tensor.scan") ExpandScan(op);
    if (name == "tm_tensor.topk") ExpandTopk(op);
    if (name == "tm_tensor.scatter") ExpandScatter(op);
  }
}

}  // namespace kiln
