// SPDX-License-Identifier: Apache-2.0
// SHA-256 over libcrypto's EVP interface.
#include "suite/identity/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

namespace assay::identity {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    good_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }
  void add(const char* bytes, std::size_t count) {
    good_ = good_ && EVP_DigestUpdate(context_.get(), bytes, count) == 1;
  }
  Result<std::string> finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
    unsigned int size = 0;
    if (!good_ || EVP_DigestFinal_ex(context_.get(), raw.data(), &size) != 1)
      return Error{ErrorCode::internal, "libcrypto could not compute a SHA-256; check the installed OpenSSL library"};
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
      text += digits[raw[i] >> 4U];
      text += digits[raw[i] & 15U];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool good_ = false;
};

}  // namespace

Result<std::string> sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.finish();
}

Result<std::string> sha256_file(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& reason) {
    return Error{ErrorCode::bad_input,
                 "cannot hash '" + path.string() + "': " + reason + "; check path and permissions"};
  };
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) return refuse("it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(std::strerror(errno));
  Digest digest;
  std::array<char, 1 << 16> piece{};
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    digest.add(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return refuse("it cannot be read to its end");
  return digest.finish();
}

}  // namespace assay::identity
