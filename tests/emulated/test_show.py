"""`tilestep show` on real kernels: what it finds is what they did, whatever their block indices mean."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tilestep import kernels, reference
from tilestep.cli import cli
from tilestep.contract import DH, GROUP
from tilestep.inspect.session import CannotLook, open_session
from tilestep.inspect.timeline import bars
from tilestep.program import Piece
from tilestep.targets.cpu import CpuTarget

FOLDER = Path(__file__).parent / "show"
ROOT = Path(__file__).parents[2]
WRONG = ROOT / "tests" / "wrong" / "attention"


def show(*words: object) -> Result:
    return CliRunner().invoke(cli, ["show", *map(str, words)], prog_name="tilestep")


def shown(*words: object) -> dict[str, Any]:
    result = show(*words, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def refused(*words: object) -> str:
    result = show(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


def ours(name: str) -> Path:
    return kernels.path(f"attention/{name}")


# --- scores -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "array", "form"),
    [
        ("01_serial.cu", "score_smem", "score"),  # no barrier: the row is whole before it is written anew
        ("02_cooperative.cu", "score_smem", "score"),
        ("03_online.cu", "p_smem", "exp(score - maximum)"),  # a tile at a time, each under its own maximum
    ],
)
def test_the_row_that_our_kernels_left(name: str, array: str, form: str) -> None:
    found = shown("scores", ours(name), "--row", 40, "--head", 3, "--length", 64)
    assert (found["array"], found["form"], found["matched"]) == (array, form, True)
    assert (found["different"], found["unmasked"]) == (0, 0)
    assert [key["masked"] for key in found["keys"]] == [False] * 41 + [True] * 23


def test_scores_are_the_float64_ones() -> None:
    found = shown("scores", ours("02_cooperative.cu"), "--row", 40, "--head", 5, "--length", 50, "--seed", 9)
    session = open_session(ours("02_cooperative.cu"), None, 9, CpuTarget())
    q, k, _ = reference.split_heads(session.case(50, "normal")["qkv_rotated"])
    want = k[5 // GROUP, :41] @ q[5, 40] / np.sqrt(DH)
    assert np.allclose([key["want"] for key in found["keys"][:41]], want, rtol=0, atol=0)
    assert np.allclose([key["yours"] for key in found["keys"][:41]], want, atol=1e-5)
    assert {key["yours"] for key in found["keys"][41:]} == {"-inf"}


def test_the_block_is_the_one_that_writes_the_row() -> None:
    """In this kernel no block index is a row or a head; its mask lets one key too many through."""
    found = shown("scores", FOLDER / "late_mask.cu", "--row", 20, "--head", 5, "--length", 33)
    assert found["kernel"]["block"] == [2, 20, 0]
    assert (found["different"], found["unmasked"]) == (0, 1)
    assert [key["key"] for key in found["keys"] if key["leaks"]] == [21]
    text = show("scores", FOLDER / "late_mask.cu", "--row", 20, "--head", 5, "--length", 33).stdout
    assert "Masked key 21 holds what an unmasked one would" in " ".join(text.split())


def test_a_mask_that_hides_the_row_itself() -> None:
    found = shown("scores", WRONG / "17-mask-strict.cu", "--row", 40, "--head", 3)
    wrong = [key for key in found["keys"] if not key["ok"]]
    assert [(key["key"], key["yours"]) for key in wrong] == [(40, None)]


def test_a_missing_scale_and_a_foreign_head_are_told() -> None:
    found = shown("scores", WRONG / "01-scale-missing.cu", "--row", 40, "--head", 3)
    assert (found["form"], found["different"]) == ("score without the scale", 0)
    found = shown("scores", WRONG / "42-kv-head-divided-by-their-number.cu", "--row", 40, "--head", 3)
    assert (found["form"], found["foreign"]) == ("score by the keys of KV head 1", True)
    assert found["different"] == 41


def test_rows_at_the_edges_and_families() -> None:
    for row, length in ((0, 1), (0, 64), (127, 128)):
        found = shown("scores", ours("02_cooperative.cu"), "--row", row, "--length", length)
        assert (found["matched"], found["different"], len(found["keys"])) == (True, 0, length)
    for family in ("spread", "planted", "negative"):
        found = shown("scores", ours("01_serial.cu"), "--row", 40, "--family", family)
        assert (found["array"], found["different"], found["unmasked"]) == ("score_smem", 0, 0)


def test_another_array_by_name() -> None:
    found = shown("scores", ours("02_cooperative.cu"), "--array", "q_smem")
    assert (found["array"], found["matched"]) == ("q_smem", False)
    assert {one["name"] for one in found["arrays"]} == {"score_smem", "q_smem", "tree_smem"}
    assert "No value of q_smem" in show("scores", ours("02_cooperative.cu"), "--array", "q_smem").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nothing-here.cu",), "nothing-here.cu: No such file"),
        ((FOLDER / "late_mask.cu", "--row", 64), "row 64 is not one of 64 rows: 0 to 63"),
        ((FOLDER / "late_mask.cu", "--head", 8), "head 8 is not a query head: 0 to 7"),
        (
            (FOLDER / "late_mask.cu", "--length", 4096),
            "T = 4096 is not a length of causal-attention: 1 to 2048",
        ),
        ((FOLDER / "late_mask.cu", "--family", "x"), "the families are normal, spread"),
        ((FOLDER / "late_mask.cu", "--family", "future-nan", "--row", 63), "row 63 is fed NaN"),
        ((FOLDER / "late_mask.cu", "--array", "rows"), "late_mask.cu:29: attend has no shared array 'rows'"),
        ((WRONG / "22-kv-head-modulo.cu",), "has no shared array; scores in registers"),
        ((WRONG / "86-block-of-1056-threads.cu",), "no block writes row 40, head 0 of attnOut"),
        ((WRONG / "93-host-table-in-kernel.cu",), "93-host-table-in-kernel.cu:18: "),
        ((WRONG / "91-stride-of-zero.cu",), "most likely never ends"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(words: tuple[object, ...], says: str) -> None:
    assert says in refused("scores", *words)


def test_the_row_of_a_softmax() -> None:
    found = shown("scores", kernels.path("block-softmax/01_tree.cu"), "--row", 3)
    assert (found["form"], found["head"], found["different"]) == ("value", None, 0)
    assert len(found["keys"]) == found["length"]


def test_a_long_row_of_a_maximum_that_climbs() -> None:
    found = shown("scores", ours("03_online.cu"), "--row", 120, "--length", 128, "--family", "spread")
    assert (found["array"], found["different"]) == ("p_smem", 0)


def test_a_step_without_scores(tmp_path: Path) -> None:
    assert "block-sum has no scores" in refused("scores", kernels.path("block-sum/02_tree.cu"))
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    assert "no seam is defined here" in refused("plan", tmp_path / "a.cu")


# --- errors -------------------------------------------------------------------------------------------------


def test_errors_where_they_are(tmp_path: Path) -> None:
    file = FOLDER / "late_mask.cu"
    found = shown("errors", file, "--length", 33, "--family", "normal")
    (tensor,) = found["tensors"]
    assert tensor["tensor"] == "attention_output"
    assert tensor["wrong_rows"] == list(range(32))  # the last row has no key too many
    assert found["first_wrong"] == {"tensor": "attention_output", "row": 0, "head": 0, "dim": 0}
    picture = tmp_path / "errors.png"
    result = show("errors", file, "--length", 33, "--family", "normal", "--png", picture)
    assert "X" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "cannot be written" in refused("errors", file, "--length", 1, "--png", tmp_path / "no" / "x.png")


def test_errors_look_for_the_first_case_that_is_wrong() -> None:
    found = shown("errors", FOLDER / "late_mask.cu")
    assert (found["length"], found["first_wrong"]["row"]) == (2, 0)
    found = shown("errors", ours("03_online.cu"), "--length", 2)
    assert found["first_wrong"] is None
    assert found["tensors"][0]["wrong_values"] == 0


def test_errors_of_a_step_without_heads() -> None:
    found = shown("errors", kernels.path("block-softmax/01_tree.cu"), "--length", 33)
    assert (found["step"], found["first_wrong"]) == ("block-softmax", None)
    assert found["tensors"][0]["width"] == 33


# --- plan and timeline --------------------------------------------------------------------------------------


def test_the_plan_of_two_launches() -> None:
    found = shown("plan", FOLDER / "shapes.cu", "--length", 64)
    assert found["launches"] == [
        {
            "kernel": "first",
            "line": 22,
            "grid": [64, 1, 1],
            "block": [16, 2, 1],
            "static_shared": 4 * 33 * 4,
            "dynamic_shared": 0,
        },
        {
            "kernel": "second",
            "line": 23,
            "grid": [256, 1, 1],
            "block": [128, 1, 1],
            "static_shared": 0,
            "dynamic_shared": 512,
        },
    ]
    assert (found["memsets"], found["scratch_bytes"]) == (1, [256])


def test_serial_rows_and_cooperative_ones() -> None:
    found = shown("timeline", ours("01_serial.cu"), ours("02_cooperative.cu"))
    serial, cooperative = (lane["launches"][0] for lane in found["lanes"])
    assert found["length"] == 2048
    assert (serial["active"], cooperative["active"]) == (1, 256)
    assert serial["depth"] == serial["accesses"]  # one thread makes them all
    assert 64 < serial["depth"] / cooperative["depth"] < 256
    # K and V of every visible key, and what the kernel reads of q: counted exactly, see docs/judging.md.
    keys = 2048 * 2049 // 2 * 8 * DH * 4
    assert abs(cooperative["read"] / (2 * keys + 2048 * 8 * DH * 4) - 1) < 0.01


def test_a_sample_of_blocks_stands_for_all() -> None:
    session = open_session(ours("02_cooperative.cu"), None, 1, CpuTarget())
    case = session.case(64, "normal")
    (whole,) = bars("causal-attention", session.watched(case))
    (sample,) = bars("causal-attention", session.watched(case, sample=32))
    assert (whole.counted, sample.blocks) == (whole.blocks, whole.blocks)
    assert sample.counted < whole.counted / 8
    assert abs(sample.depth / whole.depth - 1) < 0.05
    assert abs(sample.read / whole.read - 1) < 0.05


def test_the_block_by_our_own_kernels() -> None:
    found = shown("timeline", "--length", 33)
    steps = [[launch["step"] for launch in lane["launches"]] for lane in found["lanes"]]
    assert len(steps) == 3
    for one in steps:
        assert one == ["rmsnorm", "qkv-projection", "rope", "causal-attention", "swiglu"]
    assert len({json.dumps(lane["launches"][0]) for lane in found["lanes"]}) == 1


# --- the docs -----------------------------------------------------------------------------------------------


def pictures() -> list[tuple[str, str]]:
    """(command, output) of every example of docs/show.md."""
    page = (ROOT / "docs" / "show.md").read_text(encoding="utf-8")
    return re.findall(r"^```console\n\$ tilestep show (.*?)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("command", "output"), pictures(), ids=lambda text: text[:20])
def test_the_docs_show_what_is_shown(command: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Word by word. Numbers may differ by a hundredth, since compilers contract multiplications differently;
    what is counted may differ by half, since they keep different values in registers.
    """
    close = 0.5 if command.startswith("timeline") else 0.01
    monkeypatch.chdir(ROOT)
    result = show(*command.split())
    assert result.exit_code == 0
    told, drawn = output.split(), result.stdout.split()
    assert len(told) == len(drawn)
    for one, other in zip(told, drawn, strict=True):
        if re.fullmatch(r"-?[\d.]+(e-?\d+)?", one):
            assert float(other) == pytest.approx(float(one), rel=close)
        else:
            assert one == other


