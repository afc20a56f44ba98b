"""The GPU target on the fake driver: values, findings, and what ends a run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from fake_driver import SUBMISSIONS, FakeCard, StandIns

from tilestep import contract, kernels, reference
from tilestep.frontends.cuda import load
from tilestep.judge import judge
from tilestep.program import Buffer, Job, Run, SubmissionError
from tilestep.targets.gpu import GpuTarget
from tilestep.targets.protocol import Built, TargetUnavailableError, TimingTarget

Open = Callable[[], GpuTarget]

T = 5
DRAW = np.random.default_rng(5)
X = DRAW.standard_normal((T, contract.D)).astype(np.float32)
WEIGHT = DRAW.standard_normal((1, contract.D)).astype(np.float32)


def job(x: np.ndarray = X, seconds: float = 10.0) -> Job:
    buffers = (
        Buffer("x", len(x), contract.D, "in", x),
        Buffer("weight", 1, contract.D, "in", WEIGHT),
        Buffer("y", len(x), contract.D, "out"),
    )
    return Job(buffers, (len(x),), mode="fast", timeout=seconds, scratch_bytes=1 << 22)


def build(target: GpuTarget, file: str | Path, step: str = "rmsnorm") -> Built:
    return target.build(load(SUBMISSIONS / file, contract.STEP[step]))


def run(target: GpuTarget, name: str, **more: float) -> Run:
    return target.run(build(target, f"{name}.cu"), job(**more))


def values(done: Run) -> np.ndarray:
    assert done.ended == "finished", done.says
    assert done.findings == ()
    return done.outputs["y"]


def rows(row: np.ndarray) -> np.ndarray:
    return np.tile(row, (T, 1))


STALE = np.ones((T, contract.D))
HIDDEN = rows(np.tile([1.0, 2.0], contract.D // 2))
MEMSET = np.vstack([np.hstack([WEIGHT[0, :4], X[0, 4:]]), X[1:]])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("scratch", X * np.float32(0.5) * WEIGHT),
        ("memset", MEMSET),
        ("dynamic_shared", X[:, ::-1]),
        ("template", X * 3),
        ("struct", X * 5),
        ("table", X * 2 + np.arange(contract.D, dtype=np.float32)),
        ("hidden_names", HIDDEN),
        ("stale", STALE),
    ],
)
def test_a_plan_is_played_as_it_was_recorded(gpu_target: GpuTarget, name: str, wanted: np.ndarray) -> None:
    assert np.array_equal(values(run(gpu_target, name)), wanted)


@pytest.mark.parametrize("name", ["02_cooperative", "03_online"])
def test_our_attention_kernels_are_played(gpu_target: GpuTarget, fake_card: FakeCard, name: str) -> None:
    built = build(gpu_target, kernels.path(f"attention/{name}.cu"), "online-attention")
    qkv = DRAW.standard_normal((33, contract.QKV_OUT)).astype(np.float32)
    buffers = (Buffer("qkv", 33, contract.QKV_OUT, "in", qkv), Buffer("attnOut", 33, contract.D, "out"))
    done = gpu_target.run(built, Job(buffers, (33,), mode="fast"))
    assert done.ended == "finished", done.says
    assert np.allclose(done.outputs["attnOut"], reference.attention(qkv), rtol=1e-4, atol=1e-5)
    assert done.plan.launches[0].kernel == fake_card.launches()[0][4:-6]


def test_each_run_has_a_module_of_its_own(gpu_target: GpuTarget) -> None:
    built = build(gpu_target, "counter.cu")
    for _ in range(2):
        assert (values(gpu_target.run(built, job())) == 41).all()
    assert gpu_target.run(built, job()).plan.variables == {"calls": 4}


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("past_the_end", "guard-band", "y"),
        ("before_the_scratch", "guard-band", "scratch"),
        ("writes_its_input", "input-written", "x"),
        ("too_many_threads", "launch-refused", "copy"),
        ("too_much_shared", "launch-refused", "reverse"),
    ],
)
def test_what_a_run_leaves_behind_is_found(gpu_target: GpuTarget, name: str, code: str, word: str) -> None:
    done = run(gpu_target, name)
    assert done.ended == "finished", done.says
    (finding,) = done.findings
    assert finding.code == code
    assert word in finding.says


def test_an_illegal_address_names_its_launch_and_the_next_run_is_whole(gpu_target: GpuTarget) -> None:
    done = run(gpu_target, "illegal_address")
    line = (SUBMISSIONS / "illegal_address.cu").read_text().splitlines().index("  astray<<<1, 1>>>(y);") + 1
    assert (done.ended, done.line) == ("crashed", line)
    assert "astray" in done.says
    assert np.array_equal(values(run(gpu_target, "template")), X * 3)


@pytest.mark.parametrize(
    ("name", "kernel", "why"), [("misaligned", "astray", "multiple"), ("asserts", "checked", "assert")]
)
def test_what_stops_a_kernel_is_said(gpu_target: GpuTarget, name: str, kernel: str, why: str) -> None:
    done = run(gpu_target, name)
    assert done.ended == "crashed"
    assert kernel in done.says
    assert why in done.says


def test_runs_of_several_threads_do_not_mix(gpu_target: GpuTarget) -> None:
    names = ("template", "struct", "scratch", "counter", "stale") * 3
    wanted = {
        "template": X * 3,
        "struct": X * 5,
        "scratch": X * np.float32(0.5) * WEIGHT,
        "counter": 41 * STALE,
    }
    with ThreadPoolExecutor(max_workers=4) as pool:
        for name, done in zip(names, pool.map(lambda name: run(gpu_target, name), names), strict=True):
            assert np.array_equal(values(done), wanted.get(name, STALE))


ORPHAN = """
import os, sys, threading, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fake_driver import SUBMISSIONS, StandIns
from tilestep.contract import STEP
from tilestep.frontends.cuda import load
from tilestep.judge import judge
from tilestep.program import Buffer, Job
from tilestep.targets.gpu import GpuTarget
target = GpuTarget(compiler=lambda builder, capability: StandIns())
built = target.build(load(SUBMISSIONS / "endless.cu", STEP["rmsnorm"]))
job = Job(tuple(Buffer(name, 1, 512, "out") for name in ("x", "weight", "y")), (1,), mode="fast")
threading.Thread(target=target.run, args=(built, job), daemon=True).start()
log = Path(os.environ["TILESTEP_FAKE_LOG"])
while not log.exists() or "endless" not in log.read_text():
    time.sleep(0.05)
