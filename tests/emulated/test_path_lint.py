"""The lessons hold what they promise: starters fail as declared, solutions pass with a margin.

That each mistake of a step has a wrong kernel which is caught and named is held in test_wrong_kernels.
"""

from __future__ import annotations

import functools

import pytest

from tilestep import kernels
from tilestep.contract import STEP, STEPS
from tilestep.judge import Verdict, judge
from tilestep.path import catalogue
from tilestep.path.attempt import same_code
from tilestep.path.catalogue import Stage
from tilestep.path.workspace import SOLUTION
from tilestep.subjects import registered, subject

STAGES = catalogue.stages()
SEED = 8
MARGIN = 4.0  # an honest kernel's error stays below a quarter of the tolerance
GATE_MARGIN = 1.5
SCREEN = 40  # lines of 80 columns
FEWEST_HINTS = 3

stages = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.step)
solutions = pytest.mark.parametrize(
    ("stage", "solution"),
    [(stage, solution) for stage in STAGES for solution in stage.solutions],
    ids=lambda value: value if isinstance(value, str) else value.step,
)


def gated(stage: Stage) -> bool:
    """Only a gate needs the profile length here: every fault shows at a small length too."""
    return STEP[stage.step].traffic_gate is not None


@functools.cache
def starter(stage: Stage) -> Verdict:
    """The verdict of the untouched starter, as after the first save."""
    return judge(stage.starter_file(), stage.step, seed=SEED, lengths=stage.quick, profile=gated(stage))


# --- the catalogue ------------------------------------------------------------------------------------------


def test_stages_stand_in_the_order_of_the_contract() -> None:
    assert [stage.step for stage in STAGES] == [step.name for step in STEPS] == list(registered())
    for stage in STAGES:
        assert stage.lesson == f"{stage.number:02d}-{stage.step}"
        assert stage.path == catalogue.titles()[STEP[stage.step].path]


@stages
def test_its_files_are_there(stage: Stage) -> None:
    assert stage.file.endswith(".cu")
    assert stage.file != SOLUTION
    assert stage.solutions
    folder = STEP[stage.step].kernels
    assert all(name.startswith(f"{folder}/") and kernels.path(name).is_file() for name in stage.solutions)
    assert stage.because.endswith(".")


@stages
def test_the_quick_lengths_are_lengths_of_the_step(stage: Stage) -> None:
    assert 1 <= len(stage.quick) <= 3
    assert set(stage.quick) <= set(subject(stage.step).lengths)


# --- the starter --------------------------------------------------------------------------------------------


@stages
def test_the_starter_says_what_to_do(stage: Stage) -> None:
    assert "// TODO" in stage.starter_text()
    assert not any(same_code(kernels.path(name), stage.starter_text()) for name in stage.solutions)


@stages
def test_the_starter_fails_as_declared(stage: Stage) -> None:
    verdict = starter(stage)
    assert verdict.outcome == stage.starter, verdict.says
    named = [mistake.code for mistake in verdict.mistakes] + [finding.code for finding in verdict.findings]
    assert named[:1] == ([stage.fault] if stage.fault else []), named


def test_the_attention_starters_are_our_kernels() -> None:
    """What the lessons and the README say of these two kernels holds for the starters."""
    serial, cooperative = (catalogue.stage(step) for step in ("causal-attention", "online-attention"))
    assert same_code(kernels.path("attention/01_serial.cu"), serial.starter_text())
    assert same_code(kernels.path("attention/02_cooperative.cu"), cooperative.starter_text())
    traffic = starter(cooperative).traffic
    assert traffic is not None
    assert traffic.cut == 1.0


# --- the solution -------------------------------------------------------------------------------------------


@solutions
def test_the_solution_passes_with_a_margin(stage: Stage, solution: str) -> None:
    lengths = stage.quick if STEP[stage.step].kernels == "attention" else None
    verdict = judge(kernels.path(solution), stage.step, seed=SEED, lengths=lengths, profile=gated(stage))
    assert verdict.outcome == "passed", verdict.says
    assert all(case.ratio <= 1 / MARGIN for case in verdict.cases)
    gate = STEP[stage.step].traffic_gate
    if gate is not None:
        assert verdict.traffic is not None
        assert verdict.traffic.cut >= GATE_MARGIN * gate


# --- the lesson and the hints -------------------------------------------------------------------------------


@stages
def test_the_lesson_is_one_to_three_screens(stage: Stage) -> None:
    lines = stage.lesson_text().splitlines()
    assert lines[0].startswith("# ")
    assert SCREEN // 2 < len(lines) <= 3 * SCREEN
    assert [line for line in lines if len(line) > 80] == []


@stages
def test_there_are_hints_from_a_nudge_to_nearly_the_answer(stage: Stage) -> None:
    hints = stage.hints()
    assert len(hints) >= FEWEST_HINTS
    assert len(set(hints)) == len(hints)
    assert all(len(hint) > 20 for hint in hints)
