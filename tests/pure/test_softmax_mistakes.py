"""Every named mistake of the softmax steps is caught by some case, found again, and told from all others."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tilestep.mistakes import Hypothesis, Mistake, Observation, match_many
from tilestep.subjects import Answer, Case, Subject, subject

STEPS = ("stable-softmax", "block-softmax", "online-softmax")
SEED = 1234
LENGTHS = (2, 33, 300)
FORMULAS = [
    (step, mistake)
    for step in STEPS
    for mistake in subject(step).mistakes
    if mistake.hypotheses and mistake.code != "output-zero"
]


@functools.cache
def fed(step: str, lengths: tuple[int, ...] = LENGTHS) -> tuple[tuple[Case, tuple[Answer, ...]], ...]:
    """The cases of a step with their right answers."""
    softmax = subject(step)
    cases = [softmax.make(n, family, SEED) for n in lengths for family in softmax.families(n)]
    return tuple((case, softmax.answers(case)) for case in cases)


def output(hypothesis: Hypothesis, case: Case, noise: float = 0.0) -> np.ndarray:
    """The hypothesis as an fp32 kernel would return it: stored as float, its input off by a rounding."""
    with np.errstate(all="ignore"):
        return np.asarray(hypothesis.output(case.perturbed(noise) if noise else case)).astype(np.float32)


def seen(softmax: Subject, case: Case, answers: tuple[Answer, ...], got: np.ndarray) -> Observation:
    parts = [(answer.tensor, got, answer.want, answer.tolerance) for answer in answers]
    return Observation(softmax.given(case), parts, case.judged_rows, case.length, softmax.group)


def named(step: str, outputs: list[np.ndarray]) -> list[str]:
    softmax = subject(step)
    observations = [
        seen(softmax, case, answers, got) for (case, answers), got in zip(fed(step), outputs, strict=True)
    ]
    return [found.mistake.code for found in match_many(observations, softmax.mistakes)]


@pytest.mark.parametrize(("step", "mistake"), FORMULAS, ids=lambda value: getattr(value, "code", value))
def test_a_mistake_is_found_again_from_its_values(step: str, mistake: Mistake) -> None:
    for hypothesis in {mistake.hypotheses[0], mistake.hypotheses[len(mistake.hypotheses) // 2]}:
        outputs = [output(hypothesis, case, noise=2.0**-24) for case, _ in fed(step)]
        assert named(step, outputs)[:1] == [mistake.code], hypothesis.label


@pytest.mark.parametrize("step", STEPS)
def test_every_hypothesis_fails_some_case(step: str) -> None:
    """A hypothesis that no case of the step can catch would be a name for nothing."""
    softmax = subject(step)
    cases = fed(step, (2, 33, 97, 1100))
    for mistake in softmax.mistakes:
        for hypothesis in mistake.hypotheses:
            caught = any(
                seen(softmax, case, answers, output(hypothesis, case)).failed for case, answers in cases
            )
            assert caught, (mistake.code, hypothesis.label)


@pytest.mark.parametrize("step", STEPS)
def test_no_two_mistakes_share_their_values(step: str) -> None:
    """For every pair of mistakes some case gives different outputs, whatever the size of the block."""
    cases = [case for case, _ in fed(step, (33, 1100, 2))]
    outputs = {
        mistake.code: [[output(h, case) for case in cases] for h in mistake.hypotheses]
        for mistake in subject(step).mistakes
        if mistake.hypotheses
    }
    codes = list(outputs)
    for n, a in enumerate(codes):
        for b in codes[n + 1 :]:
            for one in outputs[a]:
                for other in outputs[b]:
                    assert not all(map(_alike, one, other)), (a, b)


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to rounding, and not finite in the same places."""
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return False
    return bool(np.allclose(np.where(finite, a, 0.0), np.where(finite, b, 0.0), rtol=1e-5, atol=1e-7))


@pytest.mark.parametrize("step", STEPS)
def test_a_right_output_matches_nothing(step: str) -> None:
    assert named(step, [answers[0].want.astype(np.float32) for _, answers in fed(step)]) == []


@pytest.mark.parametrize("step", STEPS)
def test_unknown_garbage_is_not_named(step: str) -> None:
    rng = np.random.default_rng(0)
    assert named(step, [rng.random(answers[0].want.shape) for _, answers in fed(step)]) == []


@pytest.mark.parametrize("step", STEPS)
def test_nan_everywhere_is_not_named(step: str) -> None:
    outputs = [np.full(answers[0].want.shape, np.nan, dtype=np.float32) for _, answers in fed(step)]
    assert named(step, outputs) == []


@pytest.mark.parametrize("step", STEPS)
def test_low_precision_is_named_when_no_formula_fits(step: str) -> None:
    outputs = []
    for _, answers in fed(step):
        got = answers[0].want.astype(np.float32)
        got.view(np.uint32)[...] &= np.uint32(0xFFFF0000)
        outputs.append(got)
    assert named(step, outputs) == ["low-precision"]


def test_the_late_family_tells_the_places_of_a_missing_alpha_apart() -> None:
    """In the loop, in the merge, in both: three names for three lines of the same kernel."""
    codes = ("alpha-missing-on-l", "merge-without-rescale", "alpha-missing")
    by_code = {mistake.code: mistake for mistake in subject("online-softmax").mistakes}
    cases = [case for case, _ in fed("online-softmax") if (case.length, case.family) == (300, "late")]
    outputs = []
    for code in codes:
        (of_64,) = (h for h in by_code[code].hypotheses if h.label == "64 threads")
        outputs.append(output(of_64, cases[0]))
    assert not _alike(outputs[0], outputs[1])
    assert not _alike(outputs[1], outputs[2])
    assert not _alike(outputs[0], outputs[2])
