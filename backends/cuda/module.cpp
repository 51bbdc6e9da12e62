// SPDX-License-Identifier: Apache-2.0
// The cuda module: the shared source over the CUDA runtime, behind its one exported symbol.
#include "assay_generated/cuda_build.hpp"
#include "backends/cuda/nvml_board.hpp"
#include "backends/cuda/runtime.hpp"
#include "backends/gpu/table.hpp"
#include "kernels/table.hpp"

namespace assay::gpu {

std::span<const kernels::KernelEntry> Cuda::kernels() {
  const kernels::KernelTable table = kernels::kernel_table();
  return {table.entries, table.count};
}

const BuildFacts& Cuda::build_facts() {
  static const BuildFacts facts{
      .toolkit_compiled = std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10),
      .compiler = ASSAY_DEVICE_COMPILER,
      .host_compiler = ASSAY_HOST_COMPILER,
      .compiler_flags = ASSAY_DEVICE_FLAGS,
      .fp_flags = ASSAY_DEVICE_FP_FLAGS,
      .embedded_targets = ASSAY_DEVICE_TARGETS,
      .code_object_version = {}};
  return facts;
}

void Cuda::describe_lower_layer(const FieldWriter& out) {
  out.not_applicable("hsa_runtime_path", "CUDA does not run over HSA", "build");
}

std::unique_ptr<Board> Cuda::open_board(const BoardQuery& query) {
  cuda::RuntimeFacts facts{cuda::driver().module_loading(), std::nullopt};
  int mps = 0;
  if (cudaDeviceGetAttribute(&mps, cudaDevAttrMpsEnabled, query.ordinal) == cudaSuccess) facts.mps = mps != 0;
  return cuda::open_nvml_board(query, facts, load_library, "/");
}

}  // namespace assay::gpu

extern "C" __attribute__((visibility("default"))) const assay_backend* assay_backend_entry_v1() {
  return &assay::gpu::backend_table<assay::gpu::Cuda>;
}
