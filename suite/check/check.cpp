// SPDX-License-Identifier: Apache-2.0
// Guards, launches and verdicts of the kernel checks.
#include "suite/check/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "results-schema/types/failure_code.hpp"

namespace assay::check {
namespace {

constexpr std::byte kGuard{0xa5};

Bytes image_of(const Buffer& buffer) {
  Bytes image(buffer.before.size() + 2 * kGuardBytes, kGuard);
  std::copy(buffer.before.begin(), buffer.before.end(), image.begin() + kGuardBytes);
  return image;
}

bool guards_intact(const Bytes& image) {
  const auto intact = [](std::byte b) { return b == kGuard; };
  return std::all_of(image.begin(), image.begin() + kGuardBytes, intact) &&
         std::all_of(image.end() - kGuardBytes, image.end(), intact);
}

Quantity units(double value, Basis basis) {
  if (std::isfinite(value)) return {value, "1", basis, {}};
  return missing("1", "an element was not a number, was never written, or was wrong where only exact is right", basis);
}

Verdict verdict_of(const Case& the_case, const std::vector<Bytes>& images) {
  std::vector<Bytes> after;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Buffer& buffer = the_case.buffers[i];
    after.emplace_back(images[i].begin() + kGuardBytes, images[i].end() - kGuardBytes);
    if (!guards_intact(images[i])) {
      return {false, HUGE_VAL, 0, "bytes outside array " + std::to_string(i) + " were written"};
    }
    if (!buffer.written && after.back() != buffer.before) {
      return {false, HUGE_VAL, 0, "array " + std::to_string(i) + " is an input and was changed"};
    }
  }
  return the_case.judge(after);
}

// Device memory of one buffer; freed on the way out, whatever happened.
class Allocation {
 public:
  static Result<Allocation> make(const device::Device& device, std::size_t bytes) {
    Result<void*> pointer = device.malloc(bytes, ASSAY_OWNER_EXTERNAL);
    if (!pointer) return pointer.error();
    return Allocation(device, *pointer);
  }
  Allocation(Allocation&& other) noexcept : device_(other.device_), pointer_(std::exchange(other.pointer_, nullptr)) {}
  Allocation& operator=(Allocation&&) = delete;
  ~Allocation() {
    if (pointer_ != nullptr) (void)device_->free(pointer_);
  }
  [[nodiscard]] std::byte* get() const { return static_cast<std::byte*>(pointer_); }

 private:
  Allocation(const device::Device& device, void* pointer) : device_(&device), pointer_(pointer) {}
  const device::Device* device_;
  void* pointer_;
};

Result<void> launch_on_device(const device::Module& module, const device::Device& device, const Case& the_case,
                              std::vector<Bytes>& images) {
  const Result<std::int32_t> kernel = module.find_kernel(the_case.kernel, the_case.dtype, "portable");
  if (!kernel) return kernel.error();
  Result<device::Stream> stream = device::Stream::create(device);
  if (!stream) return stream.error();
  std::vector<Allocation> memory;
  std::vector<void*> arrays;
  for (const Bytes& image : images) {
    Result<Allocation> allocation = Allocation::make(device, image.size());
    if (!allocation) return allocation.error();
    memory.push_back(std::move(*allocation));
    arrays.push_back(memory.back().get() + kGuardBytes);
    if (auto r = stream->copy(memory.back().get(), image.data(), image.size(), ASSAY_COPY_HOST_TO_DEVICE); !r) return r;
  }
  const Bytes params = the_case.params(arrays);
  if (auto r = stream->launch_bytes(*kernel, params.data(), params.size()); !r) return r;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (auto r = stream->copy(images[i].data(), memory[i].get(), images[i].size(), ASSAY_COPY_DEVICE_TO_HOST); !r) {
      return r;
    }
  }
  return stream->synchronize();
}

}  // namespace

assay::Case run_case(const Case& the_case, std::int32_t source_version, const Launch& launch) {
  assay::Case result;
  result.name = the_case.name;
  result.kernel = the_case.kernel;
  result.dtype = the_case.dtype;
  result.implementation = "portable";
  result.source_version = source_version;
  std::vector<Bytes> images;
  for (const Buffer& buffer : the_case.buffers) images.push_back(image_of(buffer));
  if (const Result<void> launched = launch(the_case, images); !launched) {
    result.status = launched.error().code == ErrorCode::unsupported ? CaseStatus::unsupported : CaseStatus::failed;
    if (result.status == CaseStatus::failed) result.code = failure_code(launched.error().code);
    result.message = launched.error().text;
    result.error = missing("1", "the kernel did not run");
    result.tolerance = missing("1", "the kernel did not run", Basis::computed);
    return result;
  }
  const Verdict verdict = verdict_of(the_case, images);
  result.status = verdict.correct ? CaseStatus::ok : CaseStatus::wrong;
  result.message = verdict.message;
  result.error = units(verdict.error, Basis::observed);
  result.tolerance = units(verdict.tolerance, Basis::computed);
  return result;
}

Launch device_launch(const device::Module& module, const device::Device& device) {
  return [&module, &device](const Case& the_case, std::vector<Bytes>& images) {
    return launch_on_device(module, device, the_case, images);
  };
}

namespace {

assay::Case unchecked(const assay_kernel_info& kernel) {
  assay::Case unknown;
  unknown.name = std::string(kernel.name) + "/" + kernel.dtype + "/" + kernel.implementation;
  unknown.kernel = kernel.name;
  unknown.dtype = kernel.dtype;
  unknown.implementation = kernel.implementation;
  unknown.source_version = kernel.source_version;
  unknown.status = CaseStatus::failed;
  unknown.code = failure_code(ErrorCode::unsupported);
  unknown.message = "the program has no check for this kernel; use a module of the program's own version";
  unknown.error = missing("1", "no check");
  unknown.tolerance = missing("1", "no check", Basis::computed);
  return unknown;
}

// A case with the version of its kernel's source.
struct Planned {
  Case the_case;
  std::int32_t source_version = 0;
};

}  // namespace

Result<void> check_kernels(const device::Module& module, const device::Device& device, const Scope& scope,
                           const Take& take) {
  const auto kernels = module.kernels();
  if (!kernels) return kernels.error();
  std::vector<Planned> planned;
  for (const assay_kernel_info& kernel : *kernels) {
    if (std::string(kernel.implementation) != "portable") continue;
    const auto& dtypes = scope.dtypes;
    if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), kernel.dtype) == dtypes.end()) continue;
    auto cases = cases_of(kernel.name, kernel.dtype, scope.depth, scope.seed);
    for (Case& the_case : cases) planned.push_back({std::move(the_case), kernel.source_version});
    if (cases.empty())
      if (auto taken = take(unchecked(kernel)); !taken) return taken;
  }
  const Launch launch = device_launch(module, device);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    auto result = run_case(planned[i].the_case, planned[i].source_version, launch);
    const bool failed = result.status == CaseStatus::failed;
    if (const auto left = planned.size() - i - 1; failed && left > 0)
      result.message += "; the " + std::to_string(left) + " checks after it were not made";
    if (auto taken = take(result); !taken) return taken;
    if (failed) break;
  }
  return {};
}

bool all_correct(const std::vector<assay::Case>& cases) {
  return std::all_of(cases.begin(), cases.end(), [](const assay::Case& c) { return c.status == CaseStatus::ok; });
}

}  // namespace assay::check
