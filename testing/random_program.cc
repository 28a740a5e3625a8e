#include "testing/random_program.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/program/product.h"
#include "lang/program/scalar.h"
#include "lang/reference/interpreter.h"
#include "lang/reference/trial_data.h"
#include "testing/random_bodies.h"

namespace kiln {
namespace {

class Maker {
 public:
  Maker(Dice& dice, const ProgramKinds& kinds)
      : dice_(dice), kinds_(kinds), b_("random"), type_(dice.Flip(0.5) ? DType::kI32 : DType::kF64) {
    constexpr DType kOthers[] = {DType::kI16, DType::kI8, DType::kU8, DType::kI64};
    if (kinds.types && dice.Flip(0.3)) type_ = kOthers[dice.Below(std::size(kOthers))];
  }

  Program Make() {
    const int64_t rank = 1 + dice_.Below(3);
    std::vector<Extent> shape;
    for (int64_t d = 0; d < rank; ++d) shape.push_back(Size(most_elements_ / Points(shape)));
    tensors_.push_back({b_.Input("in", type_, shape), true});
    if (dice_.Flip(0.3)) tensors_.push_back({b_.Constant("const", type_, shape), true});
    const int64_t blocks = 1 + dice_.Below(4);
    for (int64_t i = 0; i < blocks; ++i) AddBlock();
    for (Tensor& t : tensors_) {
      if (b_.program().buffers[t.buffer].role != Role::kTemporary) continue;
      if (!t.read || dice_.Flip(0.1)) b_.MakeOutput(t.buffer);
    }
    Program program = b_.Finish();
    if (dice_.Flip(0.15)) Repeat(program);
    return program;
  }

 private:
  struct Tensor {
    Id buffer;
    bool read = false;
  };

  static int64_t Points(const std::vector<Extent>& shape) { return *Product(shape, 1); }
  int64_t Size(int64_t limit) {
    constexpr int64_t kSmall[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13};
    constexpr int64_t kLarge[] = {1, 3, 16, 32, 49, 64, 96, 100, 127, 128, 256, 384};
    const int64_t* const sizes = kinds_.large ? kLarge : kSmall;
    int64_t count = 1;
    while (count < 12 && sizes[count] <= limit) ++count;
    return sizes[dice_.Below(count)];
  }
  std::vector<Extent> ShapeOf(Id buffer) const {
    const auto dims = b_.program().Dims(b_.program().buffers[buffer].shape);
    return {dims.begin(), dims.end()};
  }
  Id Pick() {
    // Chooses the newest tensor in most cases, so that chains grow.
    Tensor& t =
        dice_.Flip(0.6) ? tensors_.back() : tensors_[dice_.Below(static_cast<int64_t>(tensors_.size()))];
    t.read = true;
    return t.buffer;
  }
  Id NewInput(const std::vector<Extent>& shape) { return b_.Input("in", type_, shape); }
  Id NewTensor(const std::vector<Extent>& shape) {
    tensors_.push_back({b_.Temporary("t", type_, shape), false});
    return tensors_.back().buffer;
  }
  Id Number(int64_t value) {
    if (kinds_.types && value == 0 && IsFloat(type_) && dice_.Flip(0.3)) return b_.Float(type_, -0.0);
    return IsFloat(type_) ? b_.Float(type_, static_cast<double>(value)) : b_.Integer(type_, value);
  }

