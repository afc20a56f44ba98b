"""The ladder as a person reads it: tables, the README, a picture, and the command's arguments."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from tilestep.bench.contenders import everyone
from tilestep.bench.floor import Peaks
from tilestep.bench.ladder import MEASURED, MISSING, REFUSED, WRONG, Ladder, Row
from tilestep.bench.rows import empty_row
from tilestep.bench.run import LENGTHS
from tilestep.cli import bench as command
from tilestep.cli import cli
from tilestep.report.console import THEME
from tilestep.report.ladder import doubts, left_out, markdown_note, markdown_table, percent_text, show_ladder
from tilestep.report.ladder_plot import plot

ROOT = Path(__file__).parents[2]
PEAKS = Peaks(4.9e12, 67e12, 1070e12)
TORCH = "PyTorch is not installed: pip install torch"
FLOAT = "Expected Half. Got float"


def some_row(contender_row: Row, place: int) -> Row:
    name = contender_row.name
    if name == "02_cooperative" and contender_row.length == 512:
        return replace(contender_row, outcome=WRONG, reason="an element is 3 tolerances off", error=0.1)
    if name in ("sdpa-flash-fp32", "sdpa-cudnn-fp32"):
        return replace(contender_row, outcome=REFUSED, reason=FLOAT)
    if name == "fa3-bf16":
        return replace(contender_row, outcome=MISSING, reason="no fa3")
    time = 0.01 * (1 + place) * contender_row.length / 33
    return replace(
        contender_row,
        median_ms=time,
        tflops=1.5,
        of_floor=0.0123,
        error=2.5e-7,
        over_tolerance=0.04,
        rounds=15,
    )


LADDER = Ladder(
    date="2026-11-30",
    gpu="NVIDIA H200",
    driver="580.1",
    seed=7,
    peaks=PEAKS,
    versions={"torch": "2.11.0", "triton": "3.6.0"},
    rows=tuple(
        some_row(empty_row(one, length, PEAKS, MEASURED), place)
        for length in LENGTHS
        for place, one in enumerate(everyone())
    ),
    absent=("no fa3 (fa3-bf16)",),
)


def printed(ladder: Ladder) -> list[str]:
    out = StringIO()
    show_ladder(ladder, Console(file=out, width=80, theme=THEME, highlight=False, markup=False))
    return out.getvalue().splitlines()


def test_the_table_fits_a_terminal_and_holds_every_row_that_was_measured() -> None:
    lines = printed(LADDER)
    assert all(len(line) <= 80 for line in lines)
    first = next(line for line in lines if line.startswith("01_serial"))
    assert first.split() == ["01_serial", "10.0", "us", "1.5", "1.2", "%", "2.5e-07", "0.04"]
    wrong = [line.split()[:2] for line in lines if line.startswith("02_cooperative")]
    assert wrong[1] == ["02_cooperative", "wrong"]
    assert not any(line.startswith(("fa3-bf16", "sdpa-flash-fp32")) for line in lines)


def test_who_is_not_in_the_table_has_one_line_a_reason() -> None:
    assert left_out(LADDER) == [
        "not installed: no fa3 (fa3-bf16)",
        f"refused: sdpa-flash-fp32, sdpa-cudnn-fp32: {FLOAT}",
        "wrong: 02_cooperative at T = 512: an element is 3 tolerances off",
    ]


def test_the_markdown_table_is_one() -> None:
    lines = markdown_table(LADDER).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert {len(row) for row in cells} == {7}
    assert cells[0] == ["", "T = 33", "T = 512", "T = 2048", "TFLOP/s", "of floor", "error"]
    by_name = {row[0]: row for row in cells[2:]}
    assert by_name["**01_serial**"][1:3] == ["10.0 us", "155 us"]
    assert by_name["**02_cooperative**"][2] == "wrong"
    assert "sdpa-efficient-fp32" in by_name
    assert "fa3-bf16" not in by_name
    note = markdown_note(LADDER, "results/x.json")
    for part in ("NVIDIA H200", "580.1", "torch 2.11.0", "2026-11-30", "(results/x.json)", "at T = 2048"):
        assert part in note
    assert "Not in it: sdpa-flash-fp32, sdpa-cudnn-fp32 (refused); fa3-bf16 (not installed)." in note


def test_who_was_not_measured_is_said_under_the_table() -> None:
    some = replace(LADDER, rows=tuple(row for row in LADDER.rows if "flex" not in row.name))
    assert "flex-fp32, flex-bf16 (not measured)" in markdown_note(some, "x.json")
    shown = tuple(row for row in LADDER.rows if row.name == "03_online")
    assert "sdpa-cudnn-bf16" in markdown_note(replace(LADDER, rows=shown), "x.json")


def test_what_speaks_against_the_times_is_said_once() -> None:
    assert doubts(LADDER) == []
    lowered = {"lowered": "power cap", "lowered_rounds": 3, "clock": 1200}
    rows = tuple(
        replace(row, **({"replays": 40, "late": 7} if row.name == "flex-bf16" else {}), **lowered)
        if row.length == 512
        else row
        for row in LADDER.rows
    )
    ladder = replace(LADDER, rows=rows)
    clock, late = doubts(ladder)
    assert clock == "the card lowered its clock in 3 of 15 rounds at T = 512 (power cap, down to 1,200 MHz)"
    assert late.endswith("a gap of the host's: 7 of 600 of flex-bf16 at T = 512")
    said = " ".join(" ".join(printed(ladder)).split())
    assert clock in said
    assert late in said
    assert clock[1:] in markdown_note(ladder, "x.json")


def test_shares_have_two_digits() -> None:
    assert [percent_text(x) for x in (1.0, 0.2, 0.0996, 0.0123, 0.00019)] == [
        "100 %",
        "20 %",
        "10 %",
        "1.2 %",
        "0.019 %",
    ]


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    file = tmp_path / "ladder.png"
    file.write_bytes(plot(LADDER))
    assert file.read_bytes().startswith(b"\x89PNG")
    image = importlib.import_module("matplotlib.image").imread(file)
    assert image.shape[0] > 600
    assert np.unique(image[..., :3].reshape(-1, 3), axis=0).shape[0] > 50


def test_a_ladder_in_which_nobody_was_measured_is_drawn_and_printed() -> None:
    rows = tuple(empty_row(one, 33, Peaks(0, 0, 0), MISSING, TORCH) for one in everyone())
    ladder = replace(LADDER, rows=rows, peaks=Peaks(0, 0, 0))
    assert any("unknown" in line for line in printed(ladder))
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert plot(ladder)


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme_table", ROOT / "benchmarks/readme_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_holds_the_newest_ladder() -> None:
    table = script()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert table.with_section(text, table.section(table.newest())) == text, "run benchmarks/readme_table.py"


def test_the_readme_takes_the_newest_of_the_results(tmp_path: Path) -> None:
    table = script()
    assert table.newest(tmp_path) is None
    assert "has not been measured" in table.section(None)
    for date in ("2026-12-01", "2027-01-02", "2026-11-30"):
        replace(LADDER, date=date).save(tmp_path)
    file, ladder = table.newest(tmp_path)
    assert ladder.date == "2027-01-02"
    text = table.with_section(
        f"above\n{table.BEGIN}\nlast year\n{table.END}\nbelow", table.section((file, ladder))
    )
    assert text.startswith("above\n")
    assert text.endswith(f"{table.END}\nbelow")
    assert "last year" not in text
    assert f"benchmarks/results/{file.name}" in text
    with pytest.raises(ValueError, match="markers"):
        table.with_section("no markers", "x")


def test_the_readme_passes_over_what_is_no_whole_ladder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = script()
    rungs = tuple(row for row in LADDER.rows if row.kind == "rung")
    replace(LADDER, date="2027-01-01", rows=rungs).save(tmp_path)
    assert table.newest(tmp_path) is None
    LADDER.save(tmp_path)
    replace(LADDER, date="2027-01-02", rows=LADDER.rows[:-1]).save(tmp_path, "partial")
    assert table.newest(tmp_path) == (tmp_path / LADDER.file_name(), LADDER)
    readme = tmp_path / "README.md"
    readme.write_text(f"{table.BEGIN}\n{table.END}")
    table.main(tmp_path, readme)
    assert LADDER.file_name() in readme.read_text()
    said = capsys.readouterr().err
    assert "ladder-h200-2027-01-01.json is passed over" in said
    assert "sdpa-math-bf16 at T = 33, 512, 2048: not measured" in said


def bench(*words: str) -> Result:
    return CliRunner().invoke(cli, ["bench", *words], prog_name="tilestep")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--lengths", "33,x"], "not a list of whole numbers"),
        (["--lengths", "0"], "from 1 to 2048"),
        (["--lengths", "33,4096"], "from 1 to 2048"),
        (["--only", "nobody"], "nobody is called 'nobody'"),
        (["--only", "fa3", "--without", "bf16"], "nobody is left"),
        (["--rounds", "1"], "--rounds"),
        (["--seed", "-1"], "--seed"),
        (["--from", "no-such-file.json"], "cannot be read"),
        (["--png", "no/such/folder/x.png"], "cannot be written"),
        (["--from", "x.json", "--lengths", "33"], "--from"),
    ],
)
def test_usage_errors_exit_with_2(words: list[str], says: str) -> None:
    result = bench(*words)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_without_a_gpu_the_target_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.GpuTarget, "available", lambda self: "there is no NVIDIA GPU here")
    result = bench("--lengths", "33")
    assert (result.exit_code, result.stderr) == (4, "there is no NVIDIA GPU here\n")


def test_a_picture_needs_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = bench("--png", str(tmp_path / "x.png"))
    assert result.exit_code == 2
    assert "pip install 'tilestep[plot]'" in result.stderr


def test_a_picture_takes_the_place_of_a_picture_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "require_matplotlib", lambda: None)
    monkeypatch.setattr(command, "plot", lambda ladder: b"\x89PNG\r\n\x1a\n new")
    saved, picture, notes = LADDER.save(tmp_path), tmp_path / "x.png", tmp_path / "notes.txt"
    notes.write_text("mine")
    refused = bench("--from", str(saved), "--png", str(notes))
    assert (refused.exit_code, notes.read_text()) == (2, "mine")
    assert "was not written by tilestep" in refused.stderr
    for _ in range(2):
        assert bench("--from", str(saved), "--png", str(picture)).exit_code == 0
    assert picture.read_bytes().endswith(b"new")


def test_a_saved_ladder_is_shown(tmp_path: Path) -> None:
    file = LADDER.save(tmp_path)
    assert Ladder.from_json(json.loads(bench("--from", str(file), "--json").stdout)) == LADDER
    shown = bench("--from", str(file))
    assert shown.exit_code == 0
    assert "01_serial" in shown.stdout
    file.write_text("{}")
    assert bench("--from", str(file)).exit_code == 2


def test_a_folder_that_cannot_be_written_is_told_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command.GpuTarget, "available", lambda self: None)
    (tmp_path / "file").write_text("")
    result = bench("--save", str(tmp_path / "file/results"), "--lengths", "33")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
