// Crashes, timeouts, and the other ends of a run.
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/ucontext.h>
#else
#include <ucontext.h>
#endif

#include "arena.h"
#include "ending.h"
#include "machine.h"
#include "reporting.h"
#include "result.h"
#include "variables.h"

namespace tilestep {

constexpr int kCrashed = 3, kTimedOut = 4;
constexpr size_t kSignalStack = 64 * 1024;

static uintptr_t host_stack_top;  // of the seam, while it runs; else 0

void expect_host_code(bool expected) {
  host_stack_top = expected ? reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) : 0;
}

// Where the calling OS thread is: kernel, block and thread.
static void where(JsonLine& line) {
  const LaunchInfo* launch = running_launch();
  line.text("kernel", launch ? launch->kernel : nullptr);
  if (launch && machine) {
    line.triple("block", block_index_of(machine->block.linear));
    line.triple("thread", thread_index_of(machine->current));
  } else {
    line.nothing("block").nothing("thread");
  }
}

void stop_after_finding(uintptr_t pc, uintptr_t address) {
  write_finding_counts();
  JsonLine line("crash");
  line.nothing("signal").text("why", "stopped at the first fatal finding");
  where(line);
  line.code_address("pc", pc);
  if (address) line.number("address", int64_t(address));
  else line.nothing("address");
  line.write();
  _exit(kCrashed);
}

static JsonLine refusal(const char* why, const char* call, int at_line, uintptr_t pc) {
  JsonLine line("refused");
  line.text("why", why).text("call", call);
  if (at_line > 0) line.number("line", at_line);
  else line.nothing("line");
  line.code_address("pc", pc);
  return line;
}

void refuse(const char* why, const char* call, int at_line, uintptr_t pc, size_t bytes) {
  JsonLine line = refusal(why, call, at_line, pc);
  if (bytes != 0) line.number("bytes", int64_t(bytes));
  line.write();
  _exit(0);
}

void refuse_length(const char* why, const char* call, int at_line, uintptr_t pc, size_t most) {
  JsonLine line = refusal(why, call, at_line, pc);
  line.number("most", int64_t(most)).write();
  _exit(0);
}

static uintptr_t program_counter(void* context) {
  const ucontext_t* u = static_cast<const ucontext_t*>(context);
#if defined(__APPLE__) && defined(__aarch64__)
  return uintptr_t(u->uc_mcontext->__ss.__pc);
#elif defined(__APPLE__)
  return uintptr_t(u->uc_mcontext->__ss.__rip);
#elif defined(__aarch64__)
  return uintptr_t(u->uc_mcontext.pc);
#else
  return uintptr_t(u->uc_mcontext.gregs[REG_RIP]);
#endif
}

static bool in_stack_guard(uintptr_t address) {
  if (!machine) return false;
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(machine->stacks);
  return offset < kMaxThreads * kStackStride && offset % kStackStride < kStackGuardBytes;
}

static uintptr_t stack_pointer(void* context) {
  const ucontext_t* u = static_cast<const ucontext_t*>(context);
#if defined(__APPLE__) && defined(__aarch64__)
  return uintptr_t(u->uc_mcontext->__ss.__sp);
#elif defined(__APPLE__)
  return uintptr_t(u->uc_mcontext->__ss.__rsp);
#elif defined(__aarch64__)
  return uintptr_t(u->uc_mcontext.sp);
#else
  return uintptr_t(u->uc_mcontext.gregs[REG_RSP]);
#endif
}

struct Extent {
  uintptr_t begin, end;
};

// The part of the stack that `sp` points into that is in use: of a fiber, or of the seam; else nothing.
static Extent used_stack(uintptr_t sp) {
  if (sp < host_stack_top && host_stack_top - sp < 1024 * 1024) return Extent{sp, host_stack_top};
  if (!machine) return Extent{};
  const uintptr_t offset = sp - reinterpret_cast<uintptr_t>(machine->stacks);
  if (offset >= kMaxThreads * kStackStride) return Extent{};
  const uintptr_t end = sp - offset % kStackStride + kStackStride;
  const uintptr_t lowest = end - kStackBytes;
  return Extent{sp < lowest ? lowest : sp, end};  // below, where it has overflowed
}

