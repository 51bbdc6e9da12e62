// SPDX-License-Identifier: Apache-2.0
// assay-bench-peer: kernels of the host module, through the device layer, against plain OpenMP loops of the same body.
//
// usage: assay-bench-peer [MODULE [MIB_PER_ARRAY]]. Twenty interleaved pairs a kernel; the ratio is peer time over
// module time (1 is a tie, above 1 the module is faster), by Hodges and Lehmann over the pairs with its 95 % interval.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/device/device.hpp"
#include "backends/host/exec/isa.hpp"
#include "kernels/copy/params.hpp"
#include "kernels/rmsnorm/params.hpp"
#include "kernels/swiglu/params.hpp"
#include "kernels/triad/params.hpp"
#include "tests/bench/peers.hpp"

namespace assay::bench {
namespace {

constexpr int kPairs = 20;
constexpr std::int64_t kWidth = 4096;
constexpr float kEpsilon = 1e-5f;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "assay-bench-peer: %s\n", text.c_str());
  std::exit(1);
}
template <class T>
T take(Result<T> result) {
  if (!result) fail(result.error().text);
  return std::move(*result);
}
void must(const Result<void>& result) {
  if (!result) fail(result.error().text);
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct Estimate {
  double ratio, low, high;
};

// One-sample Hodges-Lehmann over the logarithms of the pairs' ratios: the median of the 210 means of two. The interval
// is the inverted Wilcoxon signed-rank test: for 20 pairs at 5 %, two-sided, the 53rd mean from either end.
Estimate hodges_lehmann(const std::vector<double>& ratios) {
  std::vector<double> means;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    for (std::size_t j = i; j < ratios.size(); ++j) means.push_back((std::log(ratios[i]) + std::log(ratios[j])) / 2);
  }
  std::sort(means.begin(), means.end());
  return {std::exp(median(means)), std::exp(means[52]), std::exp(means[means.size() - 53])};
}

class Bench {
 public:
  Bench(const std::string& module_path, std::int64_t elements)
      : module_(take(device::Module::load(module_path))),
        device_(take(device::Device::open(module_, 0))),
        stream_(take(device::Stream::create(device_))),
        n_(elements) {
    for (void*& array : arrays_) {
      array = take(device_.malloc(static_cast<std::size_t>(n_) * sizeof(float), ASSAY_OWNER_EXTERNAL));
    }
  }
  ~Bench() {
    for (void* array : arrays_) (void)device_.free(array);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // The bytes 0x3c3c are 1.15e-2 as f32 and bf16, 1.06 as f16: ordinary numbers everywhere.
  void fill() {
    for (void* array : arrays_) must(stream_.fill(array, 0x3c, static_cast<std::size_t>(n_) * sizeof(float)));
    must(stream_.synchronize());
  }

  void launch(const char* kernel, const char* dtype) {
    const std::int32_t index = take(module_.find_kernel(kernel, dtype, "portable"));
    const std::string name = kernel;
    if (name == "copy") must(stream_.launch(index, kernels::CopyParams{arrays_[1], arrays_[0], n_}));
    if (name == "triad")
      must(stream_.launch(index, kernels::TriadParams{arrays_[0], arrays_[1], arrays_[2], n_, 0.4f}));
    if (name == "rmsnorm") {
      must(stream_.launch(index,
                          kernels::RmsNormParams{arrays_[1], arrays_[2], arrays_[0], n_ / kWidth, kWidth, kEpsilon}));
    }
    if (name == "swiglu") must(stream_.launch(index, kernels::SwigluParams{arrays_[1], arrays_[2], arrays_[0], n_}));
    must(stream_.synchronize());
  }

  void peer(const Peers& peers, const std::string& kernel) {
    auto* y = static_cast<float*>(arrays_[0]);
    const auto* a = static_cast<const float*>(arrays_[1]);
    const auto* b = static_cast<const float*>(arrays_[2]);
    if (kernel == "copy") peers.copy(a, y, n_);
    if (kernel == "triad") peers.triad(y, a, b, n_, 0.4f);
    if (kernel == "rmsnorm") peers.rmsnorm(a, b, y, n_ / kWidth, kWidth, kEpsilon);
    if (kernel == "swiglu") peers.swiglu(a, b, y, n_);
  }

 private:
  device::Module module_;
  device::Device device_;
  device::Stream stream_;
  std::int64_t n_;
  std::array<void*, 3> arrays_{};
};

void compare(Bench& bench, const Peers& peers, const char* kernel, std::int64_t n) {
  std::vector<double> ratios, ours, theirs;
  bench.launch(kernel, "f32");
  bench.peer(peers, kernel);
  for (int pair = 0; pair < kPairs; ++pair) {
    double mine = 0;
    double plain = 0;
    // A B B A, so that a drift favours neither side.
    if (pair % 2 == 0) mine = seconds([&] { bench.launch(kernel, "f32"); });
    plain = seconds([&] { bench.peer(peers, kernel); });
    if (pair % 2 == 1) mine = seconds([&] { bench.launch(kernel, "f32"); });
    ours.push_back(mine);
    theirs.push_back(plain);
    ratios.push_back(plain / mine);
  }
  const Estimate e = hodges_lehmann(ratios);
  std::printf("%-8s f32  ratio %.3f [%.3f, %.3f]   module %.3f ns/element, plain loop %.3f ns/element\n", kernel,
              e.ratio, e.low, e.high, median(ours) * 1e9 / static_cast<double>(n),
              median(theirs) * 1e9 / static_cast<double>(n));
}

void storage_types(Bench& bench, const char* kernel, std::int64_t n) {
  constexpr std::array<const char*, 3> dtypes = {"f32", "f16", "bf16"};
  std::array<std::vector<double>, 3> times;
  for (int round = 0; round <= kPairs; ++round) {
    for (std::size_t d = 0; d < dtypes.size(); ++d) {
      const double t = seconds([&] { bench.launch(kernel, dtypes[d]); });
      if (round > 0) times[d].push_back(t);  // the first round warms up
    }
  }
  std::printf("%-8s ns/element", kernel);
  for (std::size_t d = 0; d < dtypes.size(); ++d) {
    std::printf("  %s %.3f", dtypes[d], median(times[d]) * 1e9 / static_cast<double>(n));
  }
  std::printf("\n");
}

int run(int argc, char** argv) {
  const std::string program = argv[0];
  const std::size_t slash = program.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : program.substr(0, slash);
  const std::string module = argc > 1 ? argv[1] : folder + "/libassay-host.so";
  const std::int64_t mib = argc > 2 ? std::atoll(argv[2]) : 256;
  if (mib < 1 || mib > 65536) fail("MIB_PER_ARRAY must lie between 1 and 65536");
  const std::int64_t n = mib * 1024 * 1024 / 4;
  const bool v3 = std::string(host::kernel_build().isa) == "x86-64-v3";
#if defined(__x86_64__)
  const Peers peers = v3 ? v3_peers() : baseline_peers();
#else
  const Peers peers = baseline_peers();
#endif
  std::printf("module %s, kernels and loops for %s (%s), three arrays of %lld MiB\n", module.c_str(),
              host::kernel_build().isa, host::kernel_build().fp_flags, static_cast<long long>(mib));
  Bench bench(module, n);
  for (const char* kernel : {"copy", "triad", "rmsnorm", "swiglu"}) {
    bench.fill();
    compare(bench, peers, kernel, n);
    bench.fill();
    storage_types(bench, kernel, n);
  }
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  return assay::bench::run(argc, argv);
}
