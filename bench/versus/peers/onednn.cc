// Wraps oneDNN in C functions for onednn.py. They create a primitive from plain data, run it, read its result as plain
// data, and report an error. For a convolution, oneDNN chooses the layouts of data (`free_layouts` = 1) or uses
// channels last (0), and always chooses the layout of weights, which are reordered when the primitive is created.
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

using namespace dnnl;
using dims = memory::dims;
using tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;

namespace {

engine& Engine() {
  static engine cpu(engine::kind::cpu, 0);
  return cpu;
}

stream& Stream() {
  static stream made(Engine());
  return made;
}

struct Operator {
  primitive run;
  std::unordered_map<int, memory> arguments;
  memory::desc result;  // in the layout that the caller wants
};

std::string message;

memory Reordered(const void* data, const memory::desc& plain, const memory::desc& wanted) {
  memory from(plain, Engine(), const_cast<void*>(data)), to(wanted, Engine());
  reorder(from, to).execute(Stream(), from, to);
  Stream().wait();
  return to;
}

tag ChannelsLast(int rank) { return rank == 1 ? tag::nwc : rank == 2 ? tag::nhwc : tag::ndhwc; }

// Returns the strides of weights in Kiln's layout: taps..., in, out (taps..., channels for a depthwise convolution).
dims TapsFirst(const dims& shape, int rank, bool grouped) {
  const int lead = grouped ? 3 : 2;
  dims strides(shape.size());
  memory::dim step = 1;
  for (const int i : grouped ? std::vector<int>{1, 0, 2} : std::vector<int>{0, 1}) {
    strides[i] = step;
    step *= shape[i];
  }
  for (int i = rank - 1; i >= 0; --i) {
    strides[lead + i] = step;
    step *= shape[lead + i];
  }
  return strides;
}

Operator* Guarded(const std::function<Operator()>& make) {
  try {
    return new Operator(make());
  } catch (const dnnl::error& found) {
    message = found.message;
    return nullptr;
  }
}

}  // namespace

extern "C" {

const char* onednn_error() { return message.c_str(); }

// Creates a convolution; null if oneDNN fails (onednn_error). `numbers`: batch, in, out, kernel, stride, pad, dilation,
// groups, relu, transposed, then the spatial extents of the input and the output. `bias` may be null. A transposed
// convolution ignores bias and relu.
Operator* onednn_convolution(int rank, const int64_t* numbers, int free_layouts, const float* x,
                             const float* w, const float* bias) {
  return Guarded([&] {
    const auto [batch, ci, co, k, stride, pad, dilation, groups] = std::tuple(
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]);
    dims xs = {batch, ci}, ys = {batch, co},
         ws = groups > 1 ? dims{groups, co / groups, ci / groups} : dims{co, ci};
    for (int i = 0; i < rank; ++i) {
      xs.push_back(numbers[10 + i]);
      ys.push_back(numbers[10 + rank + i]);
      ws.push_back(k);
    }
    const dims strides(rank, stride), dilations(rank, dilation - 1), pads(rank, pad);
    const tag last = ChannelsLast(rank), layout = free_layouts ? tag::any : last;
    const memory::desc xd(xs, kF32, layout), wd(ws, kF32, tag::any), yd(ys, kF32, layout),
        bd({co}, kF32, tag::a);
    primitive_attr attributes;
    if (numbers[8]) {
      post_ops relu;
      relu.append_eltwise(algorithm::eltwise_relu, 0.f, 0.f);
      attributes.set_post_ops(relu);
    }
    Operator made;
    made.result = memory::desc(ys, kF32, last);
    const auto finish = [&](const auto& descriptor, primitive run) {
      made.run = run;
      made.arguments = {
          {DNNL_ARG_SRC, Reordered(x, memory::desc(xs, kF32, last), descriptor.src_desc())},
          {DNNL_ARG_WEIGHTS,
           Reordered(w, memory::desc(ws, kF32, TapsFirst(ws, rank, groups > 1)), descriptor.weights_desc())},
          {DNNL_ARG_DST, memory(descriptor.dst_desc(), Engine())}};
      if (bias) made.arguments.insert({DNNL_ARG_BIAS, Reordered(bias, bd, bd)});
    };
    if (numbers[9]) {
      const deconvolution_forward::primitive_desc descriptor(Engine(), prop_kind::forward_inference,
                                                             algorithm::deconvolution_direct, xd, wd, yd,
                                                             strides, dilations, pads, pads);
      finish(descriptor, deconvolution_forward(descriptor));
    } else {
      const auto descriptor =
          bias ? convolution_forward::primitive_desc(Engine(), prop_kind::forward_inference,
                                                     algorithm::convolution_direct, xd, wd, bd, yd, strides,
                                                     dilations, pads, pads, attributes)
               : convolution_forward::primitive_desc(Engine(), prop_kind::forward_inference,
                                                     algorithm::convolution_direct, xd, wd, yd, strides,
                                                     dilations, pads, pads, attributes);
      finish(descriptor, convolution_forward(descriptor));
    }
    return made;
  });
}

