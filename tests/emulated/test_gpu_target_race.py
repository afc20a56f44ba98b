"""The GPU target's clock on the fake driver, where the time of every launch is known."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import numpy as np
import pytest
from fake_driver import SUBMISSIONS, FakeCard

from tilestep import contract, kernels, reference
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job
from tilestep.targets.gpu import GpuTarget
from tilestep.targets.protocol import Built, Pair

Open = Callable[[], GpuTarget]

T = 33
SMALL_L2 = 32 * 1024**2
COOPERATIVE_MS, ONLINE_MS, WITNESS_MS = 4.0, 0.4, 0.5  # the stand-ins'; the first two vary by 1 %


@pytest.fixture
def target(fake_card: FakeCard, open_target: Open) -> GpuTarget:
    """With little L2 to flush."""
    fake_card.describe(l2=SMALL_L2)
    return open_target()


def attention_buffers(seed: int) -> tuple[Buffer, ...]:
    qkv = np.random.default_rng(seed).standard_normal((T, contract.QKV_OUT)).astype(np.float32)
    return Buffer("qkv", T, contract.QKV_OUT, "in", qkv), Buffer("attnOut", T, contract.D, "out")


def norm_buffers(first: float) -> tuple[Buffer, ...]:
    x = np.full((T, contract.D), first, np.float32)
    weight = np.ones((1, contract.D), np.float32)
    return (
        Buffer("x", T, contract.D, "in", x),
        Buffer("weight", 1, contract.D, "in", weight),
        Buffer("y", T, contract.D, "out"),
    )


def attention_job() -> Job:
    return Job(attention_buffers(0), (T,), mode="fast")


def norm_job(seconds: float = 10.0) -> Job:
    return Job(norm_buffers(0), (T,), mode="fast", timeout=seconds, scratch_bytes=1 << 20)


def ours(target: GpuTarget, name: str) -> Built:
    file = kernels.path(f"attention/{name}.cu")
    return target.build(load(file, contract.STEP["online-attention"]))


def theirs(target: GpuTarget, name: str, step: str = "rmsnorm") -> Built:
    return target.build(load(SUBMISSIONS / f"{name}.cu", contract.STEP[step]))


def pairs(target: GpuTarget, user: Built, baseline: Built, count: int) -> list[Pair]:
    with target.race(user, baseline, attention_job()) as race:
        return [race.pair(attention_buffers(n), user_first=n % 2 == 0) for n in range(count)]


def in_time(made: list[Pair]) -> list[Pair]:
    """Those that no load on this machine has held up: after a late call the next are held for longer."""
    kept = [pair for pair in made if not (pair.user.late or pair.baseline.late)]
    assert kept
    return kept


def test_the_ratio_is_that_of_the_kernels_times(target: GpuTarget) -> None:
    user, baseline = ours(target, "03_online"), ours(target, "02_cooperative")
    made = pairs(target, user, baseline, 12)
    assert [pair.user_first for pair in made] == [True, False] * 6
    for pair in in_time(made):
        assert pair.user.ended == pair.baseline.ended == "finished"
        assert pair.user.ms == pytest.approx(ONLINE_MS, rel=0.02)
        assert pair.baseline.ms == pytest.approx(COOPERATIVE_MS, rel=0.02)
        assert (pair.clock, pair.throttled) == (1980, ())
    assert statistics.median(pair.ratio for pair in in_time(made)) == pytest.approx(10, rel=0.02)


def test_the_hosts_clock_tells_the_same_story(target: GpuTarget) -> None:
    made = pairs(target, ours(target, "03_online"), ours(target, "02_cooperative"), 6)
    # Of one call it may tell less: a host that was held up has seen the first event late.
    for side in ("user", "baseline"):
        calls = [getattr(pair, side) for pair in made]
        assert abs(statistics.median(call.wall_ms - call.ms for call in calls)) < 0.25


def test_a_host_that_was_held_up_is_told(fake_card: FakeCard, open_target: Open) -> None:
    """Every other timed launch is queued long after the hold has ended; such a call is late, and not made
    again on the values that it has seen."""
    fake_card.describe(l2=SMALL_L2, stall=4)
    target = open_target()
    made = pairs(target, ours(target, "03_online"), ours(target, "02_cooperative"), 6)
    for calls, ms in (([p.user for p in made], ONLINE_MS), ([p.baseline for p in made], COOPERATIVE_MS)):
        assert {call.late for call in calls} == {True, False}
        for call in calls:
            assert call.late or call.ms == pytest.approx(ms, rel=0.02)


def test_a_program_against_itself_is_neither_faster_nor_slower(target: GpuTarget) -> None:
    built = ours(target, "02_cooperative")
    made = pairs(target, built, built, 12)
    assert statistics.median(pair.ratio for pair in in_time(made)) == pytest.approx(1, abs=0.02)


def test_each_pair_runs_both_on_its_own_inputs_in_the_order_asked(
    target: GpuTarget, fake_card: FakeCard
) -> None:
    user, baseline = ours(target, "03_online"), ours(target, "02_cooperative")
    with target.race(user, baseline, attention_job()) as race:
        for seed, user_first in ((1, True), (2, False), (3, False)):
            before = len(fake_card.launches())
            buffers = attention_buffers(seed)
            pair = race.pair(buffers, user_first)
            assert buffers[0].data is not None
            right = reference.attention(buffers[0].data)
            for call in (pair.user, pair.baseline):
                assert np.allclose(call.outputs["attnOut"], right, rtol=1e-4, atol=1e-5)
            # A call that was held up is made again, so there may be more than one launch of each.
            order = list(dict.fromkeys("Online" in name for name in fake_card.launches()[before:]))
            assert order == sorted(order, reverse=user_first)
            assert sorted(order) == [False, True]


def test_every_call_begins_with_nan_a_cold_cache_and_the_pairs_inputs(target: GpuTarget) -> None:
    built = theirs(target, "witness")
    with target.race(built, built, norm_job()) as race:
        for first in (3.0, 4.0):
            pair = race.pair(norm_buffers(first), user_first=True)
            for call in (pair.user, pair.baseline):
                clean, calls, written, told = call.outputs["y"][0, :4]
                assert clean == 1
                assert told == first
                assert written >= 2 * SMALL_L2
                assert calls > 2  # warmed up
                assert call.late or call.ms == pytest.approx(WITNESS_MS, rel=0.01)


@pytest.mark.parametrize("compute_mode", [0, 3], ids=["shared", "one-process-a-card"])
def test_the_two_modules_share_no_variables_even_where_they_are_one_program(
    fake_card: FakeCard, open_target: Open, compute_mode: int
) -> None:
    """Each counts its own calls."""
    fake_card.describe(l2=SMALL_L2, compute_mode=compute_mode)
    target = open_target()
    built = theirs(target, "witness")
    with target.race(built, built, norm_job()) as race:
        pair = race.pair(norm_buffers(1), user_first=True)
    counted = [int(call.outputs["y"][0, 1]) for call in (pair.user, pair.baseline)]
    assert sum(counted) == len(fake_card.launches())
    assert min(counted) > 0


@pytest.mark.parametrize("compute_mode", [0, 3], ids=["shared", "one-process-a-card"])
@pytest.mark.parametrize("user_first", [True, False])
def test_the_baselines_answer_is_gone_before_the_submission_runs(
    fake_card: FakeCard, open_target: Open, user_first: bool, compute_mode: int
) -> None:
    fake_card.describe(l2=SMALL_L2, compute_mode=compute_mode)
    target = open_target()
    user = theirs(target, "scanner", "online-attention")
    with target.race(user, ours(target, "02_cooperative"), attention_job()) as race:
        assert len(fake_card.processes()) == (1 if compute_mode else 3)
        for seed in range(3):
            pair = race.pair(attention_buffers(seed), user_first)
            user_output, answer = pair.user.outputs["attnOut"], pair.baseline.outputs["attnOut"]
            assert np.allclose(user_output, answer, rtol=1e-4, atol=1e-5)


def test_the_scanner_finds_an_answer_that_is_there(target: GpuTarget) -> None:
    """Else the test above would prove nothing."""
    built = theirs(target, "scanner", "online-attention")
    qkv, out = attention_buffers(1)
    assert qkv.data is not None
    answer = reference.attention(qkv.data).astype(np.float32)
    clean = target.run(built, Job((qkv, out), (T,), mode="fast")).outputs["attnOut"]
    assert np.allclose(clean, answer, rtol=1e-4, atol=1e-5)
    left = Buffer("left", T, contract.D, "in", clean)
    seen = target.run(built, Job((qkv, out, left), (T,), mode="fast"))
    assert seen.ended == "finished", seen.says
    assert (seen.outputs["attnOut"] == 1e30).all()


def test_a_lowered_clock_is_told_with_its_pair(fake_card: FakeCard, open_target: Open) -> None:
    fake_card.describe(l2=SMALL_L2, throttle="4", sm_clock=1200)
    target = open_target()
    built = theirs(target, "witness")
    with target.race(built, built, norm_job()) as race:
        pair = race.pair(norm_buffers(1), user_first=False)
    assert (pair.clock, pair.throttled) == (1200, ("power cap",))


@pytest.mark.parametrize(
    ("name", "ended", "word"), [("illegal_address", "crashed", "astray"), ("endless", "timed-out", "spin")]
)
def test_a_submission_that_fails_ends_the_race_and_not_the_target(
    target: GpuTarget, name: str, ended: str, word: str
) -> None:
    with target.race(theirs(target, name), theirs(target, "witness"), norm_job(1.0)) as race:
        pair = race.pair(norm_buffers(1), user_first=True)
        again = race.pair(norm_buffers(2), user_first=True)
    assert pair.user.ended == again.user.ended == ended
    assert math.isnan(pair.user.ms)
    assert pair.user.says
    assert word in pair.user.says or name == "illegal_address"  # several kernels: which one is not known
    assert pair.baseline.ended != "finished"
    assert target.run(theirs(target, "stale"), norm_job()).ended == "finished"


def test_a_race_needs_plans(target: GpuTarget) -> None:
    refused, right = theirs(target, "depends_on_addresses"), theirs(target, "witness")
    with pytest.raises(RuntimeError, match="depend on"), target.race(refused, right, norm_job()):
        pass


def test_each_launch_is_timed_by_itself(target: GpuTarget, fake_card: FakeCard) -> None:
    (online,) = target.launch_times(ours(target, "03_online"), attention_job(), repeats=4)
    assert (online.kernel, len(online.ms)) == ("attendOnline", 4)
    assert all(ms == pytest.approx(ONLINE_MS, rel=0.02) for ms in online.ms)
    halve, scale = target.launch_times(theirs(target, "scratch"), norm_job(), repeats=2)
    assert (halve.kernel, scale.kernel) == ("halve", "scale")
    assert all(ms == pytest.approx(0.01, rel=0.2) for ms in (*halve.ms, *scale.ms))
    assert fake_card.lacks() == set()


def test_launch_times_of_a_kernel_that_fails_are_an_error(target: GpuTarget) -> None:
    with pytest.raises(RuntimeError):
        target.launch_times(theirs(target, "illegal_address"), norm_job(), repeats=2)
    assert target.run(theirs(target, "stale"), norm_job()).ended == "finished"
