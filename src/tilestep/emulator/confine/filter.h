// The system calls that a submission has no use for. Linux only; a small BPF program, made once the own process id is known.
//
// Three answers: kill (it tried to start a process, open a socket or reach into another process), refuse with an
// error that a C library copes with, and, for everything not named here, let it pass.
#pragma once

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__aarch64__)
#define CONFINE_HAS_FILTER 1

#ifdef __x86_64__
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif

constexpr uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t refuse(int error) { return SECCOMP_RET_ERRNO | uint32_t(error); }

// System calls that mean harm, or at least no kernel.
constexpr int kKilled[] = {
    SYS_socket, SYS_socketpair, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_execveat,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
};

// System calls that would loosen a limit, outlive the process or touch the machine.
constexpr int kRefused[] = {
    SYS_setrlimit, SYS_setpgid, SYS_setsid, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_shmget,
    SYS_msgget, SYS_semget, SYS_mq_open, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare,
    SYS_setns, SYS_perf_event_open, SYS_bpf, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_open_by_handle_at,
    SYS_userfaultfd, SYS_memfd_create, SYS_inotify_init1, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_init_module,
    SYS_finit_module, SYS_settimeofday, SYS_clock_settime, SYS_sethostname, SYS_personality,
    425 /* io_uring_setup */, 424 /* pidfd_send_signal */, 434 /* pidfd_open */, 438 /* pidfd_getfd */,
    428 /* open_tree */, 429 /* move_mount */,
};

class SystemCallFilter {
 public:
  // `program` is the path argument of the one execve that stays allowed: the address is as good as a secret, for
  // nothing is mapped there once the program runs.
  SystemCallFilter(pid_t self, const char* program) {
    load(offsetof(seccomp_data, arch));
    put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    answer(kKill);
    load(offsetof(seccomp_data, nr));
#ifdef __x86_64__
    put(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1));  // the x32 twins of every call
    answer(kKill);
#endif
    for (int call : kKilled) on(call, kKill);
    for (int call : kRefused) on(call, refuse(EPERM));
    on(435 /* clone3 */, refuse(ENOSYS));  // its flags lie in memory: the C library falls back to clone

    // clone: threads only.
    begin(SYS_clone, 4);
    load(argument(0));
    put(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x00010000U /* CLONE_THREAD */, 0, 1));
    answer(kAllow);
    answer(kKill);

    // Signals: to itself only (abort does so).
    constexpr int signals[] = {SYS_kill, SYS_tgkill};
    for (int call : signals) {
      begin(call, 4);
      load(argument(0));
      put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(self), 0, 1));
      answer(kAllow);
      answer(kKill);
    }

    // prlimit64: reading a limit is fine (the C library does), setting one is not.
    begin(SYS_prlimit64, 6);
    load(argument(2));
    put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3));
    load(argument(2) + 4);
    put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
    answer(kAllow);
    answer(refuse(EPERM));

    // ioctl: no typing into a terminal on somebody's behalf.
    begin(SYS_ioctl, 4);
    load(argument(1));
    put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 0, 1));
    answer(refuse(EPERM));
    answer(kAllow);

    begin(SYS_execve, 6);
    const uint64_t path = reinterpret_cast<uint64_t>(program);
    load(argument(0));
    put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(path), 0, 3));
    load(argument(0) + 4);
    put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(path >> 32), 0, 1));
    answer(kAllow);
    answer(kKill);

    answer(kAllow);
  }

  // Needs "no new privileges". False where the kernel has no filters.
  bool install() {
    sock_fprog program{static_cast<unsigned short>(count_), code_};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  static constexpr uint32_t argument(int n) { return uint32_t(offsetof(seccomp_data, args)) + 8 * n; }  // low half

  void put(sock_filter instruction) { code_[count_++] = instruction; }
  void load(size_t offset) { put(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, uint32_t(offset))); }
  void answer(uint32_t action) { put(BPF_STMT(BPF_RET | BPF_K, action)); }
  void on(int call, uint32_t action) {
    begin(call, 1);
    answer(action);
  }
  // The `length` instructions that follow are for this call; they must all end in an answer.
  void begin(int call, uint8_t length) { put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, length)); }

  sock_filter code_[256];
  int count_ = 0;
};

#endif
