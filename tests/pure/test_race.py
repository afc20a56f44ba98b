"""The race and what is decided from it, with a target whose times a test sets."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilestep.judge import judge
from tilestep.judge.timed import BaselineWrong
from tilestep.judge.verdict import Inconclusive, Passed, Slow, Verdict, Wrong
from tilestep.program import Finding, Job
from tilestep.subjects import subject
from tilestep.targets.gpu import GpuTarget

STEP = "online-attention"
LENGTHS = (2, 33)


def raced(file: Path, target: Any, **options: Any) -> Verdict:
    return judge(file, STEP, seed=11, lengths=LENGTHS, target=target, **options)


def evidence(verdict: Verdict, label: str) -> str:
    (line,) = [line for line in verdict.evidence if line.startswith(f"{label}: ")]
    return line.removeprefix(f"{label}: ")


def test_a_fast_kernel_passes_with_its_speed_and_the_lines_of_evidence(
    clock: Any, attention_file: Path
) -> None:
    target = clock()
    verdict = raced(attention_file, target)
    assert isinstance(verdict, Passed)
    assert verdict.exit_code == 0
    speed = verdict.speed
    assert speed is not None
    assert (speed.baseline_ms, speed.pairs, speed.gate) == (4.0, 40, 1.8)
    assert 2.5 <= speed.low <= speed.speedup <= speed.high <= 2.56
    assert speed.user_ms == pytest.approx(4.0 / speed.speedup, rel=0.01)
    assert evidence(verdict, "ATTN BASELINE MS") == "4.0000"
    assert evidence(verdict, "ATTN USER MS") == f"{speed.user_ms:.4f}"
    assert evidence(verdict, "SPEEDUP").endswith("gate 1.8x)")
    assert evidence(verdict, "pairs") == "40 in random order, 0 throttled"
    assert evidence(verdict, "clocks") == "1978 to 1980 MHz, highest 1980 MHz"
    assert evidence(verdict, "compiler") == "nvcc 13.0 -O3 -arch=sm_90"
    assert evidence(verdict, "others") == "no other process on the card"
    assert verdict.to_json()["speed"]["pairs"] == 40
    assert set(target.modes) == {"fast"}
    assert target.raced == [str(attention_file), "02_cooperative.cu"]
    assert {case.length for case in verdict.cases} == {*LENGTHS, 40}


def test_pairs_come_in_random_order_with_values_of_their_own(clock: Any, attention_file: Path) -> None:
    target = clock()
    verdict = raced(attention_file, target, pairs=60)
    assert len(target.orders) == 60
    assert sum(target.orders) == 30
    assert target.orders != sorted(target.orders)
    assert target.orders[::2] != [target.orders[0]] * 30  # not in turns
    assert verdict.race is not None
    assert sum(pair.strict for pair in verdict.race.pairs) == 3
    assert len({*target.fed, target.warmed_up_on}) == 61  # nothing is fed twice
    assert target.soon == 1


def test_what_timed_calls_are_fed_is_no_matter_of_the_seed(
    clock: Any, attention_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = clock(), clock(), clock()
    (verdict, other) = raced(attention_file, first), raced(attention_file, second)
    assert verdict.seed == other.seed
    assert not {*first.fed} & {*second.fed}
    assert verdict.race is not None
    assert int(verdict.race.entropy, 16) >= 2**64
    monkeypatch.setattr("secrets.randbits", lambda bits: int(verdict.race.entropy, 16))
    raced(attention_file, third)
    assert (third.orders, third.fed) == (first.orders, first.fed)


def test_values_of_fresh_cases_are_as_large_as_the_judged_ones(clock: Any, attention_file: Path) -> None:
    target = clock()
    verdict = raced(attention_file, target)
    judged = subject(STEP).make(40, "normal", verdict.seed).inputs["qkv_rotated"]
    sizes = [np.frombuffer(fed, dtype=np.float32).reshape(-1, 768) for fed in target.fed]
    for columns in (slice(0, 512), slice(512, 640), slice(640, 768)):
        spread = [size[:, columns].std() for size in sizes]
        assert max(spread) / min(spread) < 1.25
        assert judged[:, columns].std() == pytest.approx(np.median(spread), rel=0.15)


def test_a_slow_kernel_is_slow_and_keeps_its_speed(clock: Any, attention_file: Path) -> None:
    verdict = raced(attention_file, clock(ratio=lambda n: 1.0 + 0.01 * (n % 3)))
    assert isinstance(verdict, Slow)
    assert verdict.speed is not None
    assert verdict.speed.high < 1.8
    assert "only 1.01x the baseline's speed" in verdict.says


def test_a_gate_inside_the_interval_is_inconclusive(clock: Any, attention_file: Path) -> None:
    verdict = raced(attention_file, clock(ratio=lambda n: 1.75 if n % 2 else 1.85))
    assert isinstance(verdict, Inconclusive)
    assert (verdict.exit_code, verdict.to_json()["speed"]) == (1, None)
    assert "inside the 95 % interval of the speedup, 1.75x to 1.85x" in verdict.says


def test_the_whole_interval_must_meet_the_gate(clock: Any, attention_file: Path) -> None:
    assert raced(attention_file, clock(baseline_ms=3.6, ratio=lambda n: 1.8)).outcome == "passed"
    assert raced(attention_file, clock(baseline_ms=3.6, ratio=lambda n: 1.7999)).outcome == "slow"


def test_throttled_pairs_are_dropped_and_counted(clock: Any, attention_file: Path) -> None:
    def sometimes(n: int) -> tuple[str, ...]:
        return ("hardware thermal",) if n % 8 == 1 else ()

    target = clock(throttled=sometimes, ratio=lambda n: 9.0 if sometimes(n) else 2.0)
    verdict = raced(attention_file, target)
    assert isinstance(verdict, Passed)
    assert verdict.speed is not None
    assert (verdict.speed.pairs, verdict.speed.high) == (35, 2.0)
    assert evidence(verdict, "pairs") == "40 in random order, 5 throttled and dropped"


def test_more_pairs_are_timed_where_too_few_are_left(clock: Any, attention_file: Path) -> None:
    target = clock(throttled=lambda n: ("power cap",) if n < 12 else ())
    verdict = raced(attention_file, target)
    assert isinstance(verdict, Passed)
    assert verdict.speed is not None
    assert verdict.speed.pairs == 30
    assert len(target.orders) == 42


def test_late_pairs_are_dropped_and_counted(clock: Any, attention_file: Path) -> None:
    target = clock(late=lambda n: n % 10 == 3, ratio=lambda n: 9.0 if n % 10 == 3 else 2.0)
    verdict = raced(attention_file, target)
    assert isinstance(verdict, Passed)
    assert verdict.speed is not None
    assert (verdict.speed.pairs, verdict.speed.high) == (36, 2.0)
    assert evidence(verdict, "pairs") == "40 in random order, 0 throttled, 4 late and dropped"


def test_calls_that_are_always_late_give_no_speed(clock: Any, attention_file: Path) -> None:
    verdict = raced(attention_file, clock(late=lambda n: True))
    assert isinstance(verdict, Inconclusive)
    assert "in 60 of 60 pairs the host was not done with queueing when the first kernel began" in verdict.says


def test_a_write_beside_a_buffer_in_a_timed_call_is_unsafe(clock: Any, attention_file: Path) -> None:
    found = (Finding("guard-band", "bytes behind attnOut changed", array="attnOut"),)
    target = clock(outside=lambda n: found if n == 7 else ())
    verdict = raced(attention_file, target)
    assert (verdict.outcome, len(target.orders)) == ("unsafe", 8)
    assert [finding.code for finding in verdict.findings] == ["guard-band"]
    assert verdict.to_json()["speed"] is None


def test_a_card_that_is_slowed_down_gives_no_speed(clock: Any, attention_file: Path) -> None:
    target = clock(throttled=lambda n: ("power cap",) if n % 3 else ())
    verdict = raced(attention_file, target)
    assert isinstance(verdict, Inconclusive)
    assert verdict.says == (
        "Right at every value, but the card lowered its clock in 40 of 60 pairs (power cap)."
    )
    assert evidence(verdict, "speed").startswith("not stated, the card lowered its clock")
    assert not any(line.startswith(("SPEEDUP", "ATTN")) for line in verdict.evidence)


def test_a_reason_that_has_lowered_no_clock_drops_nothing(clock: Any, attention_file: Path) -> None:
    target = clock(throttled=lambda n: ("power cap",), slow_clock=1965)
    assert raced(attention_file, target).outcome == "passed"
    unknown = dataclasses.replace(target.card, highest_clock=0)
    target = clock(throttled=lambda n: ("power cap",), slow_clock=1965, card=unknown)
    assert raced(attention_file, target).outcome == "inconclusive"


def test_a_time_below_the_floor_is_an_alarm_and_no_record(clock: Any, attention_file: Path) -> None:
    slow_memory = dataclasses.replace(clock().card, bandwidth=1e6)
    verdict = raced(attention_file, clock(card=slow_memory))
    assert isinstance(verdict, Inconclusive)
    assert "no kernel is faster than the card's memory" in verdict.says
    assert verdict.race is not None
    assert verdict.race.floor_ms == pytest.approx(40 * (768 + 512) * 4 / 1e6 * 1e3)
    unknown = dataclasses.replace(slow_memory, bandwidth=0.0)
    assert raced(attention_file, clock(card=unknown)).outcome == "passed"


@pytest.mark.parametrize("ms", [0.0, math.nan, math.inf])
def test_events_that_give_no_time_give_no_speed(clock: Any, attention_file: Path, ms: float) -> None:
    verdict = raced(attention_file, clock(baseline_ms=ms))
    assert isinstance(verdict, Inconclusive)
    assert "the events of pair 0 give no time" in verdict.says


def test_work_that_hides_from_the_events_is_an_alarm(clock: Any, attention_file: Path) -> None:
    verdict = raced(attention_file, clock(hides_ms=1.5))
    assert isinstance(verdict, Inconclusive)
    assert "sees 1.52 ms more than the events: work hides from them" in verdict.says
    assert raced(attention_file, clock(hides_ms=0.2)).outcome == "passed"  # less than a quarter millisecond
    busy = raced(attention_file, clock(busy_ms=3.0))
    assert "something else keeps the card busy" in busy.says


def test_a_kernel_that_slows_the_baseline_behind_it_gains_nothing(clock: Any, attention_file: Path) -> None:
    verdict = raced(attention_file, clock(slows_the_next=1.5, ratio=lambda n: 1.7))
    assert isinstance(verdict, Inconclusive)
    assert "depends on who begins: 2.55x where the submission does, 1.70x" in verdict.says
    assert raced(attention_file, clock(slows_the_next=1.05)).outcome == "passed"


def test_clocks_that_the_host_does_not_read_are_no_alarm(clock: Any, attention_file: Path) -> None:
    assert raced(attention_file, clock(hides_ms=math.nan)).outcome == "passed"


@pytest.mark.parametrize("value", [7.0, math.nan])
def test_a_wrong_timed_output_is_wrong_and_named_by_its_pair(
    clock: Any, attention_file: Path, value: float
) -> None:
    def spoil(out: np.ndarray, number: int) -> np.ndarray:
        if number == 17:
            out[31, 64 * 2 + 5] = value
        return out

    target = clock(spoil_user=spoil)
    verdict = raced(attention_file, target)
    assert isinstance(verdict, Wrong)
    first = verdict.first_wrong
    assert (first.tensor, first.length, first.family) == ("attention_output", 40, "timed pair 17")
    assert (first.row, first.head, first.dim) == (31, 2, 5)
    assert "in a timed call" in verdict.says
    assert verdict.mistakes == ()
    assert verdict.to_json()["speed"] is None
    assert not any(line.startswith(("SPEEDUP", "ATTN")) for line in verdict.evidence)
    assert verdict.race is not None
    # Nothing more is timed, once it is known: a strict pair is compared beside those that follow.
    assert len(target.orders) < 40 or verdict.race.pairs[17].strict


def test_a_kernel_that_turns_to_half_precision_once_it_is_timed_is_wrong(
    clock: Any, attention_file: Path
) -> None:
    def halve(out: np.ndarray, number: int) -> np.ndarray:
        return out.astype(np.float16).astype(np.float32) if number > 20 else out

    verdict = raced(attention_file, clock(spoil_user=halve))
    assert isinstance(verdict, Wrong)
    # The first that is not strict, of which there may be three in a row, is known first.
    assert verdict.first_wrong.family in {f"timed pair {number}" for number in range(21, 25)}


def test_a_kernel_that_replays_its_last_answer_is_wrong(clock: Any, attention_file: Path) -> None:
    kept: list[np.ndarray] = []

    def replay(out: np.ndarray, number: int) -> np.ndarray:
        kept.append(out)
        return kept[0]

    assert raced(attention_file, clock(spoil_user=replay)).outcome == "wrong"


def test_a_baseline_that_is_wrong_is_our_fault(clock: Any, attention_file: Path) -> None:
    def spoil(out: np.ndarray, number: int) -> np.ndarray:
        out[3, 3] += np.float32(0.1)
        return out

    with pytest.raises(BaselineWrong, match="timed pair"):
        raced(attention_file, clock(spoil_baseline=spoil))


def test_a_crash_in_the_race_is_broken(clock: Any, attention_file: Path) -> None:
    target = clock(ends=lambda n: "an illegal address in attend" if n == 5 else "")
    verdict = raced(attention_file, target)
    assert (verdict.outcome, verdict.exit_code) == ("broken", 2)
    assert verdict.says == f"{attention_file}: an illegal address in attend (timed pair 5, T = 40)"
    assert len(verdict.cases) == 15  # what came before is kept


def test_nothing_more_runs_on_the_card_after_a_kernel_that_never_ended(
    clock: Any, attention_file: Path
) -> None:
    """Each would take the whole time limit, and there are as many runs under way as there are cores."""
    ended: list[int] = []

    def hang(job: Job) -> str:
        if job.sizes[0] < 33:
            return ""
        ended.append(job.sizes[0])
        return "attend never ended"

    verdict = raced(attention_file, clock(run_ends=hang))
    assert (verdict.outcome, verdict.says) == ("broken", f"{attention_file}: attend never ended (T = 33)")
    assert ended == [33]


def test_a_baseline_that_does_not_finish_is_our_fault(clock: Any, attention_file: Path) -> None:
    target = clock(baseline_ends=lambda n: "it never ended" if n == 2 else "")
    with pytest.raises(RuntimeError, match=r"the baseline did not finish: it never ended \(timed pair 2"):
        raced(attention_file, target)


def test_without_a_gpu_there_is_one_sentence(attention_file: Path) -> None:
    target = GpuTarget()
    missing = target.available()
    if missing is None:
        pytest.skip("there is a GPU here")
    verdict = judge(attention_file, STEP, target=target)
    assert (verdict.outcome, verdict.exit_code, verdict.says) == ("unavailable", 4, missing)
    assert verdict.target.kind == "gpu"


def test_only_what_is_right_is_timed(clock: Any, attention_file: Path) -> None:
    target = clock(spoil=lambda out, n: out * np.float32(2))
    verdict = raced(attention_file, target)
    assert verdict.outcome == "wrong"
    assert target.orders == []
    assert "speed: not judged, a kernel that is not right has none" in verdict.evidence


def test_what_a_finding_makes_unsafe_is_not_timed(clock: Any, attention_file: Path) -> None:
    target = clock(findings=(Finding("guard-band", "bytes behind attnOut changed", array="attnOut"),))
    verdict = raced(attention_file, target)
    assert verdict.outcome == "unsafe"
    assert target.orders == []


def test_a_step_without_a_gate_is_not_timed(clock: Any, attention_file: Path) -> None:
    target = clock()
    verdict = judge(attention_file, "causal-attention", seed=1, lengths=(2,), target=target)
    assert verdict.outcome == "passed"
    assert target.orders == []
    assert "speed: no gate at this step" in verdict.evidence
    assert max(case.length for case in verdict.cases) == 40


def test_short_lengths_alone_say_that_the_gate_was_not_judged(clock: Any, attention_file: Path) -> None:
    verdict = raced(attention_file, clock(), profile=False)
    assert verdict.outcome == "passed"
    assert "which was not judged" in verdict.says
    assert "speed: not judged, the gate stands at T = 40" in verdict.evidence


@pytest.mark.parametrize("pairs", [0, 29, 201])
def test_a_number_of_pairs_out_of_range_is_refused(clock: Any, attention_file: Path, pairs: int) -> None:
    with pytest.raises(ValueError, match="from 30 to 200"):
        raced(attention_file, clock(), pairs=pairs)


def test_progress_counts_the_pairs(clock: Any, attention_file: Path) -> None:
    told: list[Any] = []
    raced(attention_file, clock(), on_progress=told.append)
    assert told[-1].done == told[-1].total == 10 + 1 + 4 + 40
    assert told[-1].doing == "pair 40 of 40"
