#include "team.h"

#include <pthread.h>

namespace tilestep {

constexpr int kMaxHelpers = 63;

static struct {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t started = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
  int helpers, wanted, busy;
  unsigned long task;  // counts the tasks
  void (*work)(void*);
  void* argument;
} team;

static void* help(void* number) {
  const int index = int(reinterpret_cast<long>(number));
  unsigned long seen = 0;
  pthread_mutex_lock(&team.lock);
  for (;;) {
    while (team.task == seen || index >= team.wanted) {
      seen = team.task;
      pthread_cond_wait(&team.started, &team.lock);
    }
    seen = team.task;
    pthread_mutex_unlock(&team.lock);
    team.work(team.argument);
    pthread_mutex_lock(&team.lock);
    if (--team.busy == 0) pthread_cond_signal(&team.finished);
  }
}

// The new helper sees the next task as its first.
static void hire(int helpers) {
  while (team.helpers < helpers && team.helpers < kMaxHelpers) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, help, reinterpret_cast<void*>(long(team.helpers))) != 0) return;
    pthread_detach(thread);
    ++team.helpers;
  }
}

void run_on_team(int helpers, void (*work)(void*), void* argument) {
  if (helpers > 0) {
    pthread_mutex_lock(&team.lock);
    hire(helpers);
    team.work = work;
    team.argument = argument;
    team.wanted = team.busy = helpers < team.helpers ? helpers : team.helpers;
    ++team.task;
    pthread_cond_broadcast(&team.started);
    pthread_mutex_unlock(&team.lock);
  }
  work(argument);
  if (helpers > 0) {
    pthread_mutex_lock(&team.lock);
    while (team.busy != 0) pthread_cond_wait(&team.finished, &team.lock);
    pthread_mutex_unlock(&team.lock);
  }
}

}  // namespace tilestep
