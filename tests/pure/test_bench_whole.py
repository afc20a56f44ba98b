"""A ladder is whole if everybody is shown at every usual length; what is not is kept under another name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilestep.bench.contenders import choose, everyone
from tilestep.bench.floor import Peaks
from tilestep.bench.ladder import FAILED, MEASURED, MISSING, REFUSED, WRONG, Ladder, Row, load
from tilestep.bench.rows import empty_row
from tilestep.bench.run import LENGTHS, Plan
from tilestep.bench.whole import Keeper, gaps
from tilestep.cli import bench as command
from tilestep.cli import cli

PEAKS = Peaks(4.9e12, 67e12, 1070e12)
ROWS = tuple(empty_row(one, length, PEAKS, MEASURED) for length in LENGTHS for one in everyone())
WHOLE = Ladder("2026-11-30", "NVIDIA H200", "580.1", 7, PEAKS, rows=ROWS)
FULL, DRAFT = "ladder-h200-2026-11-30.json", "ladder-h200-2026-11-30-partial.json"
SELECTION = "ladder-h200-2026-11-30-selection.json"
ALL = Plan(everyone())


def changed(name: str, how: Callable[[Row], Row | None]) -> Ladder:
    """The whole ladder with another row of a contender at T = 512, or without it."""
    rows = [how(row) if (row.name, row.length) == (name, 512) else row for row in WHOLE.rows]
    return replace(WHOLE, rows=tuple(row for row in rows if row is not None))


def told(outcome: str, reason: str = "a reason") -> Callable[[Row], Row]:
    return lambda row: replace(row, outcome=outcome, reason=reason)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_whole_ladder_has_no_gaps() -> None:
    assert gaps(WHOLE) == ()


@pytest.mark.parametrize("outcome", [MISSING, REFUSED, WRONG])
def test_a_peer_is_shown_by_its_reason(outcome: str) -> None:
    assert gaps(changed("flex-bf16", told(outcome))) == ()


@pytest.mark.parametrize(
    ("name", "how", "line"),
    [
        ("flex-bf16", lambda row: None, "flex-bf16 at T = 512: not measured"),
        ("flex-bf16", told(REFUSED, ""), "flex-bf16 at T = 512: refused: "),
        ("flex-bf16", told(FAILED), "flex-bf16 at T = 512: failed: a reason"),
        ("03_online", told(FAILED), "03_online at T = 512: failed: a reason"),
        ("03_online", told(MISSING), "03_online at T = 512: missing: a reason"),
    ],
)
def test_whoever_is_not_shown_is_a_gap(name: str, how: Callable[[Row], Row | None], line: str) -> None:
    assert gaps(changed(name, how)) == (line,)


def test_gaps_of_one_reason_are_one_line() -> None:
    some = replace(WHOLE, rows=tuple(row for row in ROWS if row.name != "fa3-bf16"))
    assert gaps(some) == ("fa3-bf16 at T = 33, 512, 2048: not measured",)


def test_a_run_keeps_a_draft_until_its_end(tmp_path: Path) -> None:
    WHOLE.save(tmp_path)
    keeper = Keeper(tmp_path, ALL)
    keeper.keep(replace(WHOLE, seed=8, rows=WHOLE.at(33)))
    assert names(tmp_path) == [DRAFT, FULL]
    assert load(tmp_path / FULL) == WHOLE  # an earlier one of the day is as it was
    keeper.finish(replace(WHOLE, seed=8))
    assert names(tmp_path) == [FULL]
    assert load(tmp_path / FULL).seed == 8


def test_a_run_that_failed_somewhere_stays_partial(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, ALL)
    keeper.keep(WHOLE)
    assert keeper.finish(changed("03_online", told(FAILED))).name == DRAFT
    assert names(tmp_path) == [DRAFT]


@pytest.mark.parametrize("plan", [Plan(choose(["rungs"])), Plan(everyone(), (33, 512))])
def test_a_selection_never_gets_the_whole_name(tmp_path: Path, plan: Plan) -> None:
    WHOLE.save(tmp_path)
    keeper = Keeper(tmp_path, plan)
    keeper.keep(WHOLE)
    assert names(tmp_path) == ["ladder-h200-2026-11-30-selection-partial.json", FULL]
    assert keeper.finish(WHOLE).name == SELECTION
    assert names(tmp_path) == [SELECTION, FULL]


def test_more_lengths_than_the_usual_ones_are_no_selection(tmp_path: Path) -> None:
    assert Keeper(tmp_path, Plan(everyone(), (64, *LENGTHS))).finish(WHOLE).name == FULL


def test_a_run_that_is_interrupted_leaves_its_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command: an interrupt after the first length leaves the day's ladder alone."""

    def run(plan: Plan, card: object, packed: object, loaded: object, broken: object, *how: object) -> Ladder:
        keep = how[1]
        assert callable(keep)
        keep(replace(WHOLE, rows=WHOLE.at(33)))
        raise KeyboardInterrupt

    class Target:
        card = None

        def available(self) -> None: ...
        def close(self) -> None: ...

    monkeypatch.setattr(command, "GpuTarget", Target)
    monkeypatch.setattr(command, "load_rungs", lambda *_: ([], []))
    monkeypatch.setattr(command, "feed", lambda *_: {})
    monkeypatch.setattr(command, "run", run)
    WHOLE.save(tmp_path)
    assert CliRunner().invoke(cli, ["bench", "--save", str(tmp_path)]).exit_code != 0
    assert names(tmp_path) == [DRAFT, FULL]
    assert load(tmp_path / FULL) == WHOLE
