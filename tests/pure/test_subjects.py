"""What a step owes the judge: cases that repeat and can fail, answers that fit its seam, mistakes told apart.

Attention's mistakes have tests of their own (test_mistakes.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import numpy as np
import pytest

from tilestep import mistakes
from tilestep.contract import STEP, STEPS
from tilestep.mistakes import Hypothesis, Mistake, Observation
from tilestep.subjects import Answer, Case, Subject, registered, subject, void

SEED = 77
BEFORE_ATTENTION = [step for step in registered() if STEP[step].kernels != "attention"]
NAMED = [
    pytest.param(step, mistake, id=f"{step}-{mistake.code}")
    for step in BEFORE_ATTENTION
    for mistake in subject(step).mistakes
    if mistake.hypotheses
]


class Fed:
    """One case with its right answers."""

    def __init__(self, step: str, length: int, family: str) -> None:
        asked = subject(step)
        self.group = asked.group
        self.case = asked.make(length, family, SEED)
        self.answers = asked.answers(self.case)[: len(STEP[step].seam.outputs)]
        self.given = asked.given(self.case)
        self.slightly_off = self.given.perturbed(2.0**-23)
        self.right = self.seen([answer.want for answer in self.answers])

    def seen(self, got: list[np.ndarray]) -> Observation:
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [
                (a.tensor, values.astype(np.float32), a.want, a.tolerance)
                for a, values in zip(self.answers, got, strict=True)
            ]
        return Observation(self.given, parts, self.case.judged_rows, self.case.length, self.group)

    def made(self, hypothesis: Hypothesis) -> Observation:
        """The hypothesis as an fp32 kernel would return it: stored as float, its input off by a rounding."""
        self.right.given, given = self.slightly_off, self.right.given
        try:
            whole = self.right.output(hypothesis)
        finally:
            self.right.given = given
        widths = np.cumsum([answer.want.shape[1] for answer in self.answers])[:-1]
        return self.seen(np.split(whole, widths, axis=1))


@cache
def fed(step: str) -> tuple[Fed, ...]:
    """Every case of a step's own lengths."""
    asked = subject(step)
    return tuple(Fed(step, length, family) for length in asked.lengths for family in asked.families(length))


@cache
def observations(step: str, mistake: str, label: str) -> tuple[Observation, ...]:
    known = {m.code: m for m in subject(step).mistakes}[mistake]
    (hypothesis,) = (h for h in known.hypotheses if h.label == label)
    return tuple(f.made(hypothesis) for f in fed(step))


def every_case(asked: Subject, seed: int = SEED) -> Iterator[Case]:
    for length in asked.lengths:
        for family in asked.families(length):
            yield asked.make(length, family, seed)


def test_every_step_of_both_paths_has_a_subject() -> None:
    assert registered() == tuple(step.name for step in STEPS)


@pytest.mark.parametrize("step", registered())
def test_inputs_and_answers_fit_the_seam(step: str) -> None:
    asked, seam = subject(step), STEP[step].seam
    for case in every_case(asked):
        assert set(case.sizes) == {parameter.name for parameter in seam.sizes}
        for parameter in seam.pointers:
            if parameter.role != "out":
                array = case.inputs[parameter.fed]
                assert (array.ndim, array.dtype) == (2, np.float32)
                assert array.flags.c_contiguous
        answers = asked.answers(case)
        assert [a.tensor for a in answers][: len(seam.outputs)] == [p.tensor for p in seam.outputs]
        for answer in answers:
            judge_answer(answer, case)


def judge_answer(answer: Answer, case: Case) -> None:
    rows = case.judged_rows
    assert answer.want.shape == answer.tolerance.shape == (len(rows), answer.want.shape[1])
    assert answer.want.dtype == answer.tolerance.dtype == np.float64
    assert rows.any(), "nothing is judged"
    assert not np.isnan(answer.want[rows]).any(), "NaN can't be passed"
    assert np.all(answer.tolerance[rows] >= 0.0)


@pytest.mark.parametrize("step", registered())
def test_lengths_and_families_are_in_judging_order(step: str) -> None:
    asked = subject(step)
    assert list(asked.lengths) == sorted(set(asked.lengths))
    assert set(asked.checked_lengths) <= set(asked.lengths)
    assert asked.longest >= max(asked.lengths)
    for length in asked.lengths:
        order = [asked.family_names.index(family) for family in asked.families(length)]
        assert order == sorted(order)
        assert order


