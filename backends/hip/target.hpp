// SPDX-License-Identifier: Apache-2.0
// Whose hardware this HIP module is built for. HIP over NVIDIA is another platform under the same names: it is built
// only when it is asked for, and then it says so.
#pragma once

#if defined(__HIP_PLATFORM_NVIDIA__) || defined(__HIP_PLATFORM_NVCC__)
#if !defined(ASSAY_HIP_ON_NVIDIA)
#error \
    "HIP is set to NVIDIA here; build the cuda module instead, or define ASSAY_HIP_ON_NVIDIA to build it all the same"
#endif
#define ASSAY_HIP_PLATFORM "nvidia"
#define ASSAY_HIP_IS_AMD false
#define ASSAY_HIP_IS_NVIDIA 1
#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
#define ASSAY_HIP_PLATFORM "amd"
#define ASSAY_HIP_IS_AMD true
#define ASSAY_HIP_IS_NVIDIA 0
#else
#error "neither __HIP_PLATFORM_AMD__ nor __HIP_PLATFORM_NVIDIA__ is defined"
#endif