os._exit(0)
"""


def test_a_worker_ends_with_the_process_that_started_it(fake_card: FakeCard) -> None:
    tests = str(SUBMISSIONS.parents[1])
    subprocess.run([sys.executable, "-c", ORPHAN, tests], check=True, timeout=120)
    deadline = time.monotonic() + 30
    while left := fake_card.processes():
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def test_a_kernel_that_never_ends_is_ended_and_the_next_run_is_whole(gpu_target: GpuTarget) -> None:
    done = run(gpu_target, "endless", seconds=1.5)
    assert done.ended == "timed-out"
    assert "spin" in done.says
    assert np.array_equal(values(run(gpu_target, "template")), X * 3)


def test_a_plan_that_depends_on_addresses_is_refused(gpu_target: GpuTarget, fake_card: FakeCard) -> None:
    done = run(gpu_target, "depends_on_addresses")
    assert done.ended == "refused"
    assert "depend on something other than the sizes" in done.says
    assert fake_card.launches() == []


def test_parameters_that_differ_on_the_gpu_are_told(gpu_target: GpuTarget, fake_card: FakeCard) -> None:
    done = run(gpu_target, "other_parameters")
    assert done.ended in ("refused", "crashed")
    assert "parameters" in done.says
    assert "launch" not in {line.split()[0] for line in fake_card.log()}


def test_nothing_stays_loaded(gpu_target: GpuTarget, fake_card: FakeCard) -> None:
    for name in ("template", "other_parameters", "counter", "table"):
        run(gpu_target, name)
    log = fake_card.log()
    assert log.count("load") == log.count("unload") == 5  # and once to see whether the driver takes images


def test_a_file_that_does_not_compile_is_broken(gpu_target: GpuTarget, tmp_path: Path) -> None:
    file = tmp_path / "unknown.cu"
    file.write_text((SUBMISSIONS / "template.cu").read_text())
    with pytest.raises(SubmissionError, match="nothing stands in") as caught:
        build(gpu_target, file)
    assert caught.value.outcome == "broken"


def test_record_plays_nothing(gpu_target: GpuTarget, fake_card: FakeCard) -> None:
    done = gpu_target.run(build(gpu_target, "scratch.cu"), Job(**{**vars(job()), "mode": "record"}))
    assert done.ended == "finished"
    assert [launch.kernel for launch in done.plan.launches] == ["halve", "scale"]
    assert done.plan.scratch_bytes == (T * contract.D * 4,)
    assert fake_card.launches() == []


def test_the_card_is_described(gpu_target: GpuTarget, stand_ins: StandIns) -> None:
    assert isinstance(gpu_target, TimingTarget)
    assert gpu_target.available() is None
    assert (gpu_target.kind, gpu_target.checks) == ("gpu", False)
    assert gpu_target.name == "NVIDIA H200, driver 580.159.04"
    card = gpu_target.card
    assert (card.name, card.driver, card.capability) == ("NVIDIA H200", "580.159.04", (9, 0))
    assert (card.multiprocessors, card.l2_bytes, card.highest_clock, card.others) == (132, 62914560, 1980, 0)
    assert card.bandwidth == pytest.approx(4.9e12, rel=0.02)
    assert (card.compiler, card.flags) == (stand_ins.name, stand_ins.flags)


def test_the_driver_is_asked_for_nothing_that_is_missing(gpu_target: GpuTarget, fake_card: FakeCard) -> None:
    run(gpu_target, "table")
    assert fake_card.lacks() == set()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"devices": 0}, "no NVIDIA GPU"),
        ({"init": 100}, "no NVIDIA GPU"),
        ({"init": 999}, "nvidia-smi"),
        ({"major": 6, "minor": 1}, "6.1"),
        ({"compute_mode": 2}, "prohibited"),
        ({"context": 46}, "busy"),
        ({"context": 2}, "memory"),
    ],
)
def test_a_card_that_cannot_be_used_is_told_in_a_sentence(
    fake_card: FakeCard, open_target: Open, settings: dict[str, int], words: str
) -> None:
    fake_card.describe(**settings)
    says = open_target().available()
    assert says is not None
    assert words in says
    assert "\n" not in says


@pytest.mark.parametrize(
    ("others", "who"),
    [
        (0, "nvidia-smi tells which process"),
        (1, "process 1000000000"),
        (5, "processes 1000000000, 1000000001, 1000000002, 2 more"),
    ],
)
def test_memory_that_the_card_lacks_is_told_with_who_holds_it(
    fake_card: FakeCard, open_target: Open, others: int, who: str
) -> None:
    fake_card.describe(memory=12_000, others=others)
    target = open_target()
    assert target.available() is None
    with pytest.raises(TargetUnavailableError, match="memory") as caught:
        run(target, "template")
    assert f"end what holds it ({who}), or choose another card by CUDA_VISIBLE_DEVICES" in str(caught.value)


@pytest.mark.parametrize("error", [200, 209, 222])
def test_a_driver_that_is_older_than_the_compiler_is_told(
    fake_card: FakeCard, open_target: Open, error: int
) -> None:
    fake_card.describe(load=error)
    target = open_target()
    says = target.available() or ""
    assert says.startswith("driver 580.159.04 does not load what stand-in 1.0 compiles (CUDA_")
    assert "newer driver" in says
    assert "older CUDA toolkit" in says
    assert target.name == "an NVIDIA GPU"
    with pytest.raises(TargetUnavailableError):
        build(target, "template.cu")


@pytest.mark.parametrize("settings", [{"devices": 0}, {"load": 2}, {"context": 2}])
def test_a_target_that_is_not_there_has_a_name(
    fake_card: FakeCard, open_target: Open, settings: dict[str, int]
) -> None:
    fake_card.describe(**settings)
    assert open_target().name == "an NVIDIA GPU"


def test_a_card_that_goes_away_is_told_by_whatever_is_asked_next(
    gpu_target: GpuTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build(gpu_target, "template.cu")
    monkeypatch.setattr("sys.executable", "/bin/false")
    gpu_target.close()
    with pytest.raises(TargetUnavailableError, match="does not start"):
        gpu_target.run(built, job())
    with pytest.raises(TargetUnavailableError, match="does not start"):
        gpu_target.race_soon()
    with pytest.raises(TargetUnavailableError, match="does not start"):
        gpu_target.launch_times(built, job(), 1)
    with (
        pytest.raises(TargetUnavailableError, match="does not start"),
        gpu_target.race(built, built, job()),
    ):
        raise AssertionError("there is no race without a card")


def test_what_is_missing_beside_the_card_is_one_sentence_too(
    fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = SUBMISSIONS / "template.cu"
    with monkeypatch.context() as patch:
        patch.setenv("TILESTEP_CACHE", "/proc/none")
        verdict = judge(submission, "rmsnorm", target=GpuTarget())
        assert (verdict.outcome, verdict.target.name) == ("unavailable", "an NVIDIA GPU")
        assert "the cache folder cannot be written" in verdict.says
    with monkeypatch.context() as patch:
        patch.setenv("TILESTEP_CXX", "/bin/false")
        verdict = judge(submission, "rmsnorm", target=GpuTarget())
        assert (verdict.outcome, verdict.exit_code) == ("unavailable", 4)


def test_other_processes_are_counted(fake_card: FakeCard, open_target: Open) -> None:
    fake_card.describe(others=2)
    assert open_target().card.others == 2


def test_the_management_library_may_be_missing(fake_card: FakeCard, open_target: Open) -> None:
    fake_card.describe(nvml=9)
    target = open_target()
    assert target.card.highest_clock == 1980  # the driver tells it, too
    assert target.card.driver == "for CUDA 13.0"
    assert np.array_equal(values(run(target, "template")), X * 3)
