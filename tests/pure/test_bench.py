"""The ladder's figures: who is measured, the floor, rounds, errors, rows, and what is kept of a run."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilestep import contract, kernels, reference
from tilestep.bench import ladder as ladders
from tilestep.bench.contenders import choose, everyone, rungs
from tilestep.bench.floor import Peaks, attention_bytes, attention_flops, floor, peaks
from tilestep.bench.ladder import Ladder, Row, load
from tilestep.bench.messages import MOST_REPLAYS, Facts, LeftOut, Loaded, Message, Order, Prepared, Timed
from tilestep.bench.rounds import Reading, Turn, replays, run_rounds
from tilestep.bench.rows import Right
from tilestep.bench.run import Plan, feed, run
from tilestep.targets.protocol import Card

H200 = Card(
    name="NVIDIA H200",
    driver="580.1",
    capability=(9, 0),
    memory_bytes=2**37,
    multiprocessors=132,
    l2_bytes=60 * 2**20,
    bandwidth=4.9e12,
    highest_clock=1980,
    compiler="nvcc 13.0",
)
RUNG, OTHER, BF16 = "03_online", "sdpa-efficient-fp32", "sdpa-flash-bf16"


def test_every_kernel_of_the_folder_is_a_rung_with_its_idea() -> None:
    ours = [name for name in kernels.names() if name.startswith("attention/")]
    assert [one.part for one in rungs()] == ours
    assert all(one.title.startswith("Causal grouped-query attention") for one in rungs())


def test_contenders_are_chosen_by_name_and_by_group() -> None:
    assert choose() == everyone()
    assert choose(["rungs"]) == rungs()
    assert [one.name for one in choose(["fa3", "01_serial"])] == ["01_serial", "fa3-bf16"]
    assert {one.precision for one in choose(["sdpa"], ["bf16"])} == {"fp32"}
    assert all(one.family != "flex" for one in choose(without=["flex"]))
    assert len({one.name for one in everyone()}) == len(everyone())


@pytest.mark.parametrize(("only", "without"), [(["nobody"], []), ([], ["nobody"]), (["fa3"], ["bf16"])])
def test_a_choice_of_nobody_is_refused(only: list[str], without: list[str]) -> None:
    with pytest.raises(ValueError, match="nobody"):
        choose(only, without)


def test_flops_and_bytes_are_counted() -> None:
    for length in (1, 2, 33):
        pairs = sum(i + 1 for i in range(length))
        assert attention_flops(length) == 4 * pairs * contract.DH * contract.HQ
    assert attention_bytes(3, "fp32") == 2 * attention_bytes(3, "bf16") == 3 * (768 + 512) * 4


def test_the_floor_is_the_larger_of_both() -> None:
    card = peaks(H200)
    assert card.fp32 == pytest.approx(66.9e12, rel=1e-3)
    assert card.bf16 == pytest.approx(1070e12, rel=1e-3)
    assert floor(2048, "fp32", card).bound == "flops"
    assert floor(2048, "fp32", card).ms == pytest.approx(attention_flops(2048) / card.fp32 * 1e3)
    assert floor(33, "bf16", card).bound == "bytes"
    assert floor(33, "bf16", card).ms == pytest.approx(attention_bytes(33, "bf16") / 4.9e12 * 1e3)


def test_an_unknown_card_has_no_floor_of_flops() -> None:
    strange = peaks(replace(H200, capability=(99, 0), bandwidth=0.0))
    assert floor(2048, "fp32", strange).bound == "unknown"
    assert floor(2048, "fp32", strange).ms == 0.0


def test_a_turn_holds_a_millisecond_of_replays() -> None:
    assert replays(33.0) == replays(1.0) == 1
    assert replays(0.3) == 4
    assert replays(1e-6) == replays(0.0) == replays(math.nan) == MOST_REPLAYS


def test_rounds_take_turns_in_changing_order() -> None:
    order: list[str] = []

    def turn(name: str, ms: float, late: int = 0) -> None:
        def one(times: int) -> Reading:
            order.append(name)
            return Reading(ms, late)

        turns[name] = one

    def clock() -> tuple[int, str]:
        """Asked once a round, and lowered in the third."""
        asked.append(len(order))
        return (1200, "power cap") if len(asked) == 3 else (1980, "")

    turns: dict[str, Turn] = {}
    asked: list[int] = []
    turn("fast", 0.25)
    turn("slow", 5.0, late=2)
    turn("other", 2.0)
    found = run_rounds(turns, 20, 3, clock)
    assert found.replays == {"fast": 4, "slow": 1, "other": 1}
    assert found.samples == {"fast": (0.25,) * 20, "slow": (5.0,) * 20, "other": (2.0,) * 20}
    assert found.late == {"fast": 0, "slow": 40, "other": 0}  # not those of the warm-up
    assert found.clocks == (1980, 1980, 1200, *(1980,) * 17)
    assert found.lowered == ("", "", "power cap", *("",) * 17)
    assert [after - before for before, after in itertools.pairwise(asked)] == [3] * 19
    rounds = [tuple(order[-60:][at : at + 3]) for at in range(0, 60, 3)]
    assert all(set(one) == set(turns) for one in rounds)
    assert len(set(rounds)) > 1


def test_errors_are_measured_against_float64() -> None:
    packed = feed([40], 7)[40]
    right = Right.of(packed)
    assert np.array_equal(right.want, reference.attention(packed))
    error, over = right.errors(right.want.astype(np.float32))
    assert error < 1e-7
    assert over < 0.1
    off = right.want.astype(np.float32)
    off[3, 5] += 2 * right.tolerance[3, 5]
    assert right.errors(off)[1] == pytest.approx(2.0, rel=0.1)
    off[3, 5] = np.nan
    assert all(math.isnan(value) for value in right.errors(off))


def ladder_of(
    outputs: dict[str, np.ndarray], length: int = 40, told: tuple[Message, ...] = (), **timed: Any
) -> Ladder:
    """A run in which these contenders have these outputs, and times of 2, 3 and 4 ms."""
    kept: list[Ladder] = []
    chosen = choose([RUNG, OTHER, BF16])

    def measure(order: Order) -> Generator[Message, None, None]:
        assert [one.name for one in order.peers] == [OTHER, BF16]
        yield Facts({"torch": "2.11"})
        for name, output in outputs.items():
            yield Prepared(name, length, output, "enable_gqa")
        yield from told
        samples = dict.fromkeys(outputs, (4.0, 2.0, 3.0))
        yield Timed(length, samples, dict.fromkeys(outputs, 1), 0.002, **timed)

    packed = feed([length], 7)
    loaded = [Loaded(chosen[0], b"", {}, {})]
    ladder = run(Plan(chosen, (length,), 3, 7), H200, packed, loaded, [], measure, kept.append)
    assert len(kept) == 1
    assert [row.name for row in kept[0].rows] == [row.name for row in ladder.rows if row.reason != NEVER]
    return ladder


NEVER = "the run ended before its turn"
WANT = reference.attention(feed([40], 7)[40])
BY_NAME = dict[str, Row]


def rows_of(ladder: Ladder) -> BY_NAME:
    assert [row.name for row in ladder.rows] == [RUNG, OTHER, BF16]
    return {row.name: row for row in ladder.rows}


def test_a_run_gives_rows_with_figures() -> None:
    right = WANT.astype(np.float32)
    ladder = ladder_of({RUNG: right, OTHER: right, BF16: right * np.float32(1.003)})
    rows = rows_of(ladder)
    assert {row.outcome for row in rows.values()} == {"measured"}
    ours = rows[RUNG]
    assert (ours.median_ms, ours.low_ms, ours.high_ms, ours.rounds) == (3.0, 2.0, 4.0, 3)
    assert ours.tflops == pytest.approx(attention_flops(40) / 3e-3 / 1e12)
    assert ours.of_floor == pytest.approx(floor(40, "fp32", peaks(H200)).ms / 3.0)
    assert rows[BF16].error == pytest.approx(3e-3, rel=0.01)
    assert rows[BF16].over_tolerance is not None
    assert rows[BF16].over_tolerance > 1.0
    assert ladder.versions["torch"] == "2.11"
    assert {row.overhead_ms for row in rows.values()} == {0.002}
    assert {(row.late, row.clock, row.lowered, row.lowered_rounds) for row in rows.values()} == {
        (0, 0, "", 0)
    }


def test_every_length_keeps_its_own_overhead() -> None:
    packed = feed([3, 40], 7)

    def measure(order: Order) -> Generator[Message, None, None]:
        for length, cost in ((3, 0.001), (40, 0.002)):
            yield Prepared(RUNG, length, reference.attention(packed[length]).astype(np.float32))
            yield Timed(length, {RUNG: (1.0,) * 3}, {RUNG: 1}, cost)

    chosen = choose([RUNG])
    loaded = [Loaded(chosen[0], b"", {}, {})]
    ladder = run(Plan(chosen, (3, 40), 3, 7), H200, packed, loaded, [], measure, lambda ladder: None)
    assert {row.length: row.overhead_ms for row in ladder.rows} == {3: 0.001, 40: 0.002}


def test_a_lowered_clock_and_a_late_host_stand_in_the_rows() -> None:
    right = WANT.astype(np.float32)
    ladder = ladder_of(
        {RUNG: right, OTHER: right},
        clocks=(1980, 1200, 1500),
        lowered=("power cap", "power cap, hardware slowdown", ""),
        late={OTHER: 2},
    )
    rows = rows_of(ladder)
    # At its highest clock the card may say what it likes.
    assert (rows[RUNG].clock, rows[RUNG].lowered_rounds) == (1200, 1)
    assert rows[RUNG].lowered == "power cap, hardware slowdown"
    assert [rows[name].late for name in (RUNG, OTHER)] == [0, 2]


def test_a_wrong_output_gets_no_time() -> None:
    wrong = WANT.astype(np.float32)
    wrong[39, 0] += 0.01
    rows = rows_of(
        ladder_of({RUNG: wrong, OTHER: np.full_like(wrong, np.nan), BF16: wrong * np.float32(1.1)})
    )
    assert {row.outcome for row in rows.values()} == {"wrong"}
    assert {row.median_ms for row in rows.values()} == {None}
    assert {row.tflops for row in rows.values()} == {None}
    assert "tolerances off" in rows[RUNG].reason
    assert "NaN" in rows[OTHER].reason
    assert rows[OTHER].error is None
    assert rows[BF16].error == pytest.approx(0.1, rel=0.01)


def test_a_peer_that_is_less_exact_than_fp32_shows_its_error_and_keeps_its_time() -> None:
    rough = (WANT * 1.0005).astype(np.float32)
    rows = rows_of(ladder_of({RUNG: rough, OTHER: rough}))
    assert [rows[name].outcome for name in (RUNG, OTHER)] == ["wrong", "measured"]
    assert rows[OTHER].median_ms == 3.0
    assert rows[OTHER].error == pytest.approx(5e-4, rel=0.01)
    assert rows[OTHER].over_tolerance is not None
    assert rows[OTHER].over_tolerance > 1.0


def test_an_output_of_wrong_shape_fails_its_row() -> None:
    rows = rows_of(ladder_of({RUNG: np.zeros((3, 4), dtype=np.float32), OTHER: WANT.astype(np.float32)}))
    assert rows[RUNG].outcome == "failed"
    assert "3 x 4" in rows[RUNG].reason
    assert rows[OTHER].outcome == "measured"


def test_whoever_is_left_out_has_a_row_with_the_reason() -> None:
    told = (
        LeftOut(OTHER, 40, "refused", "Expected fp16. Got float"),
        LeftOut(BF16, 40, "missing", "PyTorch is not installed: pip install torch"),
    )
    ladder = ladder_of({RUNG: WANT.astype(np.float32)}, told=told)
    rows = rows_of(ladder)
    assert [rows[name].outcome for name in (RUNG, OTHER, BF16)] == ["measured", "refused", "missing"]
    assert rows[OTHER].reason == "Expected fp16. Got float"
    assert ladder.absent == (f"PyTorch is not installed: pip install torch ({BF16})",)


def test_whoever_was_not_heard_of_has_a_row_too() -> None:
    rows = rows_of(ladder_of({RUNG: WANT.astype(np.float32)}))
    assert [rows[name].outcome for name in (OTHER, BF16)] == ["failed", "failed"]
    assert rows[OTHER].reason == NEVER


def test_a_ladder_is_saved_and_loaded(tmp_path: Path) -> None:
    ladder = ladder_of({RUNG: WANT.astype(np.float32)})
    file = ladder.save(tmp_path / "results")
    assert file.name == f"ladder-h200-{ladder.date}.json"
    assert [one.name for one in file.parent.iterdir()] == [file.name]
    assert load(file) == ladder
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["schema"] == ladders.SCHEMA
    assert {"date", "gpu", "driver", "versions", "commit", "rows"} <= set(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": 2, "rows": []}',
        '{"schema": 1, "rows": [{"nme": 1}]}',
        '{"schema": 1, "rows": 3}',
    ],
)
def test_what_is_no_ladder_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ladder.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"ladder|JSON|Expecting"):
        load(file)


def test_a_card_gives_a_file_name_without_blanks() -> None:
    peak = Peaks(0.0, 0.0, 0.0)
    name = Ladder("2026-11-30", "NVIDIA GeForce RTX 4090 (x2)", "1", 0, peak).file_name()
    assert name == "ladder-geforce-rtx-4090-x2-2026-11-30.json"
