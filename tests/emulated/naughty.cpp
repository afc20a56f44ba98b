// A program that does what a submission must not: which, its first argument says.
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

static void* one(void* value) {
  *static_cast<int*>(value) = 1;
  return nullptr;
}

static int threads() {
  int values[4] = {};
  pthread_t ids[4];
  for (int i = 0; i < 4; ++i) {
    if (pthread_create(&ids[i], nullptr, one, &values[i]) != 0) return 1;
  }
  for (int i = 0; i < 4; ++i) pthread_join(ids[i], nullptr);
  return values[0] + values[1] + values[2] + values[3] == 4 ? 0 : 1;
}

static int fill(const char* name_format, size_t each, int files) {
  static char block[1 << 20];
  memset(block, 1, sizeof block);
  for (int i = 0; i < files; ++i) {
    char name[64];
    snprintf(name, sizeof name, name_format, i);
    FILE* file = fopen(name, "wb");
    if (!file) return 1;
    for (size_t done = 0; done < each; done += sizeof block) fwrite(block, 1, sizeof block, file);
    fclose(file);
  }
  return 0;
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  const auto is = [&](const char* name) { return strcmp(what, name) == 0; };
  if (is("nothing")) return 0;
  if (is("seven")) return 7;
  if (is("environment")) {
    for (char** each = environ; *each; ++each) puts(*each);
    return 0;
  }
  if (is("fork")) return fork() == 0 ? 0 : 1;
  if (is("shell")) return system("true");
  if (is("exec")) return execl("/bin/true", "true", nullptr);
  if (is("socket")) return socket(AF_INET, SOCK_STREAM, 0) < 0;
  if (is("trace")) return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0;
  if (is("signal")) return kill(getppid(), SIGTERM);
  if (is("abort")) abort();
  if (is("segfault")) *static_cast<volatile int*>(nullptr) = 1;
  if (is("threads")) return threads();
  if (is("hang")) {
    for (;;) pause();
  }
  if (is("deaf")) {  // hangs, with both of its outputs closed
    close(1);
    close(2);
    for (;;) pause();
  }
  if (is("spin")) {
    for (volatile unsigned i = 0;; ++i) {
    }
  }
  if (is("flood")) {
    static char line[65536];
    memset(line, 'x', sizeof line);
    for (;;) {
      if (write(1, line, sizeof line) < 0) return 1;
    }
  }
  if (is("memory")) {
    for (;;) {
      void* volatile block = malloc(1 << 20);
      memset(block, 1, 1 << 20);
    }
  }
  if (is("big file")) return fill("big", size_t(1) << 30, 1);
  if (is("many files")) return fill("many%d", 1 << 20, 4000);
  if (is("outside")) {  // argument 2: a path
    const int file = open(arguments[2], O_WRONLY | O_CREAT, 0600);
    return file < 0 ? 3 : 0;
  }
  if (is("read")) {
    const int file = open(arguments[2], O_RDONLY);
    return file < 0 ? 3 : 0;
  }
  if (is("folder")) return mkdir("folder", 0700) != 0 ? 3 : 0;
  if (is("loosen")) {
    const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_FSIZE, &more) != 0 ? 3 : 0;
  }
  if (is("write here")) {
    FILE* file = fopen("kept.txt", "w");
    return file && fputs("kept", file) >= 0 && fclose(file) == 0 ? 0 : 1;
  }
  return 99;
}
