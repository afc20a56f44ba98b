// confine [LIMIT=N ...] [locked] -- PROGRAM [ARGUMENT ...]
//
// Takes away what an untrusted program could misuse, then becomes that program. A small program of its own, so that nothing of the
// judge's process runs between its fork and the submission.
//
//   memory=BYTES  cpu=SECONDS  file=BYTES  files=COUNT   limits of the kernel (address space, not resident memory)
//   locked                                              no processes, no sockets, no files outside the current folder
//
// `confine probe` prints which protections hold on this machine, one a line. Exit 125: a limit could not be set;
// 126: the program could not be started.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>

#include "files.h"
#include "filter.h"
#endif

namespace {

struct Limit {
  const char* name;
  int resource;
};

constexpr Limit kLimits[] = {
    {"memory", RLIMIT_AS}, {"cpu", RLIMIT_CPU}, {"file", RLIMIT_FSIZE}, {"files", RLIMIT_NOFILE}};

[[noreturn]] void give_up(int status, const char* what) {
  fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
  _exit(status);
}

void set_limit(int resource, rlim_t soft, rlim_t hard, const char* name) {
  rlimit current;
  if (getrlimit(resource, &current) == 0 && current.rlim_max != RLIM_INFINITY) {
    if (hard > current.rlim_max) hard = current.rlim_max;
    if (soft > hard) soft = hard;
  }
  const rlimit wanted{soft, hard};
#ifdef __APPLE__
  if (resource == RLIMIT_AS) return;  // not kept there
#endif
  if (setrlimit(resource, &wanted) != 0) give_up(125, name);
}

bool take_limit(const char* argument) {
  for (const Limit& limit : kLimits) {
    const size_t length = strlen(limit.name);
    if (strncmp(argument, limit.name, length) != 0 || argument[length] != '=') continue;
    const rlim_t value = strtoull(argument + length + 1, nullptr, 10);
    // A second of CPU time more until the kernel kills, so that the first signal says what happened.
    set_limit(limit.resource, value, limit.resource == RLIMIT_CPU ? value + 1 : value, limit.name);
    return true;
  }
  return false;
}

#ifdef __linux__
constexpr const char* kLibraryFolders[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"};
constexpr const char* kSystemFiles[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/proc/self", "/sys/devices/system/cpu"};

struct Protections {
  bool calls = false, files = false, network = false;
};

// `program` is the path that will be executed; it must stay where it is until then.
Protections lock(const char* program) {
  Protections holds;
  FileRules rules;
  rules.allow_write(".");
  rules.allow_read(program);
  for (const char* path : kLibraryFolders) rules.allow_read(path);
  for (const char* path : kSystemFiles) rules.allow_read(path);
  holds.files = rules.restrict_self();
#ifdef CONFINE_HAS_FILTER
  SystemCallFilter filter(getpid(), program);
  holds.calls = filter.install();
#endif
  // Without the filter a program could open sockets: let it see no network.
  if (!holds.calls) holds.network = unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
  return holds;
}
#endif

void no_new_rights() {
#ifdef __linux__
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#endif
}

int probe() {
#ifdef __linux__
  no_new_rights();
  const Protections holds = lock("/");
  printf("processes and sockets %d\nfiles %d\nnetwork %d\n", holds.calls, holds.files, holds.calls || holds.network);
#else
  printf("processes and sockets 0\nfiles 0\nnetwork 0\n");
#endif
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && strcmp(arguments[1], "probe") == 0) return probe();

#ifdef __linux__
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) return 126;  // the judge died before the line above
#endif
  set_limit(RLIMIT_CORE, 0, 0, "core");

  bool locked = false;
  int at = 1;
  for (; at < count && strcmp(arguments[at], "--") != 0; ++at) {
    if (strcmp(arguments[at], "locked") == 0) {
      locked = true;
    } else if (!take_limit(arguments[at])) {
      errno = EINVAL;
      give_up(125, arguments[at]);
    }
  }
  if (++at >= count) {
    errno = EINVAL;
    give_up(125, "no program");
  }

  // A page of its own, at an address that the kernel draws: the filter lets exactly this path be executed.
  const size_t room = 4096;
  char* program = static_cast<char*>(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (program == MAP_FAILED || strlen(arguments[at]) >= room) give_up(125, "path");
  strcpy(program, arguments[at]);
  no_new_rights();
#ifdef __linux__
  if (locked) lock(program);
#else
  (void)locked;
#endif
  extern char** environ;
  execve(program, arguments + at, environ);
  give_up(126, program);
}
