// SPDX-License-Identifier: Apache-2.0
// The hip module: the shared source over the HIP runtime, behind its one exported symbol.
#include "assay_generated/hip_build.hpp"
#include "backends/gpu/table.hpp"
#include "backends/hip/amd_board.hpp"
#include "backends/hip/runtime.hpp"
#include "kernels/table.hpp"

namespace assay::gpu {

std::span<const kernels::KernelEntry> Hip::kernels() {
  const kernels::KernelTable table = kernels::kernel_table();
  return {table.entries, table.count};
}

const BuildFacts& Hip::build_facts() {
  static const BuildFacts facts{.toolkit_compiled = version_text(HIP_VERSION),
                                .compiler = ASSAY_DEVICE_COMPILER,
                                .host_compiler = ASSAY_HOST_COMPILER,
                                .compiler_flags = ASSAY_DEVICE_FLAGS,
                                .fp_flags = ASSAY_DEVICE_FP_FLAGS,
                                .embedded_targets = ASSAY_DEVICE_TARGETS,
                                .code_object_version = ASSAY_CODE_OBJECT_VERSION};
  return facts;
}

void Hip::describe_lower_layer(const FieldWriter& out) {
  const std::string path = loaded_library_path("libhsa-runtime64.so.1", "hsa_init");
  if (path.empty())
    out.unknown("hsa_runtime_path", "libhsa-runtime64.so.1 is not loaded", "dladdr");
  else
    out.text("hsa_runtime_path", path, "dladdr");
}

std::unique_ptr<Board> Hip::open_board(const BoardQuery& query) {
  return hip::open_amd_board(query, load_library, "/");
}

}  // namespace assay::gpu

extern "C" __attribute__((visibility("default"))) const assay_backend* assay_backend_entry_v1() {
  return &assay::gpu::backend_table<assay::gpu::Hip>;
}