  using Iters = std::vector<Builder::IterSpec>;
  static Iters IterSpecs(const std::vector<Extent>& shape) {
    Iters iters;
    for (size_t d = 0; d < shape.size(); ++d)
      iters.push_back({std::string(1, static_cast<char>('i' + d)), shape[d]});
    return iters;
  }
  static std::vector<IndexSum> Index(size_t rank) {
    std::vector<IndexSum> index;
    for (size_t d = 0; d < rank; ++d) index.push_back(Builder::Iter(static_cast<int>(d)));
    return index;
  }
  // Returns the initial value of a reduction: a number or a load; kNone, in half of the cases, for the identity.
  Id Start(const std::vector<Extent>& shape, Id dest) {
    const int64_t start = dice_.Below(10);
    if (start < 5) return kNone;
    if (start < 6) return Number(kinds_.types && dice_.Flip(0.5) ? 0 : 3);
    for (Tensor& t : tensors_) {
      if (t.buffer == dest || ShapeOf(t.buffer) != shape) continue;
      t.read = true;
      return b_.Load(t.buffer, Index(shape.size()));
    }
    return b_.Load(NewInput(shape), Index(shape.size()));
  }
  Id OfIntegers() {
    constexpr Op kOps[] = {Op::kXor, Op::kMaxU, Op::kMinU, Op::kAnd, Op::kOr};
    const Op op = kOps[dice_.Below(std::size(kOps))];
    const int64_t ones = type_ == DType::kU8 ? 255 : -1;
    return b_.CustomMonoid(op, type_, op == Op::kMinU || op == Op::kAnd ? ones : 0, op != Op::kXor);
  }
  // Adds a block that stores `value` to a new tensor of this shape. If some iters are reductions, it reduces the value.
  void Finish(const std::vector<Extent>& shape, const Iters& iters, Id value) {
    const bool reduces =
        std::any_of(iters.begin(), iters.end(), [](const auto& i) { return i.kind == IterKind::kReduction; });
    std::vector<IndexSum> index = Index(shape.size());
    const Id dest = NewTensor(shape);
    if (reduces) {
      if (kinds_.types && !IsFloat(type_) && dice_.Flip(0.4)) {
        const Id start = Start(shape, dest);
        b_.Reduce("reduce", iters, OfIntegers(), {{dest, index}}, {value},
                  start == kNone ? std::vector<Id>() : std::vector<Id>{start});
        return;
      }
      const Monoid::Kind kind = dice_.Flip(0.7) ? Monoid::Kind::kSum : Monoid::Kind::kMax;
      b_.Reduce("reduce", iters, kind, {dest, index}, value, Start(shape, dest));
    } else {
      b_.Compute("map", iters, {dest, index}, value);
    }
  }

  void AddBlock() {
    const Id from = Pick();
    const std::vector<Extent> shape = ShapeOf(from);
    if (kinds_.types && dice_.Flip(0.2)) return Chain(from, shape);
    switch (dice_.Below(19)) {
      case 0:
      case 1:
        return Elementwise(from, shape);
      case 2:
        return shape.empty() ? Elementwise(from, shape) : Contraction(from, shape);
      case 3:
        return shape.empty() ? Elementwise(from, shape) : Stencil(from, shape);
      case 4:
        return shape.empty() ? Elementwise(from, shape) : Strided(from, shape);
      case 5:
        return shape.empty() ? Elementwise(from, shape) : Reduction(from, shape);
      case 6:
        return shape.empty() ? Elementwise(from, shape) : Pad(from, shape);
      case 7:
        return shape.empty() ? Elementwise(from, shape) : Stencil(from, shape);
      case 8:
        return shape.empty() ? Elementwise(from, shape) : Contraction(from, shape);
      case 9:
        return shape.size() < 2 ? Elementwise(from, shape) : Transpose(from, shape);
      case 10:
        return Gather(from, shape);
      case 11:
        return shape.empty() ? Elementwise(from, shape) : ArgMax(from, shape);
      case 12:
        return shape.empty() ? Elementwise(from, shape) : Spread(from, shape);
      case 13:
        return shape.empty() ? Elementwise(from, shape) : Concatenation(from, shape);
      case 14:
      case 15:
        return shape.empty() ? Elementwise(from, shape) : Shifted(from, shape);
      case 16:
        return shape.empty() ? Elementwise(from, shape) : Transposed(from, shape);
      case 17:
        return kinds_.once ? Elementwise(from, shape) : Overwritten(from, shape);
      default:
        return shape.size() > 2 || Points(shape) > most_elements_ ? Elementwise(from, shape)
                                                                  : Broadcast(from, shape);
    }
  }

  // Adds a chain of one to three elementwise blocks; each reads the result of the one before.
  void Chain(Id from, const std::vector<Extent>& shape) {
    for (int64_t blocks = 1 + dice_.Below(3); blocks > 0; --blocks) {
      Elementwise(from, shape);
      from = tensors_.back().buffer;
      tensors_.back().read = blocks > 1;
    }
  }