@pytest.mark.parametrize("step", registered())
def test_a_seed_repeats_and_another_does_not(step: str) -> None:
    asked = subject(step)
    length, family = asked.lengths[-1], asked.family_names[0]
    one, again, other = (asked.make(length, family, seed) for seed in (5, 5, 6))
    for name, array in one.inputs.items():
        np.testing.assert_array_equal(array, again.inputs[name])
    assert any(not np.array_equal(array, other.inputs[name]) for name, array in one.inputs.items())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("step", BEFORE_ATTENTION)
def test_no_case_is_void(step: str, seed: int) -> None:
    asked = subject(step)
    for case in every_case(asked, seed):
        answers = asked.answers(case)
        impostors = asked.impostors(case, answers)
        assert len(impostors) >= 2
        assert void(case, answers, impostors) == [], (case.length, case.family)


@pytest.mark.parametrize("step", BEFORE_ATTENTION)
def test_a_tolerance_that_hides_everything_makes_a_case_void(step: str) -> None:
    asked = subject(step)
    case = asked.make(max(asked.lengths), asked.family_names[0], SEED)
    answers = asked.answers(case)
    loose = tuple(Answer(a.tensor, a.want, np.full_like(a.want, np.inf)) for a in answers)
    assert void(case, loose, asked.impostors(case, answers)) != []


# --- mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", BEFORE_ATTENTION)
def test_a_right_output_matches_nothing(step: str) -> None:
    right = [f.right for f in fed(step)]
    assert not any(o.failed for o in right)
    assert max(o.ratio for o in right) <= 0.25
    assert mistakes.match_many(right, subject(step).mistakes) == []


@pytest.mark.parametrize(("step", "mistake"), NAMED)
def test_a_mistake_is_found_again_from_its_values(step: str, mistake: Mistake) -> None:
    seen = observations(step, mistake.code, mistake.hypotheses[0].label)
    assert any(o.failed for o in seen), "no case catches it"
    found = mistakes.match_many(seen, subject(step).mistakes)
    assert [m.mistake.code for m in found][:1] == [mistake.code]


@pytest.mark.parametrize(("step", "mistake"), NAMED)
def test_every_hypothesis_fails_some_case(step: str, mistake: Mistake) -> None:
    for hypothesis in mistake.hypotheses:
        assert any(o.failed for o in observations(step, mistake.code, hypothesis.label)), hypothesis.label


@pytest.mark.parametrize("step", BEFORE_ATTENTION)
def test_no_two_mistakes_share_their_values(step: str) -> None:
    """For every pair of mistakes some case gives different outputs, whatever the constants."""
    named = [(m.code, h.label) for m in subject(step).mistakes for h in m.hypotheses]
    for n, (a, a_label) in enumerate(named):
        for b, b_label in named[n + 1 :]:
            if a != b:
                pairs = zip(observations(step, a, a_label), observations(step, b, b_label), strict=True)
                assert any(differ(x, y) for x, y in pairs), (a, a_label, b, b_label)


def differ(one: Observation, other: Observation) -> bool:
    """Whether two outputs differ somewhere by more than is forgiven there."""
    x, y = one.got[one.rows], other.got[one.rows]
    with np.errstate(invalid="ignore"):
        same = (np.abs(x - y) <= one.bound[one.rows]) | (x == y) | (np.isnan(x) & np.isnan(y))
    return not bool(same.all())


@pytest.mark.parametrize("step", BEFORE_ATTENTION)
def test_unknown_garbage_is_not_named(step: str) -> None:
    rng = np.random.default_rng(1)
    seen = [f.seen([rng.standard_normal(a.want.shape) for a in f.answers]) for f in fed(step)]
    assert mistakes.match_many(seen, subject(step).mistakes) == []


def test_the_catalogue_is_well_formed() -> None:
    every = [(step, mistake) for step in registered() for mistake in subject(step).mistakes]
    assert len({mistake.code for _, mistake in every}) >= 60
    for step in registered():
        codes = [mistake.code for mistake in subject(step).mistakes]
        assert len(set(codes)) == len(codes), step
    for step, mistake in every:
        assert mistake.lesson in STEP, (step, mistake.code)
        assert mistake.says.endswith("."), (step, mistake.code)
        assert bool(mistake.hypotheses) != bool(mistake.pattern), (step, mistake.code)
        assert len({h.label for h in mistake.hypotheses}) == len(mistake.hypotheses), (step, mistake.code)
        page = files("tilestep").joinpath("explain", f"{mistake.code}.md")
        assert page.is_file(), (step, mistake.code)
        text = page.read_text(encoding="utf-8")
        assert text.startswith("# "), mistake.code
        parts = ("Symptom", "Cause", "Smallest input", "Lesson")
        assert all(f"**{part}.**" in text for part in parts), mistake.code
