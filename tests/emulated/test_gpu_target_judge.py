"""Whole verdicts by the GPU target on the fake driver: our kernels against each other, and those that err."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_driver import SUBMISSIONS, FakeCard

from tilestep import contract, kernels
from tilestep.judge import judge, judge_block
from tilestep.judge.verdict import Verdict
from tilestep.targets.gpu import GpuTarget

SEED = 11
PAIRS = 30
PROFILE = 256  # in the place of 2048, which takes a processor long

Open = Callable[[], GpuTarget]


@pytest.fixture
def target(fake_card: FakeCard, open_target: Open, monkeypatch: pytest.MonkeyPatch) -> GpuTarget:
    """With little L2 to flush, and a short profile length."""
    monkeypatch.setattr(contract, "PROFILE_LENGTH", PROFILE)
    fake_card.describe(l2=32 * 1024**2)
    return open_target()


def verdict(target: GpuTarget, file: Path, step: str = "online-attention") -> Verdict:
    lengths = (1, 33) if step == "online-attention" else None
    return judge(file, step, seed=SEED, lengths=lengths, target=target, pairs=PAIRS)


def test_our_online_kernel_passes_with_its_speedup(target: GpuTarget) -> None:
    found = verdict(target, kernels.path("attention/03_online.cu"))
    assert found.outcome == "passed", found.says
    assert found.speed is not None
    assert found.speed.speedup == pytest.approx(10, rel=0.02)
    assert found.speed.low <= found.speed.speedup <= found.speed.high
    assert (found.speed.baseline_ms, found.speed.user_ms) == pytest.approx((4.0, 0.4), rel=0.02)
    assert found.speed.pairs == PAIRS


def test_the_baseline_against_itself_is_slow(target: GpuTarget) -> None:
    found = verdict(target, kernels.path("attention/02_cooperative.cu"))
    assert found.outcome == "slow", found.says
    assert found.speed is not None
    assert found.speed.speedup == pytest.approx(1, abs=0.02)


def test_a_submission_that_looks_for_the_answer_finds_none(target: GpuTarget) -> None:
    found = verdict(target, SUBMISSIONS / "scanner.cu")
    assert found.outcome == "passed", found.says


def test_an_answer_that_is_kept_for_the_same_shape_is_wrong(target: GpuTarget) -> None:
    found = verdict(target, SUBMISSIONS / "keeps_its_answer.cu")
    assert found.outcome == "wrong", found.says
    assert found.first_wrong is not None
    assert found.first_wrong.length == PROFILE
    assert "timed" in found.says + " ".join(found.evidence) + str(found.first_wrong)


def test_the_timed_calls_are_compared_after_many_right_ones(target: GpuTarget) -> None:
    found = verdict(target, SUBMISSIONS / "tires.cu")
    assert found.outcome == "wrong", found.says
    assert found.first_wrong is not None
    assert found.first_wrong.length == PROFILE


def test_a_card_that_lowers_its_clock_all_the_time_decides_nothing(
    target: GpuTarget, fake_card: FakeCard, open_target: Open
) -> None:
    fake_card.describe(l2=32 * 1024**2, throttle="4", sm_clock=1200)
    found = verdict(open_target(), kernels.path("attention/03_online.cu"))
    assert found.outcome == "inconclusive", found.says
    assert "clock" in found.says


def test_pairs_under_a_lowered_clock_are_dropped(
    target: GpuTarget, fake_card: FakeCard, open_target: Open
) -> None:
    fake_card.describe(l2=32 * 1024**2, throttle="0,0,0,0,0,0,0,0,0,4")
    found = verdict(open_target(), kernels.path("attention/03_online.cu"))
    assert found.outcome == "passed", found.says
    assert found.speed is not None
    assert found.speed.speedup == pytest.approx(10, rel=0.02)


def test_a_step_without_a_speed_gate_is_judged_by_its_values(target: GpuTarget) -> None:
    found = verdict(target, kernels.path("rmsnorm/01_serial.cu"), "rmsnorm")
    assert found.outcome == "passed", found.says
    assert found.speed is None
    assert found.cases


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("stale", "wrong", "normed is wrong"),
        ("past_the_end", "wrong", "normed is wrong"),
        ("illegal_address", "broken", "astray"),
        ("depends_on_addresses", "refused", "depend on something other"),
    ],
)
def test_what_goes_wrong_is_the_verdict(target: GpuTarget, name: str, outcome: str, words: str) -> None:
    found = verdict(target, SUBMISSIONS / f"{name}.cu", "rmsnorm")
    assert found.outcome == outcome, found.says
    assert words in found.says


def test_without_a_card_there_is_no_verdict(
    target: GpuTarget, fake_card: FakeCard, open_target: Open
) -> None:
    fake_card.describe(devices=0)
    found = verdict(open_target(), kernels.path("attention/03_online.cu"))
    assert (found.outcome, found.exit_code) == ("unavailable", 4)
    assert "no NVIDIA GPU" in found.says


def test_memory_that_ends_is_no_fault_of_anybody_here(
    target: GpuTarget, fake_card: FakeCard, open_target: Open
) -> None:
    fake_card.describe(memory=20_000)
    norm = kernels.path("rmsnorm/01_serial.cu")
    for found in (
        verdict(open_target(), norm, "rmsnorm"),
        judge_block([norm], seed=SEED, target=open_target()),
    ):
        assert (found.outcome, found.exit_code) == ("unavailable", 4)
        assert "no memory left" in found.says
        assert "CUDA_VISIBLE_DEVICES" in found.says


def test_a_race_that_the_card_has_no_room_for_is_no_verdict(
    target: GpuTarget, fake_card: FakeCard, open_target: Open
) -> None:
    fake_card.describe(l2=32 * 1024**2, memory=60_000_000)  # enough for values, and too little to flush L2
    found = verdict(open_target(), kernels.path("attention/03_online.cu"))
    assert (found.outcome, found.exit_code) == ("unavailable", 4)
    assert "no memory left" in found.says


def test_a_card_that_goes_away_before_the_race_is_no_verdict(
    target: GpuTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(self: GpuTarget) -> None:
        monkeypatch.setattr("sys.executable", "/bin/false")
        self.close()

    monkeypatch.setattr(GpuTarget, "race_soon", gone)
    found = verdict(target, kernels.path("attention/03_online.cu"))
    assert (found.outcome, found.exit_code) == ("unavailable", 4)
    assert "does not start" in found.says