  // Returns a load of an element, sometimes as an operand of a random expression.
  Id Loaded(Id from, const std::vector<IndexSum>& index) {
    const Id value = b_.Load(from, index);
    if (!kinds_.types || dice_.Flip(0.6)) return value;
    return Body({value}, ShapeOf(from), index);
  }
  Id Body(const std::vector<Id>& values, const std::vector<Extent>& shape,
          const std::vector<IndexSum>& index) {
    return RandomBody(b_, dice_, type_, values, [&] { return b_.Load(NewInput(shape), index); });
  }

  void Elementwise(Id from, const std::vector<Extent>& shape) {
    const std::vector<IndexSum> index = Index(shape.size());
    Id value = b_.Load(from, index);
    if (kinds_.types && dice_.Flip(0.5)) {
      std::vector<Id> values{value};
      for (Tensor& t : tensors_) {
        if (t.buffer == from || ShapeOf(t.buffer) != shape || dice_.Flip(0.5)) continue;
        t.read = true;
        values.push_back(b_.Load(t.buffer, index));
      }
      return Finish(shape, IterSpecs(shape), Body(values, shape, index));
    }
    for (Tensor& t : tensors_) {  // adds a second operand of the same shape, if there is one
      if (t.buffer == from || ShapeOf(t.buffer) != shape || dice_.Flip(0.4)) continue;
      t.read = true;
      value = b_.Make(dice_.Flip(0.5) ? Op::kSub : Op::kMax, type_, value, b_.Load(t.buffer, index));
      break;
    }
    if (dice_.Flip(0.5)) value = b_.Add(value, Number(dice_.Below(5)));
    if (dice_.Flip(0.2) && !shape.empty()) value = b_.Add(value, b_.Cast(type_, b_.Index(index[0])));
    Finish(shape, IterSpecs(shape), value);
  }

  void Contraction(Id from, std::vector<Extent> shape) {
    const Extent k = shape.back();
    const int64_t rows = Points(shape) / k.Known();
    const Extent n =
        Size(std::max<int64_t>(1, std::min(most_points_ / Points(shape), most_elements_ / rows)));
    std::vector<Extent> out = shape;
    out.back() = n;
    Iters iters = IterSpecs(out);
    iters.push_back({"r", k, IterKind::kReduction});
    std::vector<IndexSum> index = Index(out.size());
    const IndexSum r = Builder::Iter(static_cast<int>(out.size())), column = index.back();
    index.back() = r;
    const Id weights = NewInput({k, n});
    Finish(out, iters, b_.Mul(b_.Load(from, index), b_.Load(weights, {r, column})));
  }

  void Stencil(Id from, std::vector<Extent> shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    const int64_t size = shape[d].Known(), window = 1 + dice_.Below(3), pad = dice_.Below(3),
                  stride = 1 + dice_.Below(2);
    const int64_t count = (size + 2 * pad - window) / stride + 1;
    if (size + 2 * pad < window) return Elementwise(from, shape);
    std::vector<Extent> out = shape;
    out[d] = count;
    Iters iters = IterSpecs(out);
    iters.push_back({"r", window, IterKind::kReduction});
    std::vector<IndexSum> index = Index(out.size());
    index[d] = index[d] * stride + Builder::Iter(static_cast<int>(out.size()));
    index[d].offset = -pad;
    Id value = b_.Load(from, index);
    if (pad != 0) value = b_.Within({{index[d], size}}, value, Number(dice_.Below(2)));
    Finish(out, iters, value);
  }

  // Adds a copy to a tensor that is larger along one dimension: 0 or 1 stands before and behind the elements.
  void Pad(Id from, std::vector<Extent> shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    const int64_t size = shape[d].Known(), low = dice_.Below(3), high = dice_.Below(3);
    std::vector<IndexSum> index = Index(shape.size());
    std::vector<Extent> out = shape;
    out[d] = size + low + high;
    index[d].offset = -low;
    Finish(out, IterSpecs(out), b_.Within({{index[d], size}}, b_.Load(from, index), Number(dice_.Below(2))));
  }

