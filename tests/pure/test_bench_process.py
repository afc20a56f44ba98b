"""The bench outlives the process that measures: whoever kills it has a row that says so."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import replace

import bench_workers
import numpy as np

from tilestep.bench.contenders import choose
from tilestep.bench.messages import Facts, LeftOut, Loaded, Message, Order, Timed
from tilestep.bench.process import Limits, measure
from tilestep.program import LaunchPlan

MATH, FLASH = "sdpa-math-fp32", "sdpa-flash-fp32"
PACKED = {length: np.zeros((length, 768), dtype=np.float32) for length in (2, 3)}
ORDER = Order((), choose([MATH, FLASH]), PACKED, seed=1)


def heard(work: Callable[..., None], limits: Limits | None = None) -> list[Message]:
    return list(measure(ORDER, limits, work))


def timed(messages: list[Message]) -> dict[int, set[str]]:
    return {one.length: set(one.samples) for one in messages if isinstance(one, Timed)}


def left_out(messages: list[Message]) -> dict[tuple[str, int], str]:
    return {(one.name, one.length): one.reason for one in messages if isinstance(one, LeftOut)}


def test_what_is_told_is_heard() -> None:
    messages = heard(bench_workers.works)
    assert messages[0] == Facts({"torch": "0"})
    assert timed(messages) == {2: {MATH, FLASH}, 3: {MATH, FLASH}}
    assert left_out(messages) == {}


def test_who_kills_the_process_is_left_out_and_the_rest_is_measured() -> None:
    messages = heard(bench_workers.dies_at_flash)
    assert timed(messages) == {2: {MATH}, 3: {MATH}}
    reasons = left_out(messages)
    assert set(reasons) == {(FLASH, 2), (FLASH, 3)}
    assert set(reasons.values()) == {"the process that measures died: illegal instruction"}


def test_a_process_that_gave_up_is_started_again_without_the_cause() -> None:
    messages = heard(bench_workers.gives_up_on_flash)
    assert timed(messages) == {2: {MATH}, 3: {MATH}}
    assert left_out(messages) == dict.fromkeys([(FLASH, 2), (FLASH, 3)], "it cannot be captured")


def test_a_death_while_timing_costs_that_length_only() -> None:
    messages = heard(bench_workers.dies_while_timing)
    assert timed(messages) == {3: {MATH, FLASH}}
    assert set(left_out(messages)) == {(MATH, 2), (FLASH, 2)}


def test_a_process_that_never_starts_leaves_everybody_out() -> None:
    messages = heard(bench_workers.never_starts)
    assert timed(messages) == {}
    assert set(left_out(messages)) == {(name, length) for name in (MATH, FLASH) for length in PACKED}
    assert "it says nothing" in next(iter(left_out(messages).values()))


def test_rungs_are_measured_though_the_peers_never_start() -> None:
    plans = {length: LaunchPlan() for length in PACKED}
    order = replace(ORDER, rungs=(Loaded(choose(["03_online"])[0], b"", plans, {}),))
    messages = list(measure(order, None, bench_workers.dies_of_pytorch))
    assert timed(messages) == {2: {"03_online"}, 3: {"03_online"}}
    assert set(left_out(messages)) == {(name, length) for name in (MATH, FLASH) for length in PACKED}


def test_who_hangs_is_left_out() -> None:
    messages = heard(bench_workers.hangs, Limits(start=60.0, prepare=2.0, timing=60.0))
    assert timed(messages) == {2: {FLASH}, 3: {MATH, FLASH}}
    assert list(left_out(messages)) == [(MATH, 2)]
    assert "nothing was heard" in left_out(messages)[MATH, 2]


def test_the_process_ends_with_its_listener() -> None:
    messages = measure(ORDER, None, bench_workers.hangs)
    assert isinstance(next(messages), Facts)
    messages.close()
    assert multiprocessing.active_children() == []
