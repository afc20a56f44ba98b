"""The machine that runs kernels: threads, warps, the plan, endings and traffic, in every build."""

from __future__ import annotations

import functools
import platform
import re
from pathlib import Path

import numpy as np
import pytest

from tilestep.contract import STEP
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Floats, Job, Run
from tilestep.targets.cpu import CpuBuilt, CpuTarget

FOLDER = Path(__file__).parent / "machine"
ROWS, WIDTH = 64, 32
VALUES = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH) % 17
MODES = ("fast", "check", "traffic")


@functools.cache
def target() -> CpuTarget:
    return CpuTarget()


@functools.cache
def built(name: str) -> CpuBuilt:
    return target().build(load(FOLDER / name, STEP["causal-attention"]))


def run(name: str, case: int, mode: str = "fast", order: str = "forward", **rest: object) -> Run:
    buffers = (Buffer("qkv", ROWS, WIDTH, "in", VALUES), Buffer("attnOut", ROWS, WIDTH, "out"))
    job = Job(buffers, (case,), mode=mode, order=order, threads=2, **{"timeout": 10, **rest})  # type: ignore[arg-type]
    return target().run(built(name), job)


def result(name: str, case: int, mode: str, order: str = "forward", **rest: object) -> Floats:
    ran = run(name, case, mode, order, **rest)
    assert (ran.ended, ran.says) == ("finished", "")
    assert ran.findings == ()
    return ran.outputs["attnOut"].ravel()


def lines(name: str, mark: str) -> list[int]:
    text = (FOLDER / name).read_text().splitlines()
    return [number for number, line in enumerate(text, start=1) if re.search(rf"// line {mark}\b", line)]


def each_way(test: object) -> object:
    """In every build and order of threads."""
    ways = [("fast", "forward"), ("fast", "reverse"), ("traffic", "forward")]
    ways += [("check", order) for order in ("forward", "reverse", "random 3")]
    return pytest.mark.parametrize(("mode", "order"), ways)(test)  # type: ignore[arg-type]


@each_way
def test_three_dimensional_grids_and_blocks(mode: str, order: str) -> None:
    got = result("threads.cu", 1, mode, order)[: 12 * 105]
    bz, by, bx, z, y, x = np.meshgrid(*(range(n) for n in (2, 3, 2, 7, 5, 3)), indexing="ij")
    assert np.array_equal(got, (x + 10 * y + 100 * z + 1000 * bx + 10000 * by + 100000 * bz).ravel())


@each_way
def test_a_barrier_of_all_threads(mode: str, order: str) -> None:
    got = result("threads.cu", 2, mode, order)
    assert set(got[:1024]) == {VALUES.ravel()[:1024].sum()}


@each_way
def test_a_barrier_waits_only_for_threads_that_have_not_exited(mode: str, order: str) -> None:
    ran = run("threads.cu", 3, mode, order)
    got = ran.outputs["attnOut"].ravel()
    assert set(got[:512]) == {VALUES.ravel()[:1024].sum()}
    assert np.isnan(got[512:]).all()
    assert {finding.code for finding in ran.findings} == ({"divergent-barrier"} if mode == "check" else set())


@each_way
def test_barriers_that_vote(mode: str, order: str) -> None:
    assert set(result("threads.cu", 4, mode, order)[:96]) == {32 + 1000 + 4000}


@each_way
def test_meetings_under_two_masks_at_once(mode: str, order: str) -> None:
    value = VALUES.ravel()[:32].astype(np.float64)
    lanes = np.arange(32)
    for rounds in range(5):
        met = value + value[lanes ^ (2 << rounds % 4)]
        value = np.where(lanes % 2 == 0, met if rounds < 3 else value, met)
    assert np.array_equal(result("threads.cu", 5, mode, order)[:32], value + value[0])


@each_way
def test_a_warp_that_is_not_full(mode: str, order: str) -> None:
    value = VALUES.ravel()[:40]
    present = np.where(np.arange(40) < 32, 32, 8)
    assert np.array_equal(
        result("threads.cu", 6, mode, order)[:40], value + value[np.arange(40) ^ 1] + 100 * present
    )


@each_way
def test_a_thread_may_wait_for_another_one_s_atomic(mode: str, order: str) -> None:
    assert set(result("threads.cu", 7, mode, order)[:64]) == {1}


@each_way
def test_the_active_mask_is_who_stands_there(mode: str, order: str) -> None:
    got = result("threads.cu", 8, mode, order)[:64]
    assert np.array_equal(got, np.where(np.arange(64) % 4 == 1, 8, 0))


def test_threads_and_blocks_run_in_the_order_that_the_job_asks_for() -> None:
    orders = {
        order: result("threads.cu", 9, "check", order)[:256] for order in ("forward", "reverse", "random 3")
    }
    assert np.array_equal(orders["forward"], np.arange(256))
    assert np.array_equal(orders["reverse"], np.arange(256)[::-1])
    assert sorted(orders["random 3"]) == list(range(256))
    assert not any(np.array_equal(orders["random 3"], orders[other]) for other in ("forward", "reverse"))
    assert np.array_equal(orders["random 3"], result("threads.cu", 9, "check", "random 3")[:256])
    assert not np.array_equal(orders["random 3"], result("threads.cu", 9, "check", "random 4")[:256])


@pytest.mark.parametrize("mode", MODES)
def test_atomics_are_whole(mode: str) -> None:
    n = 50 * 40
    parity = int(np.bitwise_xor.reduce(np.arange(n)))
    down = 0
    for _ in range(n):
        down = 4 if down == 0 or down > 4 else down - 1
    want = [n, -2 * n, 1 - n, n - 1, (1 << 20) - 1, parity, n, n % 7, down, n, n / 2]
    assert result("threads.cu", 10, mode)[:11].tolist() == want