  void Strided(Id from, std::vector<Extent> shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    const int64_t size = shape[d].Known();
    std::vector<IndexSum> index = Index(shape.size());
    std::vector<Extent> out = shape;
    if (dice_.Flip(0.5)) {  // reversed
      index[d] = index[d] * -1;
      index[d].offset = size - 1;
    } else {
      out[d] = (size + 1) / 2;
      index[d] = index[d] * 2;
    }
    Finish(out, IterSpecs(out), b_.Load(from, index));
  }

  // Adds a block that reads for each element another one, one or two places before or behind it along one dimension,
  // and usually the element itself. After loops are merged, another iteration writes the one before.
  void Shifted(Id from, const std::vector<Extent>& shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    if (shape[d].Known() == 1) return Elementwise(from, shape);
    std::vector<IndexSum> index = Index(shape.size());
    const Id here = b_.Load(from, index);
    const int64_t offset = 1 + dice_.Below(std::min<int64_t>(2, shape[d].Known() - 1));
    const bool before = dice_.Flip(0.5);
    index[d].offset = before ? -offset : offset;
    std::vector<Extent> out = shape;
    if (!before) out[d] = shape[d].Known() - offset;
    Id there = b_.Load(from, index);
    if (before) there = b_.Within({{index[d], shape[d].Known()}}, there, Number(dice_.Below(2)));
    Finish(out, IterSpecs(out), dice_.Flip(0.7) ? b_.Make(Op::kMax, type_, here, there) : there);
  }

  // A reduction over one dimension of a shape: the remaining shape, and the indices of its reads and result.
  struct Along {
    size_t dimension;
    std::vector<Extent> out;
    Iters iters;
    std::vector<IndexSum> dest, index;
  };
  Along AlongOne(const std::vector<Extent>& shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    Along a{d, shape, {}, Index(shape.size() - 1), {}};
    a.out.erase(a.out.begin() + static_cast<int64_t>(d));
    a.iters = IterSpecs(a.out);
    a.iters.push_back({"r", shape[d], IterKind::kReduction});
    a.index = a.dest;
    a.index.insert(a.index.begin() + static_cast<int64_t>(d), Builder::Iter(static_cast<int>(a.out.size())));
    return a;
  }

  void Reduction(Id from, const std::vector<Extent>& shape) {
    const Along a = AlongOne(shape);
    Finish(a.out, a.iters, Loaded(from, a.index));
  }

  // Adds a gather from a table: one index is the value of `from`; the others are iters or the same value.
  void Gather(Id from, const std::vector<Extent>& shape) {
    const Id table = Pick();
    const size_t rank = ShapeOf(table).size();
    if (rank == 0) return Elementwise(from, shape);
    const std::vector<IndexSum> index = Index(shape.size());
    const Id computed = b_.Cast(DType::kIndex, b_.Load(from, index));
    const size_t where = dice_.Below(static_cast<int64_t>(rank));
    std::vector<Id> at;
    for (size_t d = 0; d < rank; ++d) {
      const bool same = d == where || index.empty() || dice_.Flip(0.2);
      at.push_back(same ? computed : b_.Index(index[dice_.Below(static_cast<int64_t>(index.size()))]));
    }
    Finish(shape, IterSpecs(shape), b_.Gather(table, at));
  }

  // Adds a reduction to the position of each largest or smallest value. Returns its buffer. `at`: the position of an
  // element.
  Id PositionOfExtreme(Id from, const Along& along, const IndexSum& at) {
    const DType position = kinds_.types && dice_.Flip(0.3) ? DType::kI32 : DType::kI64;
    const Id value = Loaded(from, along.index), values = NewTensor(along.out),
             where = b_.Temporary("where", position, along.out);
    const Monoid::Kind kind = dice_.Flip(0.5) ? Monoid::Kind::kMax : Monoid::Kind::kMin;
    const bool last = dice_.Flip(0.5), is_unsigned = kinds_.types && !IsFloat(type_) && dice_.Flip(0.3);
    b_.Reduce("arg", along.iters, b_.ArgMonoid(kind, type_, position, last, is_unsigned),
              {{values, along.dest}, {where, along.dest}}, {value, b_.Cast(position, b_.Index(at))},
              dice_.Flip(0.2) ? std::vector<Id>{Number(1), b_.Integer(position, 0)} : std::vector<Id>());
    return where;
  }

