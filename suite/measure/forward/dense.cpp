// SPDX-License-Identifier: Apache-2.0
// The dense network's passes: each layer's output is made, and its input let go.
#include "suite/measure/forward/dense.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/gemm/params.hpp"
#include "kernels/softmax/params.hpp"

namespace assay::measure {

using allocator::Category;

DenseNetwork::DenseNetwork(const Workload& workload, model::WeightList weights, std::int64_t element_bytes)
    : in_(workload),
      weights_(std::move(weights)),
      element_(element_bytes),
      bytes_(workload.batch * workload.prompt_tokens * workload.width * element_bytes),
      first_free_(static_cast<Slot>(weights_.tensors.size())) {}

// Weights uniform on +-sqrt(6 / width) keep the second moment through a relu (He et al., 2015).
std::vector<Fill> DenseNetwork::weight_fills() const {
  std::vector<Fill> fills;
  fills.reserve(weights_.tensors.size());
  for (Slot slot = 0; slot < weights_.tensors.size(); ++slot) {
    Fill fill;
    fill.slot = slot;
    fill.elements = weights_.tensors[slot].elements;
    fill.stream = slot;
    const bool matrix = weights_.tensors[slot].role == model::Role::dense_weight;
    fill.amplitude = matrix ? std::sqrt(6.0f / static_cast<float>(in_.width)) : 0.1f;
    fills.push_back(fill);
  }
  return fills;
}

void DenseNetwork::inputs(Pass& pass) const {
  pass.push_back(AllocateStep{input(), bytes_, Category::inputs});
  pass.push_back(AllocateStep{output(), bytes_, Category::output});
}

std::vector<Fill> DenseNetwork::input_fills() const {
  Fill fill;
  fill.slot = input();
  fill.elements = rows() * in_.width;
  fill.stream = std::uint64_t{1} << 40;
  fill.amplitude = 1.0f;
  return {fill};
}

void DenseNetwork::forward(Pass& pass) const {
  Slot from = input();
  for (std::int64_t layer = 0; layer < in_.depth; ++layer) {
    const Slot to = hidden(layer);
    pass.push_back(AllocateStep{to, bytes_, Category::activation});
    kernels::GemmParams params{};
    params.m = rows();
    params.n = in_.width;
    params.k = in_.width;
    params.activation = kernels::kGemmRelu;
    pass.push_back(LaunchStep::make(Kernel::gemm, params,
                                    {{offsetof(kernels::GemmParams, a), {from, 0}},
                                     {offsetof(kernels::GemmParams, b), {static_cast<Slot>(2 * layer), 0}},
                                     {offsetof(kernels::GemmParams, bias), {static_cast<Slot>(2 * layer + 1), 0}},
                                     {offsetof(kernels::GemmParams, c), {to, 0}}}));
    if (layer > 0) pass.push_back(ReleaseStep{from});
    from = to;
  }
  kernels::SoftmaxParams params{};
  params.rows = rows();
  params.width = in_.width;
  pass.push_back(LaunchStep::make(
      Kernel::softmax, params,
      {{offsetof(kernels::SoftmaxParams, x), {from, 0}}, {offsetof(kernels::SoftmaxParams, y), {output(), 0}}}));
  pass.push_back(ReleaseStep{from});
}

std::vector<Output> DenseNetwork::forward_outputs() const {
  return {{{output(), 0}, bytes_}};
}

std::map<std::string, std::int64_t> DenseNetwork::executed() const {
  return {{"batch", in_.batch}, {"context", in_.prompt_tokens}, {"rows", rows()},
          {"width", in_.width}, {"depth", in_.depth},           {"parameters", weights_.parameters}};
}

}  // namespace assay::measure
