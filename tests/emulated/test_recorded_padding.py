"""Structs handed to kernels: the bytes between their members hold what lay there before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilestep import contract
from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job, Launch, Run
from tilestep.targets.gpu.recording import record

T = 5
JOB = Job(
    (
        Buffer("x", T, contract.D, "in", np.zeros((T, contract.D), np.float32)),
        Buffer("weight", 1, contract.D, "in", np.zeros((1, contract.D), np.float32)),
        Buffer("y", T, contract.D, "out"),
    ),
    (T,),
    mode="record",
)
SEAM = "void runRmsNorm(const float* x, const float* weight, float* y, int T) {"

# Addresses of the stack, which lies elsewhere in each recording, in all that the next call uses.
DIRTY = """
__attribute__((noinline)) static long dirty() {
  const void* volatile here[512];
  for (int i = 0; i < 512; ++i) here[i] = (const char*)&here[i] + 0x0101010101;
  long sum = 0;
  for (int i = 0; i < 512; ++i) sum += (long)here[i];
  return sum;
}
"""
SEAM_BODY = SEAM + " const bool odd = dirty() == 1; go(x, y, T + odd); }\n"

PLAIN = """
struct Work { int n; const float* x; float factor; float* y; };
__global__ void k(Work work) { work.y[0] = work.x[0] * work.factor; }
__attribute__((noinline)) static void go(const float* x, float* y, int T) {
  Work work; work.n = T; work.x = x; work.factor = 5; work.y = y;
  k<<<1, 1>>>(work);
}
"""
# An array of structs, a nested one, a base with private members, an enum, a half, and padding at the end.
DEEP = """
#include <cuda_fp16.h>
struct Range { char kind; double end; };
enum Kind : short { ROWS };
class Base { int rows; char last; public: void set(int n) { rows = n; last = 1; } };
struct Work : Base {
  Range ranges[2][2]; const float* x; bool causal; struct { short a; int b; } inner; Kind kind; float* y;
  __half h;
};
__global__ void k(Work work) { work.y[0] = work.x[0]; }
__attribute__((noinline)) static void go(const float* x, float* y, int T) {
  Work work; work.set(T);
  for (int i = 0; i < 4; ++i) { work.ranges[i / 2][i % 2].kind = 1; work.ranges[i / 2][i % 2].end = T; }
  work.x = x; work.causal = true; work.inner.a = 3; work.inner.b = T; work.kind = ROWS; work.y = y;
  work.h = __float2half(1.0f);
  k<<<1, 1>>>(work);
}
"""
LAMBDA = """
template <class F> __global__ void k(float* y, F f) { y[0] = f(1.0f); }
__attribute__((noinline)) static void go(const float* x, float* y, int T) {
  char add = 3; const double times = T;
  k<<<1, 1>>>(y, [=] __device__(float v) { return float(v * times + add + x[0]); });
}
"""
HEAP = """
#include <cstdlib>
struct Work { int n; const float* x; float factor; float* y; };
__global__ void k(Work work) { work.y[0] = work.x[0] * work.factor; }
__attribute__((noinline)) static void go(const float* x, float* y, int T) {
  const void** fill = new const void*[4]{&fill, &fill, &fill, &fill};
  delete[] fill;
  Work* work = new Work; work->n = T; work->x = x; work->factor = 5; work->y = y;
  k<<<1, 1>>>(*work);
  delete work;
}
"""
MODERN = find_compiler().kind != "gcc" or int(find_compiler().version.split(".")[0]) >= 11


def recorded(folder: Path, text: str) -> Run:
    path = folder / "a.cu"
    path.write_text(text)
    program = load(path, contract.STEP["rmsnorm"])
    builder = Builder(find_compiler(), Cache())
    return record(builder.build(program.source, "record"), program.file, JOB, builder.confine)


@pytest.mark.skipif(not MODERN, reason="g++ 11 is the first that can clear padding")
@pytest.mark.parametrize("body", [PLAIN, DEEP, LAMBDA, HEAP], ids=["plain", "deep", "lambda", "heap"])
def test_padding_is_no_part_of_a_plan(tmp_path: Path, body: str) -> None:
    done = recorded(tmp_path, DIRTY + body + SEAM_BODY)
    assert done.ended == "finished", done.says


@pytest.mark.skipif(not MODERN, reason="g++ 11 is the first that can clear padding")
def test_padding_is_zero_and_members_are_not_touched(tmp_path: Path) -> None:
    (item,) = recorded(tmp_path, DIRTY + PLAIN + SEAM_BODY).plan.items
    assert isinstance(item, Launch)
    (work,) = item.arguments
    assert work.data.hex() == "0500000000000000" + "00" * 8 + "0000a04000000000" + "00" * 8
    assert [(at, place.buffer) for at, place in work.pointers] == [(8, "x"), (24, "y")]


def test_a_member_that_depends_on_an_address_is_still_found(tmp_path: Path) -> None:
    body = PLAIN.replace("work.n = T;", "work.n = int((unsigned long)y >> 16);")
    says = {recorded(tmp_path, DIRTY + body + SEAM_BODY).says for _ in range(3)}
    assert any("depend on something other than the sizes" in one for one in says)