  // Adds an arg-max or arg-min over the last dimensions, at least two, whose position is the element's number among
  // them.
  void FlatArgMax(Id from, const std::vector<Extent>& shape) {
    const size_t kept = dice_.Below(static_cast<int64_t>(shape.size()) - 1);
    const std::vector<Extent> out(shape.begin(), shape.begin() + static_cast<int64_t>(kept));
    Along along{kept, out, IterSpecs(out), Index(kept), Index(shape.size())};
    IndexSum at = IndexSum::Constant(0);
    for (size_t d = kept; d < shape.size(); ++d) {
      along.iters.push_back({absl::StrCat("r", d), shape[d], IterKind::kReduction});
      at = at * shape[d].Known() + along.index[d];
    }
    b_.MakeOutput(PositionOfExtreme(from, along, at));
  }

  // Adds an arg-max or arg-min over one dimension or more. The position becomes an output, an index or a value.
  void ArgMax(Id from, const std::vector<Extent>& shape) {
    if (shape.size() > 1 && dice_.Flip(0.3)) return FlatArgMax(from, shape);
    const Along along = AlongOne(shape);
    const auto& [d, out, iters, dest, index] = along;
    const Id where = PositionOfExtreme(from, along, Builder::Iter(static_cast<int>(out.size())));
    if (dice_.Flip(0.5)) return b_.MakeOutput(where);
    std::vector<Id> at;
    for (size_t i = 0; i < shape.size(); ++i)
      at.push_back(i == d ? b_.Cast(DType::kIndex, b_.Load(where, dest)) : b_.Index(dest[i - (i > d)]));
    Finish(out, IterSpecs(out), dice_.Flip(0.5) ? b_.Gather(from, at) : b_.Cast(type_, b_.Load(where, dest)));
  }

  // Adds a block that writes every second element of a buffer, and one that reads these elements.
  void Spread(Id from, const std::vector<Extent>& shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    std::vector<Extent> wide = shape;
    wide[d] = 2 * shape[d].Known();
    std::vector<IndexSum> index = Index(shape.size());
    const Id value = b_.Load(from, index), apart = b_.Temporary("apart", type_, wide);
    index[d] = index[d] * 2;
    index[d].offset = dice_.Below(2);
    b_.Compute("spread", IterSpecs(shape), {apart, index}, value);
    Finish(shape, IterSpecs(shape), b_.Add(b_.Load(apart, index), Number(1)));
  }

  // Adds a transposed convolution: a block puts zeros between the elements, then a window of weights moves over them.
  void Transposed(Id from, const std::vector<Extent>& shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    const int64_t size = shape[d].Known(), at = dice_.Below(2), window = 1 + dice_.Below(4);
    std::vector<Extent> wide = shape, out = shape;
    wide[d] = 2 * size + window - 1;
    out[d] = 2 * size;
    if (Points(out) * window > most_points_) return Elementwise(from, shape);
    std::vector<IndexSum> index = Index(shape.size()), element = index;
    const Source y = Source::Iter(static_cast<int32_t>(d));
    element[d] = {0, {IndexSplit{y, 1, 2, 0}}};
    const Id apart = b_.Temporary("apart", type_, wide);
    b_.Compute(
        "apart", IterSpecs(wide), {apart, index},
        b_.Within({{index[d] + IndexSum::Constant(-at), 2 * size - 1}, {{-at, {IndexSplit{y, 1, 1, 2}}}, 1}},
                  b_.Load(from, element), Number(0)));
    Iters iters = IterSpecs(out);
    iters.push_back({"r", window, IterKind::kReduction});
    const IndexSum r = Builder::Iter(static_cast<int>(out.size()));
    const Id weights = NewInput({window});
    index[d] = index[d] + r;
    Finish(out, iters, b_.Mul(b_.Load(apart, index), b_.Load(weights, {r})));
  }

