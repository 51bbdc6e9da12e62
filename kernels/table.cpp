// SPDX-License-Identifier: Apache-2.0
// The explicit list of kernels, the same for nvcc, hipcc and CPU compilers.
#include "kernels/table.hpp"

#include "kernels/argmax/body.hpp"
#include "kernels/attention/body.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/copy/body.hpp"
#include "kernels/embedding/body.hpp"
#include "kernels/gemm/body.hpp"
#include "kernels/kv_append/body.hpp"
#include "kernels/residual_add/body.hpp"
#include "kernels/rmsnorm/body.hpp"
#include "kernels/rope/body.hpp"
#include "kernels/softmax/body.hpp"
#include "kernels/swiglu/body.hpp"
#include "kernels/triad/body.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {
namespace {

template <class Kernel>
LaunchShape erased_shape(const void* params, const Target& target) {
  return Kernel::shape(*static_cast<const typename Kernel::Params*>(params), target);
}

template <class Kernel>
KernelEntry row() {
  return {Kernel::kName,
          NumberTraits<typename Kernel::Storage>::kName,
          "portable",
          kCommonVersion.version + Kernel::kVersion.version,
          static_cast<std::uint32_t>(sizeof(typename Kernel::Params)),
          &erased_shape<Kernel>,
          kernel_entry<Kernel>()};
}

template <class T>
using PrefillKernel = AttentionKernel<T, false>;
template <class T>
using DecodeKernel = AttentionKernel<T, true>;

}  // namespace

// NOLINTNEXTLINE(bugprone-macro-parentheses): `kernel` is a template
#define ASSAY_EACH_DTYPE(kernel) row<kernel<float>>(), row<kernel<f16>>(), row<kernel<bf16>>()

KernelTable kernel_table() {
  static const KernelEntry entries[] = {
      ASSAY_EACH_DTYPE(CopyKernel),     ASSAY_EACH_DTYPE(TriadKernel),   ASSAY_EACH_DTYPE(EmbeddingKernel),
      ASSAY_EACH_DTYPE(RmsNormKernel),  ASSAY_EACH_DTYPE(GemmKernel),    ASSAY_EACH_DTYPE(RopeKernel),
      ASSAY_EACH_DTYPE(KvAppendKernel), ASSAY_EACH_DTYPE(PrefillKernel), ASSAY_EACH_DTYPE(DecodeKernel),
      ASSAY_EACH_DTYPE(SoftmaxKernel),  ASSAY_EACH_DTYPE(SwigluKernel),  ASSAY_EACH_DTYPE(ResidualAddKernel),
      ASSAY_EACH_DTYPE(ArgmaxKernel),
  };
  return {entries, sizeof(entries) / sizeof(entries[0])};
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
