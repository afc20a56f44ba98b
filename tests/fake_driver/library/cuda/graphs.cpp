// Graphs: a list of work that is done, in order, at each launch. There is one capture at a time, of any stream.
#include "graphs.h"

#include <vector>

struct Graph {
  std::vector<std::function<int()>> work;
};

namespace {
Graph* current = nullptr;
}

bool capturing() { return current != nullptr; }
int keep(std::function<int()> work) {
  current->work.push_back(std::move(work));
  return SUCCESS;
}

API cuStreamBeginCapture(Stream*, int) {
  if (int failed = ready()) return failed;
  if (current) return INVALID_VALUE;
  current = new Graph;
  return SUCCESS;
}
API cuStreamEndCapture(Stream*, Graph** out) {
  if (!current) return INVALID_VALUE;
  *out = current;
  current = nullptr;
  return ready();
}
// An instance is a copy, so the graph itself may go.
API cuGraphInstantiateWithFlags(Graph** out, Graph* graph, unsigned long long) {
  if (int failed = ready()) return failed;
  *out = new Graph(*graph);
  return SUCCESS;
}
API cuGraphInstantiate(Graph** out, Graph* graph, unsigned long long flags) {
  return cuGraphInstantiateWithFlags(out, graph, flags);
}
API cuGraphLaunch(Graph* instance, Stream*) {
  for (const auto& work : instance->work)
    if (int failed = work()) return failed;
  return ready();
}
API cuGraphDestroy(Graph* graph) {
  delete graph;
  return SUCCESS;
}
API cuGraphExecDestroy(Graph* instance) {
  delete instance;
  return SUCCESS;
}
