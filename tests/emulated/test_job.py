"""From a .cu file to a Run: values, findings with lines, refusals, crashes, and what the clock ends."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilestep import contract
from tilestep.emulator import build
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job, Run, SubmissionError
from tilestep.targets import building
from tilestep.targets.cpu import CpuBuilt, CpuTarget

STEP = contract.STEP["rmsnorm"]
X = np.arange(2 * contract.D, dtype=np.float32).reshape(2, contract.D)
WEIGHT = np.full((1, contract.D), 3, dtype=np.float32)

REVERSE = """\
__device__ float scaled(const float* weight, float value) {
  return weight[threadIdx.x] * value;
}

__global__ void reverse(const float* x, const float* weight, float* y) {
  __shared__ float row[D];
  row[threadIdx.x] = x[blockIdx.x * D + threadIdx.x];
  BARRIER
  y[blockIdx.x * D + threadIdx.x] = scaled(weight, row[D - 1 - threadIdx.x]);
  EXTRA
}

void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  HOST
  reverse<<<T, D>>>(x, weight, y);
}
"""


def source(barrier: str = "__syncthreads();", extra: str = "", host: str = "") -> str:
    return REVERSE.replace("BARRIER", barrier).replace("EXTRA", extra).replace("HOST", host)


def line_of(text: str, piece: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if piece in line)


def built(folder: Path, text: str) -> CpuBuilt:
    path = folder / "reverse.cu"
    path.write_text(text)
    return CpuTarget().build(load(path, STEP))


def job(mode: str = "check", **more: object) -> Job:
    regions = (("left", 0, 256), ("right", 256, 512))
    buffers = (
        Buffer("x", 2, contract.D, "in", X, regions),
        Buffer("weight", 1, contract.D, "in", WEIGHT),
        Buffer("y", 2, contract.D, "out"),
    )
    return Job(buffers, (2,), mode=mode, **more)  # type: ignore[arg-type]


def run(folder: Path, text: str, mode: str = "check", **more: object) -> Run:
    return CpuTarget().run(built(folder, text), job(mode, **more))


@pytest.mark.parametrize("mode", ["fast", "check", "traffic"])
def test_a_right_kernel_runs_in_every_mode(tmp_path: Path, mode: str) -> None:
    text = source()
    ran = run(tmp_path, text, mode)
    assert (ran.ended, ran.says, ran.findings) == ("finished", "", ())
    np.testing.assert_array_equal(ran.outputs["y"], X[:, ::-1] * 3)
    assert set(ran.outputs) == {"y"}
    assert (ran.accesses > 0) == (mode != "fast")
    (launch,) = ran.plan.launches
    assert (launch.kernel, launch.grid, launch.block) == ("reverse", (2, 1, 1), (512, 1, 1))
    assert launch.line == line_of(text, "<<<")
    if mode == "traffic":
        assert ran.traffic is not None
        assert ran.traffic.read["x", "left"] == ran.traffic.read["x", "right"] == 2 * 256 * 4
        assert ran.traffic.read["weight", ""] == 2 * contract.D * 4
        assert ran.traffic.written["y", ""] == 2 * contract.D * 4
    else:
        assert ran.traffic is None


@pytest.mark.parametrize("order", ["forward", "reverse", "random 7"])
def test_a_missing_barrier_is_found_at_both_lines(tmp_path: Path, order: str) -> None:
    text = source(barrier="")
    ran = run(tmp_path, text, order=order)
    races = [finding for finding in ran.findings if finding.code == "race-shared"]
    lines = {line_of(text, "row[threadIdx.x] ="), line_of(text, "row[D - 1")}
    assert races
    assert {race.line for race in races} <= lines
    assert all(race.array == "row" and race.kernel == "reverse" for race in races)
    assert all(race.file == str(tmp_path / "reverse.cu") for race in races)


def test_an_access_in_an_inlined_function_has_that_functions_line(tmp_path: Path) -> None:
    text = source().replace("weight[threadIdx.x]", "weight[threadIdx.x + 1]")
    ran = run(tmp_path, text)
    (finding,) = [found for found in ran.findings if found.code == "out-of-bounds-global"]
    assert finding.line == line_of(text, "weight[threadIdx.x + 1]")
    assert finding.array == "weight"
    assert finding.thread == (511, 0, 0)


def test_a_finding_is_counted(tmp_path: Path) -> None:
    ran = run(tmp_path, source(extra="if (threadIdx.x < 5) const_cast<float*>(x)[threadIdx.x] = 0;"))
    (finding,) = [found for found in ran.findings if found.code == "input-written"]
    assert finding.count == 10


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("cudaMalloc((void**)&y, 4096);", "more than this step allows"),
        ("y[0] = x[0];", "host code of the seam reads or writes device memory"),
    ],
)
def test_a_seam_outside_the_rules_is_refused(tmp_path: Path, host: str, says: str) -> None:
    ran = run(tmp_path, source(host=host))
    assert ran.ended == "refused"
    assert says in ran.says


def test_a_refusal_names_the_line(tmp_path: Path) -> None:
    text = source(host="float first = x[0]; T = first < 0;")
    ran = run(tmp_path, text)
    assert (ran.ended, ran.line) == ("refused", line_of(text, "float first"))


def test_a_kernel_that_crashes_is_told(tmp_path: Path) -> None:
    text = source(extra="if (threadIdx.x == 3) y[1 << 30] = 1;")
    fast, checked = run(tmp_path, text, "fast"), run(tmp_path, text)
    assert fast.says.startswith("it crashed in kernel reverse, block 0, thread 3: ")
    assert checked.says.startswith("the run cannot go on: ")
    assert "thread 3 of block 0" in checked.says
    for ran in (fast, checked):
        assert (ran.ended, ran.line, ran.outputs) == ("crashed", line_of(text, "1 << 30"), {})


@pytest.mark.parametrize("mode", ["fast", "check"])
def test_a_kernel_that_does_not_end_is_ended(tmp_path: Path, mode: str) -> None:
    text = source(extra="for (volatile int i = 1; i; ) { i = 1; }")
    ran = run(tmp_path, text, mode, timeout=1.0, budget=0)
    assert ran.ended == "timed-out"
    assert "still running after 1 second" in ran.says
    assert "reverse" in ran.says


def test_host_code_that_ends_the_process_is_told(tmp_path: Path) -> None:
    ran = run(tmp_path, source(host="__builtin_trap();"))
    assert ran.ended == "crashed"
    assert "SIGILL" in ran.says or "trap" in ran.says


def test_wrong_sizes_are_the_callers_fault(tmp_path: Path) -> None:
    target = CpuTarget()
    ready = built(tmp_path, source())
    with pytest.raises(ValueError, match="buffer x holds 1024 values, not 3 x 512"):
        target.run(ready, Job((Buffer("x", 3, contract.D, "in", X),), (2,)))


@pytest.fixture
def unlinked_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where object files are of another format: nobody looks at what they call."""
    monkeypatch.setattr(build, "forbidden_call", lambda submission: "")


