"""Shared memory that a GPU does not give: static and dynamic together, and what a seam has asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_driver import SUBMISSIONS, FakeCard

from tilestep import contract
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job, Run
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.gpu import GpuTarget
from tilestep.targets.protocol import Target

T = 5
X = np.random.default_rng(7).standard_normal((T, contract.D)).astype(np.float32)
JOB = Job(
    (
        Buffer("x", T, contract.D, "in", X),
        Buffer("weight", 1, contract.D, "in", X[:1]),
        Buffer("y", T, contract.D, "out"),
    ),
    (T,),
    mode="fast",
)
LIMITS = SUBMISSIONS / "shared_limits.cu"
SEAM = "void runRmsNorm(const float* x, const float* weight, float* y, int T) {"
ATTRIBUTE = "cudaFuncAttributeMaxDynamicSharedMemorySize"
KB = 1024


def run(target: Target, file: Path) -> Run:
    """With the checkers, where the target has them: only they know of static arrays."""
    built = target.build(load(file, contract.STEP["rmsnorm"]))
    return target.run(built, replace(JOB, mode="check") if target.checks else JOB)


def refused_lines() -> set[int]:
    lines = LIMITS.read_text().splitlines()
    return {number for number, line in enumerate(lines, start=1) if line.endswith("// refused")}


def told(done: Run) -> set[tuple[str, int | None]]:
    return {(finding.code, finding.line) for finding in done.findings}


@pytest.fixture
def refuses(tmp_path: Path) -> Callable[[int, str], str]:
    """What the CPU says of a launch, where a kernel has so many bytes of static arrays; "" if nothing."""

    def judge(static: int, host: str) -> str:
        path = tmp_path / "a.cu"
        path.write_text(
            f"__global__ void k(float* y) {{ __shared__ char fixed[{static // 2}], more[{static // 2}];"
            " extern __shared__ float open[]; fixed[threadIdx.x] = more[threadIdx.x] = 1;"
            " open[0] = 1; y[0] = fixed[0] + more[0]; }\n"
            f"{SEAM}\n{host}\n}}\n"
        )
        done = run(CpuTarget(), path)
        assert done.ended in ("finished", "crashed"), done.says
        assert [finding.line for finding in done.findings] in ([], [3])
        assert {finding.kernel for finding in done.findings} <= {"k"}
        return "".join(finding.says for finding in done.findings)

    return judge


@pytest.mark.parametrize("ask", ["", f"cudaFuncSetAttribute(k, {ATTRIBUTE}, {48 * KB}); "])
def test_48_kb_are_for_static_and_dynamic_memory_together(
    refuses: Callable[[int, str], str], ask: str
) -> None:
    assert refuses(40 * KB, f"{ask}k<<<1, 1, 8192>>>(y);") == ""
    says = refuses(40 * KB, f"{ask}k<<<1, 1, 8193>>>(y);")
    assert bool(says) is not bool(ask)
    sizes = "40960 bytes of static and 8193 of dynamic shared memory a block, together at most 49152"
    assert not says or f"{sizes} unless {ATTRIBUTE}" in says


@pytest.mark.parametrize(
    ("asked", "words"),
    [(187 * KB, ""), (187 * KB + 1, f"and 191489 that {ATTRIBUTE} asks for, together at most 232448")],
)
def test_an_attribute_that_does_not_fit_beside_static_memory_allows_nothing(
    refuses: Callable[[int, str], str], asked: int, words: str
) -> None:
    says = refuses(40 * KB, f"cudaFuncSetAttribute(k, {ATTRIBUTE}, {asked}); k<<<1, 1, 20480>>>(y);")
    assert words in says
    assert bool(words) is bool(says)
    small = f"cudaFuncSetAttribute(k, {ATTRIBUTE}, {asked}); k<<<1, 1, 8192>>>(y);"
    assert refuses(40 * KB, small) == ""


def test_a_block_that_needs_all_of_227_kb_gets_it(refuses: Callable[[int, str], str]) -> None:
    host = f"cudaFuncSetAttribute(k, {ATTRIBUTE}, {187 * KB}); k<<<1, 1, {187 * KB}>>>(y);"
    assert refuses(40 * KB, host) == ""
    assert "together at most 232448" in refuses(44 * KB, host)


def test_an_attribute_below_the_launch_is_told(refuses: Callable[[int, str], str]) -> None:
    says = refuses(64, f"cudaFuncSetAttribute(k, {ATTRIBUTE}, 16384); k<<<1, 1, 20480>>>(y);")
    assert says.endswith(f"20480 bytes of dynamic shared memory, and {ATTRIBUTE} asks for 16384")


@pytest.mark.parametrize(
    "ask",
    [
        f"const auto what = {ATTRIBUTE}; cudaFuncSetAttribute(k, what, int(max(65536, 1)));",
        f"for (int i = 0; i < 100; ++i) cudaFuncSetAttribute((const void*)k, {ATTRIBUTE}, 65536);",
    ],
)
def test_an_attribute_is_understood_however_it_is_written(
    refuses: Callable[[int, str], str], ask: str
) -> None:
    assert refuses(64, f"{ask} k<<<1, 1, 65536>>>(y);") == ""


def test_the_cpu_refuses_what_a_card_refuses() -> None:
    assert told(run(CpuTarget(), LIMITS)) == {("launch-refused", line) for line in refused_lines()}


def test_the_card_is_asked_for_what_the_seam_asked_and_judges_it(
    gpu_target: GpuTarget, fake_card: FakeCard
) -> None:
    done = run(gpu_target, LIMITS)
    assert done.ended == "finished", done.says
    assert told(done) == {("launch-refused", line) for line in refused_lines()}
    assert all(re.search(r"neverAsks|asksTooMuch|asksLate", finding.says) for finding in done.findings)
    y = done.outputs["y"]
    assert np.isnan(y[[1, 3]]).all()
    assert np.array_equal(y[[0, 2, 4]], X[[0, 2, 4]])
    asked = [line for line in fake_card.log() if line.startswith("limit ")]
    assert [line.split(" ", 2)[1:] for line in sorted(set(asked))] == [
        ["_Z10asksEnoughPKfPfi", "20480"],
        ["_Z11asksTooMuchPKfPfi", "232448 refused"],
        ["_Z8asksLatePKfPfi", "20480"],
        ["_Z8asksLatePKfPfi", "8192"],
    ]


def test_the_plan_holds_the_limit_as_of_each_launch(gpu_target: GpuTarget) -> None:
    launches = run(gpu_target, LIMITS).plan.launches
    assert [(launch.kernel, launch.shared_limit) for launch in launches] == [
        ("neverAsks", None),
        ("neverAsks", None),
        ("asksEnough", 20480),
        ("asksTooMuch", 232448),
        ("asksLate", None),
        ("asksLate", 20480),
    ]
