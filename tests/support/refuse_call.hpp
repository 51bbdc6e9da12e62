// SPDX-License-Identifier: Apache-2.0
// Refusals by the kernel on demand: from a call on, one system call of this process fails with a chosen error.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>

namespace assay::support {

// Refuses system call `number` of the calling thread, and of threads it starts, with `error`; for good. False where the
// kernel does not filter calls.
inline bool refuse_call(long number, int error) {
#if defined(__x86_64__)
  constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#else
  constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif
  const auto refusal = SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refusal),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof(program) / sizeof(program[0]), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace assay::support
