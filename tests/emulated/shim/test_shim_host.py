"""The host API as a seam uses it: what is recorded, what is refused, and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilestep.contract import STEP
from tilestep.emulator.build import Builder, CompileError
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.frontends.cuda import load
from tilestep.frontends.diagnostics import explain_compiler
from tilestep.program import Floats, Run

FOLDER = Path(__file__).parent
N = 64
INPUT = np.arange(N, dtype=np.float32).reshape(1, N)
X = INPUT[0]
MODES = pytest.mark.parametrize("mode", ["fast", "check"])


@MODES
@pytest.mark.parametrize(
    ("case", "want"),
    [
        (0, 2 * X + X + 100),
        (1, np.concatenate([X[:32], np.zeros(28), [1, 2, 1, 2]])),
        (2, X[::-1]),
        (3, np.full(N, 10)),
        (4, np.concatenate([X[:32] + 0.5, 3 * X[32:]])),
        (5, np.full(N, 132_000_000 + 232_448 + 32 + 9 + 3)),
    ],
    ids=["symbols", "memory", "dynamic-shared", "arguments", "functors", "device"],
)
def test_a_seam_is_recorded(mode: str, case: int, want: Floats, output: Callable[..., Floats]) -> None:
    got = output("host.cu", INPUT, (1, N), case=case, mode=mode)
    np.testing.assert_array_equal(got[0], np.asarray(want, np.float32))


def test_the_plan_holds_what_was_asked_for(run: Callable[..., Run]) -> None:
    plan = run("host.cu", INPUT, (1, N), case=1, mode="check").plan
    assert [launch.kernel for launch in plan.launches] == ["copyOf", "copyOf"]
    assert [launch.block for launch in plan.launches] == [(32, 1, 1), (64, 1, 1)]
    assert plan.memsets == 1
    assert plan.scratch_bytes == (256, 256)


def test_a_refused_launch_is_an_error_that_the_seam_can_read(run: Callable[..., Run]) -> None:
    ran = run("host.cu", INPUT, (1, N), case=6, mode="check")
    assert [finding.code for finding in ran.findings] == ["launch-refused"]
    # invalid configuration (9); nothing twice; invalid argument (1); no such device (101)
    assert ran.outputs["attnOut"][0].tolist() == [9 + 0 + 1000 * 1 + 10000 * 101] * N


def refused() -> list[tuple[int, int, str]]:
    lines = enumerate((FOLDER / "host.cu").read_text().splitlines(), start=1)
    marks = ((number, re.search(r"// refused (\d+): (.*)", line)) for number, line in lines)
    return [(int(mark[1]), number, mark[2]) for number, mark in marks if mark]


@MODES
@pytest.mark.parametrize(("case", "line", "says"), refused(), ids=lambda value: str(value))
def test_what_a_seam_may_not_do_is_refused_at_its_line(
    mode: str, case: int, line: int, says: str, run: Callable[..., Run]
) -> None:
    ran = run("host.cu", INPUT, (1, N), case=case, mode=mode)
    assert ran.ended == "refused"
    assert says in ran.says
    assert ran.line == line


SUBMISSION = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float4* out) { DEVICE }
void runCausalAttention(const float* qkv, float* attnOut, int T) {
  HOST
}
"""
UNAVAILABLE = {
    "cooperative-launch": ("HOST", "cudaLaunchCooperativeKernel((void*)k, 1, 32, 0);", "one after the other"),
    "launch-kernel": ("HOST", "cudaLaunchKernel((void*)k, 1, 32, 0, 0, 0);", "<<<grid, block"),
    "pitch": ("HOST", "void* p; size_t n; cudaMallocPitch(&p, &n, 8, 8);", "cudaMalloc"),
    "grid-sync": ("DEVICE", "cg::this_grid().sync();", "blocks run one after the other"),
    "wide-tile": ("DEVICE", "cg::tiled_partition<64>(cg::this_thread_block()).sync();", "16 or 32 threads"),
    "copy": ("DEVICE", "cg::memcpy_async(cg::this_thread_block(), out, out + 1, 16);", "through registers"),
    "texture": ("DEVICE", "out[0].x = tex2D<float>(0, 1.0f, 2.0f);", "textures"),
    "shuffle-a-struct": ("DEVICE", "out[0] = __shfl_sync(~0u, out[1], 0);", "__shfl_sync"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_what_is_not_run_does_not_compile_and_says_why(name: str, tmp_path: Path) -> None:
    place, code, says = UNAVAILABLE[name]
    path = tmp_path / "attention.cu"
    launch = "k<<<1, 32>>>((float4*)attnOut);"
    fill = {"DEVICE": "", "HOST": launch, place: code + (launch if place == "HOST" else "")}
    path.write_text(SUBMISSION.replace("DEVICE", fill["DEVICE"]).replace("HOST", fill["HOST"]))
    program = load(path, STEP["causal-attention"])
    with pytest.raises(CompileError) as caught:
        Builder(find_compiler(), Cache()).build(program.source, "fast")
    error = explain_compiler(caught.value.stderr, program)
    assert says in error.says
    assert error.line == {"DEVICE": 3, "HOST": 5}[place]


@pytest.mark.parametrize(
    "header",
    ["mma.h", "cuda_pipeline.h", "cuda/barrier", "cub/cub.cuh", "thrust/reduce.h", "curand_kernel.h"],
)
def test_headers_that_are_not_run_are_refused_by_name(header: str) -> None:
    with pytest.raises(CompileError) as caught:
        Builder(find_compiler(), Cache()).build(f"#include <{header}>\n", "fast")
    assert "is not run by the emulator" in caught.value.stderr