// Creates a matrix product, m by k and k by n, of kind 0 (u8 and i8 to i32) or 1 (bf16 to f32); null if oneDNN fails.
// `prepared`: oneDNN chooses the layout of the weights.
Operator* onednn_narrow_matmul(int kind, int64_t m, int64_t n, int64_t k, int prepared, const void* a,
                               const void* b) {
  return Guarded([&] {
    using type = memory::data_type;
    const memory::desc ad({m, k}, kind ? type::bf16 : type::u8, tag::ab),
        plain({k, n}, kind ? type::bf16 : type::s8, tag::ab),
        bd({k, n}, plain.get_data_type(), prepared ? tag::any : tag::ab),
        yd({m, n}, kind ? kF32 : type::s32, tag::ab);
    const matmul::primitive_desc descriptor(Engine(), ad, bd, yd);
    return Operator{matmul(descriptor),
                    {{DNNL_ARG_SRC, Reordered(a, ad, ad)},
                     {DNNL_ARG_WEIGHTS, Reordered(b, plain, descriptor.weights_desc())},
                     {DNNL_ARG_DST, memory(descriptor.dst_desc(), Engine())}},
                    yd};
  });
}

// Creates a matrix product with the strides of both operands; null if oneDNN fails. If `bias` is given, adds bias and
// GELU. `prepared`: oneDNN chooses the layout of the weights.
Operator* onednn_matmul(int rank, const int64_t* a_shape, const int64_t* a_strides, const int64_t* b_shape,
                        const int64_t* b_strides, int prepared, const float* a, const float* b,
                        const float* bias) {
  return Guarded([&] {
    const auto list = [&](const int64_t* from) { return dims(from, from + rank); };
    dims ys = list(a_shape);
    ys.back() = b_shape[rank - 1];
    const memory::desc ad(list(a_shape), kF32, list(a_strides)), plain(list(b_shape), kF32, list(b_strides)),
        bd = prepared ? memory::desc(list(b_shape), kF32, tag::any) : plain,
        yd(ys, kF32,
           rank == 2   ? tag::ab
           : rank == 3 ? tag::abc
                       : tag::abcd),
        biases({1, ys.back()}, kF32, tag::ab);
    primitive_attr attributes;
    if (bias) {
      post_ops gelu;
      gelu.append_eltwise(algorithm::eltwise_gelu_erf, 0.f, 0.f);
      attributes.set_post_ops(gelu);
    }
    const auto descriptor = bias ? matmul::primitive_desc(Engine(), ad, bd, biases, yd, attributes)
                                 : matmul::primitive_desc(Engine(), ad, bd, yd);
    Operator made{matmul(descriptor),
                  {{DNNL_ARG_SRC, Reordered(a, ad, ad)},
                   {DNNL_ARG_WEIGHTS, Reordered(b, plain, descriptor.weights_desc())},
                   {DNNL_ARG_DST, memory(descriptor.dst_desc(), Engine())}},
                  yd};
    if (bias) made.arguments.insert({DNNL_ARG_BIAS, Reordered(bias, biases, biases)});
    return made;
  });
}

Operator* onednn_softmax(int64_t m, int64_t n, const float* x) {
  return Guarded([&] {
    const memory::desc rows({m, n}, kF32, tag::ab);
    const softmax_forward::primitive_desc descriptor(Engine(), prop_kind::forward_inference,
                                                     algorithm::softmax_accurate, rows, rows, 1);
    return Operator{softmax_forward(descriptor),
                    {{DNNL_ARG_SRC, Reordered(x, rows, rows)}, {DNNL_ARG_DST, memory(rows, Engine())}},
                    rows};
  });
}

Operator* onednn_norm(int64_t elements, const float* x) {
  return Guarded([&] {
    const memory::desc all({1, elements}, kF32, tag::ab), one({1, 1}, kF32, tag::ab);
    const reduction::primitive_desc descriptor(Engine(), algorithm::reduction_norm_lp_sum, all, one, 2.f,
                                               0.f);
    return Operator{reduction(descriptor),
                    {{DNNL_ARG_SRC, Reordered(x, all, all)}, {DNNL_ARG_DST, memory(one, Engine())}},
                    one};
  });
}

void onednn_run(Operator* made, int times) {
  for (int i = 0; i < times; ++i) made->run.execute(Stream(), made->arguments);
  Stream().wait();
}

void onednn_result(Operator* made, void* to) {
  memory plain(made->result, Engine(), to);
  reorder(made->arguments.at(DNNL_ARG_DST), plain).execute(Stream(), made->arguments.at(DNNL_ARG_DST), plain);
  Stream().wait();
}

}  // extern "C"