def test_every_command_is_in_the_docs() -> None:
    assert {command.split()[0] for command, _ in pictures()} == {"scores", "errors", "plan", "timeline"}


# --- watching -----------------------------------------------------------------------------------------------


def test_only_blocks_that_write_the_watched_piece_are_kept() -> None:
    session = open_session(FOLDER / "shapes.cu", None, 1, CpuTarget())
    run = session.watched(session.case(64, "normal"), Piece("attnOut", 128, 384))
    assert [(block.kernel, block.block) for block in run.watched] == [
        ("second", (1, 0, 0)),
        ("second", (2, 0, 0)),
    ]
    (array,) = run.watched[0].arrays
    assert (array.name, array.end - array.begin) == ("dynamic shared memory", 512)
    assert not run.watch_cut


def test_a_watched_run_changes_nothing() -> None:
    session = open_session(ours("03_online.cu"), None, 1, CpuTarget())
    case = session.case(33, "normal")
    watched = session.watched(case, Piece("attnOut", 0, 64)).outputs["attnOut"]
    assert np.allclose(watched, session.values(case).outputs["attnOut"], atol=1e-6)


def test_a_run_that_breaks_says_where() -> None:
    session = open_session(WRONG / "93-host-table-in-kernel.cu", None, 1, CpuTarget())
    with pytest.raises(CannotLook, match=r"93-host-table-in-kernel\.cu:18: "):
        session.watched(session.case(33, "normal"))
