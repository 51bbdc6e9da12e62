// SPDX-License-Identifier: Apache-2.0
// CannedTree: a folder of canned files that stands in for / while a test runs.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace assay::test {

class CannedTree {
 public:
  CannedTree() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) root_ = name;
  }
  CannedTree(const CannedTree&) = delete;
  CannedTree& operator=(const CannedTree&) = delete;
  ~CannedTree() {
    std::error_code ignored;
    if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
  }

  void write(const std::string& path, const std::string& content) const {
    const std::filesystem::path full = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << content;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(std::filesystem::path(root_) / path); }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace assay::test
