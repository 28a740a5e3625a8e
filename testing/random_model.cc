#include "testing/random_model.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lang/base/random.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

constexpr DType kF32 = DType::kF32;
constexpr int64_t kRows = 4;
constexpr int64_t kExact = int64_t{1} << 23;  // whole numbers up to this are exact in any order of a sum
constexpr int64_t kMostGiven = 4, kMostWeight = 2 * kMostGiven;

void AppendNumbers(Dice& dice, int64_t count, std::string& bytes) {
  for (int64_t n = 0; n < count; ++n) {
    const float value = static_cast<float>(dice.Below(2 * kMostGiven + 1) - kMostGiven);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

class Maker {
 public:
  explicit Maker(uint64_t seed) : dice_(Engine({seed})), b_("model") {}

  Program Make() {
    const int inputs = 1 + Below(2), steps = 2 + Below(8);
    for (int n = 0; n < inputs; ++n) AddValue(b_.Input(Name("x"), kF32, {kRows, Width()}), kMostGiven);
    if (dice_.Flip(0.2)) AddAssertion(values_[0]);
    for (int n = 0; n < steps; ++n) AddStep();
    b_.MakeOutput(values_.back().buffer);
    for (Value& value : values_) {
      if (!value.is_input && value.buffer != values_.back().buffer && (!value.is_read || dice_.Flip(0.1)))
        b_.MakeOutput(value.buffer);
    }
    return b_.Finish();
  }

 private:
  struct Value {
    Id buffer;
    int64_t width;
    int64_t most;  // the absolute value of each element is at most this
    bool is_input, is_read = false;
  };

  int Below(int n) { return static_cast<int>(dice_.Below(n)); }
  int64_t Width() { return 1 + dice_.Below(9); }
  std::string Name(absl::string_view kind) { return absl::StrCat(kind, count_++); }

  void AddValue(Id buffer, int64_t most) {
    const auto shape = b_.program().Dims(b_.program().buffers[buffer].shape);
    const bool is_input = b_.program().buffers[buffer].role != Role::kTemporary;
    values_.push_back({buffer, shape[1].Known(), most, is_input});
  }

  Value& Any() {
    Value& value = values_[Below(static_cast<int>(values_.size()))];
    value.is_read = true;
    return value;
  }

  Id Temporary(int64_t width) { return b_.Temporary(Name("t"), kF32, {kRows, width}); }

  void AddStep() {
    using Step = void (Maker::*)();
    constexpr Step kSteps[] = {&Maker::AddProduct,       &Maker::AddProduct, &Maker::AddSum,
                               &Maker::AddConcatenation, &Maker::AddSlice,   &Maker::AddStack,
                               &Maker::AddClip,          &Maker::AddMasked,  &Maker::AddVariance,
                               &Maker::AddRows,          &Maker::AddNorm,    &Maker::AddConvolution};
    (this->*kSteps[Below(std::size(kSteps))])();
  }

  void AddProduct() { AddDense(Width()); }

  // Adds a constant, with random numbers as bytes or without bytes (the caller passes it). Returns its buffer.
  Id AddConstant(const std::vector<Extent>& shape) {
    std::string bytes;
    int64_t elements = 1;
    for (const Extent extent : shape) elements *= extent.Known();
    if (dice_.Flip(0.3)) AppendNumbers(dice_, elements, bytes);
    return b_.Constant(Name("w"), kF32, shape, std::move(bytes));
  }

  // Returns the value. If sums of `factor` times its elements would not be exact, returns a new one, whose block clamps
  // the elements to -kMostGiven .. kMostGiven.
  Value Small(const Value& from, int64_t factor) {
    if (from.most * factor <= kExact) return from;
    const Id out = Temporary(from.width);
    b_.Compute(Name("clamp"), {{"i", kRows}, {"j", from.width}}, {out, {i_, j_}},
               b_.Make(Op::kMax, kF32,
                       b_.Make(Op::kMin, kF32, b_.Load(from.buffer, {i_, j_}), b_.Float(kF32, kMostGiven)),
                       b_.Float(kF32, -kMostGiven)));
    AddValue(out, kMostGiven);
    values_.back().is_read = true;
    return values_.back();
  }

  // Adds a product of a value and weights (new or used before), then up to 3 affine blocks, and often max(x, 0).
  void AddDense(int64_t width) {
    const int affine = Below(4);
    const Value any = Any();
    int64_t factor = kMostWeight * any.width + 1;
    for (int n = 0; n < affine; ++n) factor *= kMostGiven + 1;
    const bool scaled = dice_.Flip(0.2);
    if (scaled) factor *= 2 * kMostGiven;
    const Value from = Small(any, factor);
    const Id operand = scaled ? AddScaled(from) : from.buffer;
    const int64_t most = from.most * factor;
    Id weights = kNone;
    for (const auto& [id, rows, columns] : weights_) {
      if (rows == from.width && dice_.Flip(0.5)) weights = id;
    }
    if (weights == kNone) {
      weights = dice_.Flip(0.3) ? AddTransposed(from.width, width) : AddConstant({from.width, width});
      weights_.push_back({weights, from.width, width});
    }
    const int64_t columns = b_.program().Dims(b_.program().buffers[weights].shape)[1].Known();
    const Id sums = Temporary(columns);
    b_.Reduce(Name("dense"), {{"i", kRows}, {"j", columns}, {"k", from.width, IterKind::kReduction}},
              Monoid::Kind::kSum, {sums, {i_, j_}},
              b_.Mul(b_.Load(operand, {i_, k_}), b_.Load(weights, {k_, j_})),
              dice_.Flip(0.2) ? b_.Load(b_.Constant(Name("bias"), kF32, {columns}), {j_}) : kNone);
    Id last = sums;
    for (int n = 0; n < affine; ++n) last = AddAffine(last, columns);
    AddRectified(last, columns, most);
  }

  // Makes the buffer a value of the model: as it is, or more often after a block max(x, 0).
  void AddRectified(Id value, int64_t columns, int64_t most) {
    if (dice_.Flip(0.3)) return AddValue(value, most);
    const Id out = Temporary(columns);
    b_.Compute(Name("relu"), {{"i", kRows}, {"j", columns}}, {out, {i_, j_}},
               b_.Make(Op::kMax, kF32, b_.Load(value, {i_, j_}), b_.Float(kF32, 0)));
    AddValue(out, most);
  }

  // Adds a convolution: rows are channels, and the window moves along columns in steps of 1 or 2. It sums over all
  // channels, or is depthwise. Often there are zeros around the columns.
  void AddConvolution() {
    const Value any = Any();
    const int64_t window = 1 + dice_.Below(std::min<int64_t>(any.width, 3));
    const int64_t border = dice_.Flip(0.5) ? window / 2 : 0, step = 1 + dice_.Below(2);
    const int64_t factor = kMostWeight * kRows * window;
    const Value from = Small(any, factor);
    const Id operand = border == 0 ? from.buffer : AddBorder(from, border);
    const int64_t columns = (from.width + 2 * border - window) / step + 1;
    const Id sums = Temporary(columns);
    const bool depthwise = dice_.Flip(0.4);
    std::vector<Builder::IterSpec> iters{{"i", kRows}, {"j", columns}, {"p", window, IterKind::kReduction}};
    if (!depthwise) iters.push_back({"c", kRows, IterKind::kReduction});
    const IndexSum row = depthwise ? i_ : Builder::Iter(3), column = j_ * step + k_;
    const Id weight = depthwise ? b_.Load(AddConstant({kRows, window}), {i_, k_})
                                : b_.Load(AddConstant({kRows, kRows, window}), {i_, row, k_});
    b_.Reduce(Name("convolution"), iters, Monoid::Kind::kSum, {sums, {i_, j_}},
              b_.Mul(b_.Load(operand, {row, column}), weight));
    AddRectified(sums, columns, from.most * factor);
  }

  Id AddBorder(const Value& from, int64_t border) {
    const Id out = Temporary(from.width + 2 * border);
    const IndexSum inside = j_ + IndexSum::Constant(-border);
    b_.Compute(Name("pad"), {{"i", kRows}, {"j", from.width + 2 * border}}, {out, {i_, j_}},
               b_.Within({{inside, from.width}}, b_.Load(from.buffer, {i_, inside}), b_.Float(kF32, 0)));
    return out;
  }

  // Adds the block max(from, 0) * scale[column] + shift[column] with two constants. Returns its buffer.
  Id AddScaled(const Value& from) {
    const Id out = Temporary(from.width);
    const Id scale = b_.Constant(Name("c"), kF32, {from.width}),
             shift = b_.Constant(Name("c"), kF32, {from.width});
    const Id rectified = b_.Make(Op::kMax, kF32, b_.Load(from.buffer, {i_, j_}), b_.Float(kF32, 0));
    b_.Compute(Name("scaled"), {{"i", kRows}, {"j", from.width}}, {out, {i_, j_}},
               b_.Add(b_.Mul(rectified, b_.Load(scale, {j_})), b_.Load(shift, {j_})));
    return out;
  }

  // Adds `of` plus, minus or times a constant for each column, or the constant minus `of`. Returns the result.
  Id AddAffine(Id of, int64_t columns) {
    const Id by = b_.Load(b_.Constant(Name("c"), kF32, {columns}), {j_}), value = b_.Load(of, {i_, j_});
    const Op op = std::vector<Op>{Op::kAdd, Op::kSub, Op::kMul}[Below(3)];
    const Id out = Temporary(columns);
    b_.Compute(Name("affine"), {{"i", kRows}, {"j", columns}}, {out, {i_, j_}},
               dice_.Flip(0.2) ? b_.Make(op, kF32, by, value) : b_.Make(op, kF32, value, by));
    return out;
  }

  // Adds weights that are computed from a constant alone: transposed, and then often doubled. Returns their buffer.
  Id AddTransposed(int64_t rows, int64_t columns) {
    const Id given = AddConstant({columns, rows});
    Id out = b_.Temporary(Name("wt"), kF32, {rows, columns});
    b_.Compute(Name("transpose"), {{"i", rows}, {"j", columns}}, {out, {i_, j_}}, b_.Load(given, {j_, i_}));
    if (dice_.Flip(0.5)) return out;
    const Id twice = b_.Temporary(Name("wd"), kF32, {rows, columns});
    b_.Compute(Name("double"), {{"i", rows}, {"j", columns}}, {twice, {i_, j_}},
               b_.Add(b_.Load(out, {i_, j_}), b_.Load(out, {i_, j_})));
    return twice;
  }

  // Adds the sum of a value and another one of the same width, or the value itself, as in a residual connection.
  void AddSum() {
    const Value a = Small(Any(), 2);
    Id other = a.buffer;
    int64_t most = 2 * a.most;
    for (Value& value : values_) {
      if (value.width != a.width || value.most > kExact / 2 || !dice_.Flip(0.7)) continue;
      other = value.buffer;
      most = a.most + value.most;
      value.is_read = true;
    }
    const Id out = Temporary(a.width);
    b_.Compute(Name("add"), {{"i", kRows}, {"j", a.width}}, {out, {i_, j_}},
               b_.Add(b_.Load(a.buffer, {i_, j_}), b_.Load(other, {i_, j_})));
    AddValue(out, most);
  }

  // Adds a concatenation of two values along columns, written by two blocks or by one.
  void AddConcatenation() {
    const Value a = Any(), c = Any();
    const Id out = Temporary(a.width + c.width);
    const IndexSum right = j_ + IndexSum::Constant(-a.width);
    AddValue(out, std::max(a.most, c.most));
    if (dice_.Flip(0.3)) {
      const Id other = b_.Within({{right, c.width}}, b_.Load(c.buffer, {i_, right}), b_.Float(kF32, 0));
      b_.Compute(Name("concat"), {{"i", kRows}, {"j", a.width + c.width}}, {out, {i_, j_}},
                 b_.Within({{j_, a.width}}, b_.Load(a.buffer, {i_, j_}), other));
      return;
    }
    b_.Compute(Name("left"), {{"i", kRows}, {"j", a.width}}, {out, {i_, j_}}, b_.Load(a.buffer, {i_, j_}));
    b_.Compute(Name("right"), {{"i", kRows}, {"j", c.width}}, {out, {i_, j_ + IndexSum::Constant(a.width)}},
               b_.Load(c.buffer, {i_, j_}));
  }

  // Adds a slice of a value: some columns, one after another or every second one, as they are or doubled.
  void AddSlice() {
    const Value from = Small(Any(), 2);
    const int64_t step = from.width > 2 && dice_.Flip(0.3) ? 2 : 1,
                  width = 1 + dice_.Below((from.width + step - 1) / step);
    const int64_t first = dice_.Below(from.width - (width - 1) * step);
    const Id out = Temporary(width);
    const Id value = b_.Load(from.buffer, {i_, j_ * step + IndexSum::Constant(first)});
    b_.Compute(Name("slice"), {{"i", kRows}, {"j", width}}, {out, {i_, j_}},
               dice_.Flip(0.5) ? value : b_.Add(value, value));
    AddValue(out, 2 * from.most);
  }

  // Adds a stack: two or three values of one width in one buffer, and its readers. Sometimes adds a second stack of the
  // same values and one more.
  void AddStack() {
    AddDense(dice_.Flip(0.3) ? 3 : 8);
    values_.back().is_read = true;
    std::vector<Value> parts = {values_.back()};
    const int count = 2 + Below(2);
    while (std::ssize(parts) < count) parts.push_back(PartOfStack(parts[0]));
    AddStackOf(parts);
    if (!dice_.Flip(0.4)) return;
    parts.push_back(PartOfStack(parts[0]));
    AddStackOf(parts);
  }

  // Returns a value of the same width as `first`, often a new product.
  Value PartOfStack(const Value& first) {
    if (dice_.Flip(0.6)) AddDense(first.width);
    std::vector<Value*> fitting;
    for (Value& value : values_)
      if (value.width == first.width) fitting.push_back(&value);
    Value& part = *(dice_.Flip(0.6) ? fitting.back() : fitting[Below(static_cast<int>(fitting.size()))]);
    part.is_read = true;
    return part;
  }

  // A buffer of several values, and how it is indexed: by value and row, by row, or by element.
  struct Stack {
    Id buffer = kNone;
    int rank = 3;
    int64_t columns = 0;

    // Returns the index of element `j` in row `i` of value `n`. If n is 0 and rank < 3, `i` is a row of the stack.
    std::vector<IndexSum> At(int64_t n, const IndexSum& i, const IndexSum& j) const {
      if (rank == 3) return {IndexSum::Constant(n), i, j};
      const IndexSum row = i + IndexSum::Constant(n * kRows);
      return rank == 2 ? std::vector{row, j} : std::vector{row * columns + j};
    }
  };

  void AddStackOf(const std::vector<Value>& parts) {
    const int64_t count = std::ssize(parts), columns = parts[0].width;
    Stack stack{.rank = 1 + Below(3), .columns = columns};
    const std::vector<Extent> shapes[] = {
        {count * kRows * columns}, {count * kRows, columns}, {count, kRows, columns}};
    stack.buffer = b_.Temporary(Name("stack"), kF32, shapes[stack.rank - 1]);
    if (stack.rank == 2 && dice_.Flip(0.5)) {
      PutAtOnce(stack, parts);
    } else {
      for (int64_t n = 0; n < count; ++n) Put(stack, n, parts[n]);
    }
    int64_t most = 0;
    for (const Value& part : parts) most = std::max(most, part.most);
    if (dice_.Flip(0.4)) return AddRowsOf(stack, count, most);
    Id greatest = kNone;
    for (int64_t n = 0; n < count; ++n) {
      const Id element = b_.Load(stack.buffer, stack.At(n, i_, j_));
      greatest = greatest == kNone ? element : b_.Make(Op::kMax, kF32, greatest, element);
    }
    const Id out = Temporary(columns);
    b_.Compute(Name("unstack"), {{"i", kRows}, {"j", columns}}, {out, {i_, j_}}, greatest);
    AddValue(out, most);
  }

  // Adds a block that puts a value at position `n` of a stack, as it is or as max(x, 0); sometimes with one iter.
  void Put(const Stack& stack, int64_t n, const Value& part) {
    const auto rectified = [&](Id element) {
      return dice_.Flip(0.2) ? b_.Make(Op::kMax, kF32, element, b_.Float(kF32, 0)) : element;
    };
    if (stack.rank == 1 && dice_.Flip(0.5)) {
      const IndexSum row{0, {{Source::Iter(0), 1, stack.columns, 0}}},
          column{0, {{Source::Iter(0), 1, 1, stack.columns}}};
      const int64_t elements = kRows * stack.columns;
      b_.Compute(Name("put"), {{"e", elements}}, {stack.buffer, {i_ + IndexSum::Constant(n * elements)}},
                 rectified(b_.Load(part.buffer, {row, column})));
      return;
    }
    b_.Compute(Name("put"), {{"i", kRows}, {"j", stack.columns}}, {stack.buffer, stack.At(n, i_, j_)},
               rectified(b_.Load(part.buffer, {i_, j_})));
  }

  // Adds one block that stores all values of a stack, as for a concatenation along the first dimension in a file.
  void PutAtOnce(const Stack& stack, const std::vector<Value>& parts) {
    Id value = b_.Float(kF32, 0);
    for (int64_t n = std::ssize(parts); n-- > 0;) {
      const IndexSum row = i_ + IndexSum::Constant(-n * kRows);
      value = b_.Within({{row, kRows}}, b_.Load(parts[n].buffer, {row, j_}), value);
    }
    b_.Compute(Name("concat"), {{"i", std::ssize(parts) * kRows}, {"j", stack.columns}},
               {stack.buffer, {i_, j_}}, value);
  }

  // Adds one to three values that are kRows rows of a stack each and may overlap.
  void AddRowsOf(const Stack& stack, int64_t count, int64_t most) {
    const int slices = 1 + Below(3);
    for (int n = 0; n < slices; ++n) {
      const Id out = Temporary(stack.columns);
      const IndexSum row = i_ + IndexSum::Constant(dice_.Below((count - 1) * kRows + 1));
      b_.Compute(Name("take"), {{"i", kRows}, {"j", stack.columns}}, {out, {i_, j_}},
                 b_.Load(stack.buffer,
                         stack.rank == 3 ? stack.At(dice_.Below(count), i_, j_) : stack.At(0, row, j_)));
      AddValue(out, most);
    }
  }

  // Adds products of each row with the same weights, as the steps of a recurrent network, forwards or backwards. Row n
  // of the result is the elementwise maximum of the products up to step n, and at least 0.
  void AddRows() {
    const Value any = Any();
    const int64_t factor = kMostWeight * any.width, columns = dice_.Flip(0.5) ? 16 : Width();
    const Value from = Small(any, factor);
    const Id weights = AddConstant({from.width, columns}), out = Temporary(columns);
    const bool backwards = dice_.Flip(0.3);
    Id state = kNone;
    for (int64_t step = 0; step < kRows; ++step) {
      const IndexSum row = IndexSum::Constant(backwards ? kRows - 1 - step : step);
      const Id sums = b_.Temporary(Name("row"), kF32, {columns});
      b_.Reduce(Name("step"), {{"j", columns}, {"k", from.width, IterKind::kReduction}}, Monoid::Kind::kSum,
                {sums, {i_}}, b_.Mul(b_.Load(from.buffer, {row, j_}), b_.Load(weights, {j_, i_})));
      const Id now = b_.Temporary(Name("state"), kF32, {columns}), sum = b_.Load(sums, {i_});
      b_.Compute(Name("recur"), {{"j", columns}}, {now, {i_}},
                 b_.Make(Op::kMax, kF32, sum, state == kNone ? b_.Float(kF32, 0) : b_.Load(state, {i_})));
      b_.Compute(Name("put"), {{"j", columns}}, {out, {row, i_}}, b_.Load(now, {i_}));
      state = now;
    }
    AddValue(out, from.most * factor);
  }

  // Adds a value: another value minus the greatest element of each of its rows.
  void AddNorm() {
    const Value from = Small(Any(), 2);
    const Id most = b_.Temporary(Name("m"), kF32, {kRows}), out = Temporary(from.width);
    b_.Reduce(Name("max"), {{"i", kRows}, {"j", from.width, IterKind::kReduction}}, Monoid::Kind::kMax,
              {most, {i_}}, b_.Load(from.buffer, {i_, j_}));
    b_.Compute(Name("sub"), {{"i", kRows}, {"j", from.width}}, {out, {i_, j_}},
               b_.Make(Op::kSub, kF32, b_.Load(from.buffer, {i_, j_}), b_.Load(most, {i_})));
    AddValue(out, 2 * from.most);
  }

  Id Select(Op compare, Id left, Id right, Id then, Id otherwise) {
    return b_.Make(Op::kSelect, kF32, b_.Make(compare, DType::kI1, left, right), then, otherwise);
  }

  // Clips a value to 0 .. 3, as exporters write it: by selects with comparisons in any order, true for NaN or not.
  void AddClip() {
    const Value from = Any();
    const Id value = b_.Load(from.buffer, {i_, j_}), zero = b_.Float(kF32, 0), three = b_.Float(kF32, 3);
    const Op less = std::vector<Op>{Op::kCmpLt, Op::kCmpLe, Op::kCmpULt, Op::kCmpULe}[Below(4)];
    const Op greater = std::vector<Op>{Op::kCmpGt, Op::kCmpGe, Op::kCmpUGt, Op::kCmpUGe}[Below(4)];
    const Id low = dice_.Flip(0.5) ? Select(greater, value, zero, value, zero)
                                   : Select(greater, zero, value, zero, value);
    const Id clipped =
        dice_.Flip(0.5) ? Select(less, low, three, low, three) : Select(less, three, low, three, low);
    const Id out = Temporary(from.width);
    b_.Compute(Name("clip"), {{"i", kRows}, {"j", from.width}}, {out, {i_, j_}}, clipped);
    AddValue(out, 3);
  }

  // Adds value + mask. Blocks compute the mask: 0 where the number of the column is not negative, so everywhere.
  void AddMasked() {
    const Value from = Any();
    const Id column = b_.Temporary(Name("column"), DType::kI64, {from.width}), mask = Temporary(from.width),
             out = Temporary(from.width);
    b_.Compute(Name("iota"), {{"i", from.width}}, {column, {i_}},
               b_.Make(Op::kCast, DType::kI64, b_.Index(i_)));
    b_.Compute(Name("mask"), {{"i", kRows}, {"j", from.width}}, {mask, {i_, j_}},
               Select(Op::kCmpGe, b_.Load(column, {j_}), b_.Integer(DType::kI64, 0), b_.Float(kF32, 0),
                      b_.Float(kF32, -1)));
    b_.Compute(Name("masked"), {{"i", kRows}, {"j", from.width}}, {out, {i_, j_}},
               b_.Add(b_.Load(from.buffer, {i_, j_}), b_.Load(mask, {i_, j_})));
    AddValue(out, from.most);
  }

  // For a width n of 1, 2, 4 or 8, adds value + n * (sum of the squared distances of the row's elements from their
  // mean), with the sum in f64; all is exact. For other widths, calls AddNorm.
  void AddVariance() {
    const Value from = Small(Any(), kExact / (2 * kMostGiven));
    const int64_t n = from.width;
    if ((n & (n - 1)) != 0) return AddNorm();
    const DType wide = DType::kF64;
    const auto temporary = [&](const std::vector<Extent>& shape, DType dtype) {
      return b_.Temporary(Name("t"), dtype, shape);
    };
    const std::vector<Builder::IterSpec> all = {{"i", kRows}, {"j", n}}, row = {{"i", kRows}},
                                         sum = {{"i", kRows}, {"j", n, IterKind::kReduction}};
    const Id cast = temporary({kRows, n}, wide), sums = temporary({kRows}, wide),
             mean = temporary({kRows}, wide), deviation = temporary({kRows, n}, wide),
             square = temporary({kRows, n}, wide), squares = temporary({kRows}, wide),
             variance = temporary({kRows}, kF32), out = Temporary(n);
    const Id value = b_.Load(from.buffer, {i_, j_}), by = b_.Float(wide, static_cast<double>(n));
    b_.Compute(Name("cast"), all, {cast, {i_, j_}}, b_.Make(Op::kCast, wide, value));
    b_.Reduce(Name("sum"), sum, Monoid::Kind::kSum, {sums, {i_}}, b_.Load(cast, {i_, j_}));
    b_.Compute(Name("mean"), row, {mean, {i_}}, b_.Make(Op::kDiv, wide, b_.Load(sums, {i_}), by));
    b_.Compute(Name("deviation"), all, {deviation, {i_, j_}},
               b_.Make(Op::kSub, wide, b_.Load(cast, {i_, j_}), b_.Load(mean, {i_})));
    b_.Compute(Name("square"), all, {square, {i_, j_}},
               b_.Mul(b_.Load(deviation, {i_, j_}), b_.Load(deviation, {i_, j_})));
    b_.Reduce(Name("squares"), sum, Monoid::Kind::kSum, {squares, {i_}}, b_.Load(square, {i_, j_}));
    b_.Compute(Name("variance"), row, {variance, {i_}}, b_.Make(Op::kCast, kF32, b_.Load(squares, {i_})));
    const Id whole = b_.Float(kF32, static_cast<double>(n));  // a sum of squares of n-ths, times n, is whole
    b_.Compute(Name("plus"), all, {out, {i_, j_}}, b_.Add(value, b_.Mul(b_.Load(variance, {i_}), whole)));
    AddValue(out, 5 * kMostGiven * kMostGiven * n * n);
  }

  // Adds blocks that compute the model's status: 1 if an element of the value's column 0 is not below 3, otherwise 0.
  void AddAssertion(const Value& value) {
    const Id bad = b_.Temporary("bad", DType::kI32, {}), status = b_.Temporary("status_out", DType::kI32, {});
    const Id fails = b_.Make(Op::kSelect, DType::kI32,
                             b_.Make(Op::kCmpGt, DType::kI1, b_.Float(kF32, 3),
                                     b_.Load(value.buffer, {i_, IndexSum::Constant(0)})),
                             b_.Integer(DType::kI32, 0), b_.Integer(DType::kI32, 1));
    b_.Reduce("assert", {{"i", kRows, IterKind::kReduction}}, Monoid::Kind::kOr, {bad, {}}, fails);
    b_.Compute("status", {}, {status, {}}, b_.Load(bad, {}));
    b_.MakeStatus(status);
  }

  struct Weights {
    Id id;
    int64_t rows, columns;
  };

  RandomDice dice_;
  Builder b_;
  const IndexSum i_ = Builder::Iter(0), j_ = Builder::Iter(1), k_ = Builder::Iter(2);
  int count_ = 0;
  std::vector<Value> values_;
  std::vector<Weights> weights_;
};

}  // namespace

Program RandomModel(uint64_t seed) { return Maker(seed).Make(); }

std::vector<std::string> RandomModelInputs(const Program& model, uint64_t seed) {
  RandomDice dice(Engine({seed, 1}));
  std::vector<std::string> inputs;
  for (const Id id : model.parameters) {
    if (!IsGiven(model.buffers[id].role)) continue;
    AppendNumbers(dice, ElementsOf(model, id), inputs.emplace_back());
  }
  return inputs;
}

}  // namespace kiln
