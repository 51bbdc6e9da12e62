// SPDX-License-Identifier: Apache-2.0
// Reads what the device compilers said about each kernel.
#include "tests/gates/kernel_log.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

namespace assay::test {

std::vector<KernelFigures> parse_ptxas(const std::string& log) {
  static const std::regex head("Compiling entry function '([^']+)' for '([^']+)'");
  static const std::regex frame("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  static const std::regex used("Used ([0-9]+) registers");
  std::vector<KernelFigures> kernels;
  std::istringstream lines(log);
  std::string line;
  bool in_entry = false;  // "Function properties" also stand for device functions that were not inlined
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_search(line, match, head)) {
      kernels.push_back({match[1], match[2]});
      in_entry = true;
    } else if (in_entry && std::regex_search(line, match, frame)) {
      // Every function printed under this entry counts against it.
      auto& kernel = kernels.back();
      const long spills = std::stol(match[2]) + std::stol(match[3]);
      kernel.scratch_bytes = std::max(kernel.scratch_bytes, 0L) + std::stol(match[1]);
      kernel.spill_bytes = std::max(kernel.spill_bytes, 0L) + spills;
    } else if (in_entry && std::regex_search(line, match, used)) {
      kernels.back().registers = std::stol(match[1]);
    }
  }
  return kernels;
}

std::vector<KernelFigures> parse_resource_remarks(const std::string& log) {
  // With the "kernel" and "Function" spellings of clang 15 and later.
  static const std::regex head("remark: +(?:Function|Kernel) Name: ([^ ]+)");
  static const std::regex figure("remark: +(VGPRs|ScratchSize \\[bytes/lane\\]|SGPRs Spill|VGPRs Spill): ([0-9]+)");
  std::vector<KernelFigures> kernels;
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_search(line, match, head)) {
      kernels.push_back({match[1], ""});
    } else if (!kernels.empty() && std::regex_search(line, match, figure)) {
      auto& kernel = kernels.back();
      const long value = std::stol(match[2]);
      if (match[1] == "VGPRs")
        kernel.registers = value;
      else if (match[1] == "SGPRs Spill" || match[1] == "VGPRs Spill")
        kernel.spill_bytes = std::max(kernel.spill_bytes, 0L) + value;
      else
        kernel.scratch_bytes = value;
    }
  }
  return kernels;
}

std::vector<std::string> complaints(const std::vector<KernelFigures>& kernels) {
  std::vector<std::string> result;
  for (const auto& kernel : kernels) {
    const std::string who = kernel.name + (kernel.target.empty() ? "" : " for " + kernel.target);
    if (kernel.registers < 0 || kernel.spill_bytes < 0 || kernel.scratch_bytes < 0)
      result.push_back(who + ": the compiler did not state all figures");
    else if (kernel.spill_bytes > 0)
      result.push_back(who + ": spills " + std::to_string(kernel.spill_bytes));
    else if (kernel.scratch_bytes > 0)
      result.push_back(who + ": uses " + std::to_string(kernel.scratch_bytes) + " bytes of local memory");
  }
  return result;
}

}  // namespace assay::test