@pytest.mark.parametrize("mode", MODES)
def test_launches_run_one_after_another(mode: str) -> None:
    value = np.float32(1)
    for i in range(1, 300):
        value = value * np.float32(0.5) + np.float32(i % 7)
    assert set(result("threads.cu", 11, mode)[:99]) == {value}


@pytest.mark.parametrize("mode", MODES)
def test_uploads_and_arguments_are_what_they_were_at_the_call(mode: str) -> None:
    got = result("plan.cu", 1, mode)
    assert (set(got[:32]), set(got[32:64])) == ({15.0}, {109.0})
    assert set(result("plan.cu", 2, mode)[:32]) == {12.0}


@pytest.mark.parametrize("mode", MODES)
def test_scratch_memsets_and_copies(mode: str) -> None:
    ran = run("plan.cu", 3, mode, scratch_bytes=256)
    assert (ran.ended, ran.findings) == ("finished", ())
    got = ran.outputs["attnOut"].ravel()
    assert np.array_equal(got[:32], np.zeros(32))
    assert np.array_equal(got[32:64], 4 * VALUES.ravel()[:32])
    assert (ran.plan.scratch_bytes, ran.plan.memsets, len(ran.plan.launches)) == ((128, 128), 1, 2)


@pytest.mark.parametrize(("case", "mark"), [(4, "scratch"), (5, "host"), (8, "library")])
def test_what_a_seam_may_not_do_is_refused_at_its_line(case: int, mark: str) -> None:
    for mode in ("fast", "check"):
        ran = run("plan.cu", case, mode, scratch_bytes=4999)
        assert (ran.ended, ran.line) == ("refused", lines("plan.cu", mark)[0])


def test_launches_that_a_gpu_refuses_do_not_run() -> None:
    for mode in ("fast", "check"):
        ran = run("plan.cu", 6, mode)
        assert ran.ended == "finished"
        assert [finding.line for finding in ran.findings] == lines("plan.cu", "refused")
        source = (FOLDER / "plan.cu").read_text().splitlines()
        for finding in ran.findings:
            assert finding.code == "launch-refused"
            assert source[(finding.line or 0) - 1].split("// line refused: ")[1] in finding.says
        assert len(ran.plan.launches) == 2
        got = ran.outputs["attnOut"].ravel()
        assert (set(got[:32]), set(got[32:64])) == ({1.0}, {1.0})


@pytest.mark.parametrize("mode", MODES)
def test_all_dynamic_shared_memory_with_the_attribute(mode: str) -> None:
    assert np.array_equal(result("plan.cu", 7, mode)[:32], 58111 - np.arange(32))


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (1, "null pointer"),
        pytest.param(
            2,
            "division by zero",
            marks=pytest.mark.skipif(
                platform.machine() not in ("x86_64", "AMD64"),
                reason="this processor divides by zero silently",
            ),
        ),
        (3, "stack"),
        (4, "stack"),
        (5, "out of bounds"),
    ],
)
def test_a_crash_of_the_fast_build_says_what_and_where(case: int, word: str) -> None:
    ran = run("endings.cu", case)
    assert ran.ended == "crashed"
    assert word in ran.says
    if wanted := lines("endings.cu", str(case)):
        assert ran.line in wanted
    if word == "stack":
        assert [finding.code for finding in ran.findings] == ["stack-overflow"]


def test_a_kernel_that_never_ends_is_stopped_at_its_line() -> None:
    for mode in MODES:
        ran = run("endings.cu", 6, mode, timeout=0.3)
        assert (ran.ended, ran.line) == ("timed-out", lines("endings.cu", "6")[0])


@pytest.mark.parametrize("mode", MODES)
def test_a_deadlock_names_every_place_where_threads_wait(mode: str) -> None:
    ran = run("endings.cu", 7, mode)
    assert ran.ended == "crashed"
    assert [(f.code, f.line) for f in ran.findings] == [("deadlock", n) for n in lines("endings.cu", "7")]


@pytest.mark.parametrize("mode", MODES)
def test_a_trap_ends_the_run(mode: str) -> None:
    ran = run("endings.cu", 8, mode)
    assert [(f.code, f.line, f.thread) for f in ran.findings] == [
        ("assert-failed", lines("endings.cu", "8")[0], (3, 0, 0))
    ]


def traffic(case: int, threads: int) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], int]]:
    values = np.ones((64, 10), dtype=np.float32)
    columns = (("A", 0, 3), ("B", 3, 7))
    buffers = (Buffer("qkv", 64, 10, "in", values, columns), Buffer("attnOut", 64, 10, "inout", values))
    ran = target().run(built("traffic.cu"), Job(buffers, (case,), mode="traffic", threads=threads))
    assert ran.traffic is not None
    some = [{key: n for key, n in side.items() if n} for side in (ran.traffic.read, ran.traffic.written)]
    return some[0], some[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_traffic_is_exact_to_the_byte(threads: int) -> None:
    assert traffic(1, threads) == (
        {("qkv", "A"): 64 * 12, ("qkv", "B"): 64 * 4, ("qkv", ""): 64 * 4},
        {("attnOut", ""): 64 * 4},
    )
    assert traffic(2, threads) == ({("qkv", "B"): 7, ("attnOut", ""): 4}, {("attnOut", ""): 8})
    assert traffic(3, threads) == (
        {("qkv", "A"): 36, ("qkv", "B"): 40, ("qkv", ""): 24},
        {("attnOut", ""): 100},
    )