  // Adds two blocks that each write one half of a buffer.
  void Concatenation(Id from, const std::vector<Extent>& shape) {
    const size_t d = dice_.Below(static_cast<int64_t>(shape.size()));
    std::vector<Extent> both = shape;
    both[d] = 2 * shape[d].Known();
    if (Points(both) > most_elements_) return Elementwise(from, shape);
    std::vector<IndexSum> index = Index(shape.size());
    const Id value = b_.Load(from, index), dest = NewTensor(both);
    b_.Compute("left", IterSpecs(shape), {dest, index}, value);
    index[d].offset = shape[d].Known();
    b_.Compute("right", IterSpecs(shape), {dest, index}, b_.Add(value, Number(1)));
  }

  // Adds blocks that write a buffer, read it, and write it again.
  void Overwritten(Id from, const std::vector<Extent>& shape) {
    const std::vector<IndexSum> index = Index(shape.size());
    const Id value = b_.Load(from, index);
    const Id first = NewTensor(shape), between = NewTensor(shape);
    b_.Compute("first", IterSpecs(shape), {first, index}, b_.Add(value, Number(1)));
    b_.Compute("between", IterSpecs(shape), {between, index}, b_.Load(first, index));
    b_.Compute("again", IterSpecs(shape), {first, index}, b_.Load(dice_.Flip(0.5) ? between : from, index));
  }

  // Puts one of the first four nests into a loop that runs it twice.
  void Repeat(Program& p) {
    Id nest = p.nodes[kRoot].first;
    for (int64_t i = dice_.Below(4); i > 0 && p.nodes[nest].next != kNone; --i) nest = p.nodes[nest].next;
    const Id again = p.AddLoop("again", 2);
    p.Replace(nest, again);
    p.Append(again, nest);
  }

  void Transpose(Id from, std::vector<Extent> shape) {
    std::vector<Extent> out(shape.rbegin(), shape.rend());
    std::vector<IndexSum> index = Index(shape.size());
    std::reverse(index.begin(), index.end());
    Finish(out, IterSpecs(out), b_.Load(from, index));
  }

  void Broadcast(Id from, std::vector<Extent> shape) {
    std::vector<Extent> out = shape;
    out.push_back(Size(most_elements_ / Points(shape)));
    Finish(out, IterSpecs(out), b_.Add(b_.Load(from, Index(shape.size())), Number(1)));
  }

  Dice& dice_;
  const ProgramKinds kinds_;
  const int64_t most_elements_ = kinds_.large ? 1 << 18 : 150;  // of a tensor
  const int64_t most_points_ = kinds_.large ? 1 << 22 : 600;    // instances of a block
  Builder b_;
  DType type_;
  std::vector<Tensor> tensors_;
};

}  // namespace

Program RandomProgram(Dice& dice, const ProgramKinds& kinds) { return Maker(dice, kinds).Make(); }

std::vector<std::string> RandomInputs(const Program& program, Dice& dice) {
  const bool partial = absl::c_any_of(program.exprs, [](const Expr& e) { return IsPartial(e.op, e.dtype); });
  const auto draw = [&](const TrialData& ranges) {
    std::vector<std::string> inputs;
    for (size_t i = 0; i < program.parameters.size(); ++i) {
      const Id id = program.parameters[i];
      const DType type = program.buffers[id].dtype;
      if (program.buffers[id].role == Role::kOutput) continue;
      ValueRange range = ValueRange::Of(-3, 3);
      if (partial && !IsFloat(type)) range = ranges[i].value_or(UnrestrictedTrialData(type));
      std::string bytes(BytesOf(program, id), '\0');
      for (size_t at = 0; at < bytes.size(); at += SizeOf(type)) {
        Scalar value;
        int64_t number = range.min + dice.Below(range.max - range.min + 1);
        if (!range.MayBe(number)) number = range.max;
        const bool minus = number == 0 && IsFloat(type) && dice.Flip(0.5);
        IsFloat(type) ? static_cast<void>(value.f = minus ? -0.0 : static_cast<double>(number))
                      : static_cast<void>(value.i = number);
        StoreScalar(type, value, bytes.data() + at);
      }
      inputs.push_back(std::move(bytes));
    }
    return inputs;
  };
  const TrialData none(program.parameters.size());
  return draw(partial ? TrialRanges(program, draw).value_or(none) : none);
}

}  // namespace kiln