def run_past_the_frontend(folder: Path, host: str) -> Run:
    """Host code that the frontend would have refused: the sandbox and the reader do not lean on it."""
    path = folder / "reverse.cu"
    path.write_text(source(host="/* here */"))
    program = load(path, STEP)
    includes = "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n"
    forced = replace(program, source=includes + program.source.replace("/* here */", host))
    assert host in forced.source
    target = CpuTarget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "as_compiled", lambda builder, asked: asked)  # which reads the text again
        ready = target.build(forced)
    return target.run(ready, job())


@pytest.mark.skipif(sys.platform != "linux", reason="system calls are only filtered on Linux")
@pytest.mark.usefixtures("unlinked_names")
def test_native_code_that_starts_a_process_is_stopped(tmp_path: Path) -> None:
    ran = run_past_the_frontend(tmp_path, "if (fork() == 0) _exit(0);")
    assert ran.ended == "crashed"
    assert ran.says == "it tried to start a process, open a socket or reach into another process"


def test_native_code_that_calls_the_system_is_refused_by_its_object_file(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError) as refusal:
        run_past_the_frontend(tmp_path, "auto* starts = &fork; if (starts() == 0) _exit(0);")
    assert refusal.value.outcome == "refused"
    assert refusal.value.says == "fork starts processes, and a seam only launches kernels"


def test_native_code_that_ends_the_process_is_told(tmp_path: Path) -> None:
    ran = run_past_the_frontend(tmp_path, "_exit(0);")
    assert ran.ended == "crashed"
    assert ran.says == "it ended itself with exit status 0 before its kernels were done"


@pytest.mark.usefixtures("unlinked_names")
def test_forged_results_of_the_wrong_shape_are_broken(tmp_path: Path) -> None:
    """Native code may write what it likes: what is read is measured first."""
    forge = (
        'FILE* f = fopen("result.jsonl", "w"); '
        'fputs("{\\"event\\":\\"done\\",\\"seconds\\":\\"x\\",\\"accesses\\":[]}\\n", f); fclose(f); '
        'f = fopen("out.y.bin", "w"); fputs("short", f); fclose(f); _exit(0);'
    )
    ran = run_past_the_frontend(tmp_path, forge)
    assert ran.ended == "crashed"
    assert "its results cannot be read" in ran.says
    assert ran.outputs == {}
