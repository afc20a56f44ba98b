"""Our own kernels before the judge, for real, at a few lengths; and the bytes that the gate is made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tilestep import contract, kernels
from tilestep.frontends import cuda
from tilestep.judge import judge, schedule
from tilestep.judge.traffic import BASELINE, baseline_kv_bytes, judge_traffic
from tilestep.judge.verdict import KvTraffic
from tilestep.subjects import registered, subject
from tilestep.subjects.attention import cases
from tilestep.targets.cpu import CpuTarget

STEP = contract.STEP["online-attention"]
FEW = (1, 2, 33)


def judged_kernels() -> list[tuple[str, str]]:
    """(kernel, step) for our kernels of the steps that can be judged; an attention kernel once."""
    folder = {contract.STEP[step].kernels: step for step in reversed(registered())}
    return [(name, folder[name.split("/")[0]]) for name in kernels.names() if name.split("/")[0] in folder]


@pytest.mark.parametrize(("name", "step"), judged_kernels())
def test_our_kernels_are_right_and_without_a_finding(name: str, step: str) -> None:
    lengths = [length for length in FEW if length <= subject(step).longest]
    verdict = judge(kernels.path(name), step, seed=3, lengths=lengths, profile=False)
    assert verdict.outcome == "passed", verdict.says
    assert verdict.findings == ()
    assert {case.length for case in verdict.cases} == set(lengths)
    assert all(case.ratio <= 0.25 for case in verdict.cases), "an honest kernel has a margin of four"


def count(name: str, length: int) -> KvTraffic:
    target = CpuTarget()
    built = target.build(cuda.load(kernels.path(name), STEP))
    case = cases.make(STEP.name, length, "normal", 1)
    run = target.run(built, replace(schedule.traffic_job(STEP, case, threads=2), timeout=60.0))
    assert run.ended == "finished", run.says
    assert run.traffic is not None
    return judge_traffic(STEP, length, run.traffic)


@pytest.mark.parametrize("length", [1, 33, 200])
def test_the_baseline_reads_what_the_gate_says_it_reads(length: int) -> None:
    counted = count(BASELINE, length)
    assert counted.k_bytes == counted.v_bytes == baseline_kv_bytes(length) // 2
    assert counted.cut == 1.0


def test_the_tiled_kernel_reads_each_tile_once_for_each_query_tile_and_head() -> None:
    length, tile = 256, contract.QUERY_TILE
    tiles = length // tile
    counted = count("attention/03_online.cu", length)
    once = tiles * (tiles + 1) // 2 * tile * contract.DH * contract.HQ * 4
    assert counted.k_bytes == counted.v_bytes == once


def test_a_kernel_that_breaks_while_it_runs(tmp_path: Path) -> None:
    file = tmp_path / "crash.cu"
    file.write_text(
        "__global__ void attend(const float* qkv, float* out, int T) {\n"
        "  float* nowhere = nullptr;\n"
        "  nowhere[threadIdx.x] = qkv[0];\n"
        "}\n"
        "void runCausalAttention(const float* qkv, float* attnOut, int T) {\n"
        "  attend<<<1, 1>>>(qkv, attnOut, T);\n"
        "}\n",
        encoding="utf-8",
    )
    verdict = judge(file, seed=3, lengths=(1,), profile=False)
    assert (verdict.outcome, verdict.exit_code) == ("broken", 2)
    assert verdict.says.startswith(f"{file}:3: ")
    assert [finding.code for finding in verdict.findings] == ["bad-pointer"]


def test_a_kernel_that_does_not_compile(tmp_path: Path) -> None:
    file = tmp_path / "typo.cu"
    file.write_text(
        "__global__ void attend(const float* qkv, float* out) {\n"
        "  out[threadIdx.x] = qvk[0];\n"
        "}\n"
        "void runCausalAttention(const float* qkv, float* attnOut, int T) {\n"
        "  attend<<<1, 1>>>(qkv, attnOut);\n"
        "}\n",
        encoding="utf-8",
    )
    verdict = judge(file, seed=3)
    assert verdict.outcome == "broken"
    assert verdict.says.startswith(f"{file}:2: ")
    assert "qvk" in verdict.says
    assert "\n" not in verdict.says
