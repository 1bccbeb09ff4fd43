// HIP graphs: captured from streams, built node by node, launched again and again, changed.
#include "cases.h"

__global__ void add(int *p, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += by;
}

__global__ void sum_of(const int *a, const int *b, int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = a[i] + b[i];
}

const int N = 1000;

static void all_are(const Device<int> &d, int want) {
  auto got = d.get();
  for (int i = 0; i < N; i++) CHECK(got[i] == want, "element %d is %d, not %d", i, got[i], want);
}

static hipKernelNodeParams kernel(void *function, void **args) {
  hipKernelNodeParams p = {};
  p.func = function;
  p.gridDim = dim3((N + 255) / 256);
  p.blockDim = dim3(256);
  p.kernelParams = args;
  return p;
}

CASE(captured_stream) {
  Device<int> d(std::vector<int>(N, 0));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  for (int by : {1, 10, 100}) add<<<4, 256, 0, stream>>>(d.p, N, by);
  hipGraph_t graph;
  HIP(hipStreamEndCapture(stream, &graph));
  all_are(d, 0);
  hipGraphExec_t exec;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 5; i++) HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  all_are(d, 555);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
}

CASE(captured_fork_and_join) {
  Device<int> a(std::vector<int>(N, 1)), b(std::vector<int>(N, 2)), c(N);
  hipStream_t one, two;
  hipEvent_t fork, join;
  HIP(hipStreamCreate(&one));
  HIP(hipStreamCreate(&two));
  HIP(hipEventCreate(&fork));
  HIP(hipEventCreate(&join));
  HIP(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal));
  HIP(hipEventRecord(fork, one));
  HIP(hipStreamWaitEvent(two, fork, 0));
  add<<<4, 256, 0, one>>>(a.p, N, 3);
  add<<<4, 256, 0, two>>>(b.p, N, 5);
  HIP(hipEventRecord(join, two));
  HIP(hipStreamWaitEvent(one, join, 0));
  sum_of<<<4, 256, 0, one>>>(a.p, b.p, c.p, N);
  hipGraph_t graph;
  HIP(hipStreamEndCapture(one, &graph));
  size_t nodes = 0;
  HIP(hipGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes >= 3, "%zu nodes", nodes);
  hipGraphExec_t exec;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(exec, one));
  HIP(hipStreamSynchronize(one));
  all_are(c, 11);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
}

CASE(nodes_by_hand) {
  Device<int> a(N), b(N), c(N);
  std::vector<int> from(N, 7), to(N, 0);
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t set, copy, plus, both, back;
  hipMemsetParams fill = {};
  fill.dst = a.p, fill.elementSize = 4, fill.width = N, fill.height = 1, fill.value = 3;
  HIP(hipGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  HIP(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, b.p, from.data(), N * 4, hipMemcpyHostToDevice));
  int n = N, by = 20;
  void *plus_args[] = {&a.p, &n, &by};
  auto params = kernel((void *)add, plus_args);
  HIP(hipGraphAddKernelNode(&plus, graph, &set, 1, &params));
  void *both_args[] = {&a.p, &b.p, &c.p, &n};
  params = kernel((void *)sum_of, both_args);
  hipGraphNode_t before[] = {plus, copy};
  HIP(hipGraphAddKernelNode(&both, graph, before, 2, &params));
  HIP(hipGraphAddMemcpyNode1D(&back, graph, &both, 1, to.data(), c.p, N * 4, hipMemcpyDeviceToHost));
  hipGraphExec_t exec;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  for (int i = 0; i < N; i++) CHECK(to[i] == 30, "element %d is %d", i, to[i]);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
}

static void note(void *data) { ++*(int *)data; }

CASE(host_nodes) {
  int calls = 0;
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t first, second;
  hipHostNodeParams params = {};
  params.fn = note, params.userData = &calls;
  HIP(hipGraphAddHostNode(&first, graph, nullptr, 0, &params));
  HIP(hipGraphAddHostNode(&second, graph, &first, 1, &params));
  hipGraphExec_t exec;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  for (int i = 0; i < 3; i++) HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  CHECK(calls == 6, "%d calls", calls);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
}

CASE(changed_parameters) {
  Device<int> d(std::vector<int>(N, 0));
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t node;
  int n = N, by = 1;
  void *args[] = {&d.p, &n, &by};
  auto params = kernel((void *)add, args);
  HIP(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  hipGraphExec_t exec;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  by = 40;
  HIP(hipGraphExecKernelNodeSetParams(exec, node, &params));
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  all_are(d, 41);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
}

CASE(child_graphs) {
  Device<int> d(std::vector<int>(N, 0));
  hipGraph_t child, parent;
  HIP(hipGraphCreate(&child, 0));
  HIP(hipGraphCreate(&parent, 0));
  int n = N, by = 6;
  void *args[] = {&d.p, &n, &by};
  auto params = kernel((void *)add, args);
  hipGraphNode_t node, first, second;
  HIP(hipGraphAddKernelNode(&node, child, nullptr, 0, &params));
  HIP(hipGraphAddChildGraphNode(&first, parent, nullptr, 0, child));
  HIP(hipGraphAddChildGraphNode(&second, parent, &first, 1, child));
  hipGraphExec_t exec;
  HIP(hipGraphInstantiate(&exec, parent, nullptr, nullptr, 0));
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  all_are(d, 12);
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(parent));
  HIP(hipGraphDestroy(child));
}

CASE(edges_and_roots) {
  hipGraph_t graph;
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t nodes[4];
  for (auto &node : nodes) HIP(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  hipGraphNode_t from[] = {nodes[0], nodes[0], nodes[1]}, to[] = {nodes[1], nodes[2], nodes[3]};
  HIP(hipGraphAddDependencies(graph, from, to, 3));
  size_t edges = 0, roots = 0, after = 0;
  HIP(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  HIP(hipGraphGetRootNodes(graph, nullptr, &roots));
  HIP(hipGraphNodeGetDependentNodes(nodes[0], nullptr, &after));
  CHECK(edges == 3 && roots == 1 && after == 2, "%zu edges, %zu roots, %zu after the first", edges, roots, after);
  HIP(hipGraphDestroy(graph));
}
