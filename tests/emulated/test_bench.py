"""The bench on the fake driver: our rungs compiled, recorded, captured, timed and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fake_driver import FakeCard, StandIns, image

from tilestep.bench.build import load_rungs
from tilestep.bench.contenders import choose
from tilestep.bench.messages import LeftOut, Message, Order, Prepared, Timed
from tilestep.bench.process import measure
from tilestep.bench.run import feed
from tilestep.cli import bench as command
from tilestep.cli import cli
from tilestep.program import Program, SubmissionError
from tilestep.targets.gpu import GpuTarget
from tilestep.targets.gpu.images import DeviceImage, read_image

LENGTHS = (5, 33)
SERIAL, COOPERATIVE, ONLINE = "01_serial", "02_cooperative", "03_online"

STAND_IN = """\
#include "attention.h"
#include "kernel.h"
PARAMETERS({symbol}, 8, 8, 4)
KERNEL {symbol}(void** given, FakeLaunch* launch) {{
  {first}
  attend(argument<const float*>(given, 0), argument<float*>(given, 1), argument<int>(given, 2));
}}
"""
SYMBOLS = {
    SERIAL: "_Z12attendSerialPKfPfi",
    COOPERATIVE: "_Z17attendCooperativePKfPfi",
    ONLINE: "_Z12attendOnlinePKfPfi",
}


class Compiler(StandIns):
    """Stand-ins for our rungs that first do what a test says, and then compute attention."""

    def __init__(self, folder: Path, **first: str) -> None:
        super().__init__()
        self.first = first
        self.folder = folder

    def image(self, program: Program) -> DeviceImage:
        stem = Path(program.file).stem
        source = self.folder / f"{stem}.cpp"
        source.write_text(STAND_IN.format(symbol=SYMBOLS[stem], first=self.first[f"rung_{stem[:2]}"]))
        return read_image(image(source))


Make = Callable[..., GpuTarget]


@pytest.fixture
def target(fake_card: FakeCard, tmp_path: Path) -> Make:
    fake_card.describe(l2=1 << 20)

    def make(**first: str) -> GpuTarget:
        compiler = Compiler(tmp_path, **first)
        return GpuTarget(compiler=lambda builder, capability: compiler)

    return make


TIMES = {"rung_01": "launch->ms = 30;", "rung_02": "launch->ms = 4;", "rung_03": "launch->ms = 0.5;"}


def heard(target: GpuTarget) -> list[Message]:
    chosen, packed = choose(["rungs"]), feed(LENGTHS, 3)
    loaded, broken = load_rungs(target, chosen, packed)
    target.close()
    assert broken == []
    return list(measure(Order(tuple(loaded), (), packed, seed=3, rounds=5)))


def test_the_command_measures_saves_and_prints(
    target: Make, fake_card: FakeCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "GpuTarget", lambda: target(**TIMES))
    words = [
        "bench",
        "--lengths",
        "33,5",
        "--rounds",
        "5",
        "--seed",
        "9",
        "--json",
        "--save",
        str(tmp_path / "out"),
    ]
    result = CliRunner().invoke(cli, [*words, "--only", "rungs,sdpa", "--without", "bf16"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    (file,) = (tmp_path / "out").iterdir()
    assert file.name == f"ladder-h200-{document['date']}-selection.json"
    assert json.loads(file.read_text()) == document
    assert (document["gpu"], document["seed"]) == ("NVIDIA H200", 9)
    rows = {(row["name"], row["length"]): row for row in document["rows"]}
    assert len(rows) == 2 * (3 + 4)
    for name, ms in ((SERIAL, 30.0), (COOPERATIVE, 4.0), (ONLINE, 0.5)):
        for length in LENGTHS:
            row = rows[name, length]
            assert row["outcome"] == "measured", row["reason"]
            assert row["median_ms"] == pytest.approx(ms, rel=0.05, abs=0.05)
            assert row["error"] < 1e-6
            assert row["over_tolerance"] < 1.0
            assert (row["rounds"], row["l2"], row["lowered_rounds"]) == (5, "cold", 0)
            assert row["overhead_ms"] < 0.1
    peer = rows["sdpa-math-fp32", 33]
    assert peer["outcome"] in ("missing", "refused")
    assert peer["reason"]
    assert fake_card.lacks() == set()


def test_a_lowered_clock_is_told_by_the_round(
    target: Make, fake_card: FakeCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = target(**TIMES)
    fake_card.describe(l2=1 << 20, throttle="0,4", sm_clock=1200)
    monkeypatch.setattr(command, "GpuTarget", lambda: gpu)
    words = ["bench", "--lengths", "5", "--rounds", "6", "--only", "rungs", "--seed", "9"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "the card lowered its clock in 3 of 6 rounds at T = 5 (power cap, down to 1,200 MHz)" in said


def test_a_kernel_that_writes_nothing_in_the_graph_is_not_right(target: Make) -> None:
    """Its outputs before were right: only NaN in the output before the graph tells."""
    stale = "launch->ms = 4; static int calls = 0; if (++calls > 3) return;"
    messages = heard(target(**{**TIMES, "rung_02": stale}))
    outputs = {(one.name, one.length): one.output for one in messages if isinstance(one, Prepared)}
    assert np.isfinite(outputs[ONLINE, 33]).all()
    assert np.isnan(outputs[COOPERATIVE, 33]).all()


def test_a_kernel_that_breaks_the_context_costs_itself_only(target: Make) -> None:
    messages = heard(target(**{**TIMES, "rung_02": "launch->error = ILLEGAL_ADDRESS;"}))
    timed = {one.length: set(one.samples) for one in messages if isinstance(one, Timed)}
    assert timed == {length: {SERIAL, ONLINE} for length in LENGTHS}
    left_out = {(one.name, one.length): one.reason for one in messages if isinstance(one, LeftOut)}
    assert set(left_out) == {(COOPERATIVE, length) for length in LENGTHS}
    assert all("ILLEGAL_ADDRESS" in reason for reason in left_out.values())


def test_a_rung_that_does_not_compile_is_told(fake_card: FakeCard) -> None:
    class Fussy(StandIns):
        def image(self, program: Program) -> DeviceImage:
            raise SubmissionError("line 3 is not C++", file=program.file, outcome="broken")

    compiler = Fussy()
    target = GpuTarget(compiler=lambda builder, capability: compiler)
    loaded, broken = load_rungs(target, choose([SERIAL]), feed((5,), 3))
    target.close()
    assert loaded == []
    assert broken == [LeftOut(SERIAL, 5, "failed", "line 3 is not C++")]