// When the signal came in a library's function or in the machine itself, the submission's line is among the callers.
// What looks like a return address on the stack, nearest first: a reader with debug information picks.
static void callers(JsonLine& line, void* context) {
  constexpr int kMost = 24, kWords = 1024;
  uintptr_t found[kMost];
  int count = 0;
  const Extent stack = used_stack((stack_pointer(context) + 7) & ~uintptr_t(7));
  for (uintptr_t i = 0; i < kWords && count < kMost; ++i) {
    const uintptr_t at = stack.begin + i * sizeof(uintptr_t);
    if (at >= stack.end) break;
    const uintptr_t word = *reinterpret_cast<const uintptr_t*>(at);
    if (is_module_code(word)) found[count++] = word - 1;
  }
  line.code_addresses("callers", found, count);
}

static const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    default:
      return "SIGABRT";
  }
}

static const char* reason(int signal, uintptr_t address, bool address_known) {
  if (signal == SIGFPE) return "integer division by zero";
  if (signal == SIGILL) return "illegal instruction";
  if (signal == SIGABRT) return "abort";
  if (!address_known) return "bad address";
  if (in_stack_guard(address)) return "stack overflow";
  if (address < 64 * 1024) return "null pointer";
  if (is_near_arena(address)) return "out of bounds of global memory";
  return "bad address";
}

static void on_crash(int signal, siginfo_t* info, void* context) {
  const uintptr_t pc = program_counter(context);
  const uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  bool address_known = (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0;
#ifdef SI_KERNEL
  if (info->si_code == SI_KERNEL) address_known = false;  // an address that no process can have
#endif
  if (address_known && host_stack_top != 0 && address - arena_begin() < arena_end() - arena_begin()) {
    JsonLine line = refusal("device_memory_on_host", nullptr, 0, pc);
    callers(line, context);
    line.write();
    _exit(0);
  }
  if (address_known && in_stack_guard(address)) {
    Finding finding;
    finding.code = "stack-overflow";
    finding.pc = pc;
    finding.thread = machine->current;
    finding.block = machine->block.linear;
    report(finding);
  }
  write_finding_counts();
  JsonLine line("crash");
  line.text("signal", name_of(signal)).text("why", reason(signal, address, address_known));
  where(line);
  line.code_address("pc", pc);
  if (address_known) line.number("address", int64_t(address));
  else line.nothing("address");
  callers(line, context);
  line.write();
  _exit(kCrashed);
}

static void on_timeout(int, siginfo_t*, void* context) {
  write_finding_counts();
  JsonLine line("timeout");
  where(line);
  line.code_address("pc", program_counter(context));
  callers(line, context);
  line.write();
  _exit(kTimedOut);
}

void use_signal_stack() {
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.ss_sp == MAP_FAILED) give_up("no memory for a signal stack");
  stack.ss_size = kSignalStack;
  if (sigaltstack(&stack, nullptr) != 0) give_up("cannot set a signal stack");
}

void install_signal_handlers(double timeout_seconds) {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  sigfillset(&action.sa_mask);
  action.sa_sigaction = on_crash;
  const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (int signal : crashes) sigaction(signal, &action, nullptr);
  action.sa_sigaction = on_timeout;
  sigaction(SIGALRM, &action, nullptr);
  if (timeout_seconds > 0) {
    itimerval timer{};
    timer.it_value.tv_sec = time_t(timeout_seconds);
    timer.it_value.tv_usec = suseconds_t((timeout_seconds - double(timer.it_value.tv_sec)) * 1e6);
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
}

}  // namespace tilestep
