"""Every named mistake is caught by some case, found again from its values alone, and told from all others."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from tilestep import mistakes, reference, tolerance
from tilestep.contract import DH, STEP
from tilestep.mistakes import Hypothesis, Match, Mistake, Observation
from tilestep.mistakes.arithmetic import Packed
from tilestep.mistakes.attention import MISTAKE, MISTAKES
from tilestep.subjects.attention import cases

STEP_NAME = "online-attention"
SEED = 1234
LENGTHS = (2, 33, 97)
FORMULAS = [mistake for mistake in MISTAKES if mistake.hypotheses]


class Fed:
    """One case with its right output and bounds."""

    def __init__(self, length: int, family: str, seed: int = SEED) -> None:
        self.case = cases.make(STEP_NAME, length, family, seed)
        self.want = reference.attention(self.case.qkv)
        self.bound = tolerance.attention(self.case.qkv, self.want)

    def seen(self, got: np.ndarray) -> Observation:
        part = ("attention_output", got, self.want, self.bound)
        return Observation(Packed(self.case.qkv), [part], self.case.judged_rows, self.case.length, DH)

    def output(self, hypothesis: Hypothesis, noise: float = 0.0) -> np.ndarray:
        """The hypothesis as an fp32 kernel would return it: stored as float, its input off by a rounding."""
        packed = Packed(self.case.qkv)
        if noise:
            packed = packed.perturbed(noise)
        with np.errstate(over="ignore", invalid="ignore"):
            output = np.asarray(hypothesis.output(packed)).astype(np.float32)
        return np.broadcast_to(output, self.want.shape)  # a single value stands for all


def match_many(observations: list[Observation]) -> list[Match]:
    return mistakes.match_many(observations, MISTAKES)


@pytest.fixture(scope="module")
def fed() -> list[Fed]:
    return [Fed(length, family) for length, family in cases.plan(STEP_NAME, LENGTHS)]


@pytest.mark.parametrize("mistake", FORMULAS, ids=lambda m: m.code)
def test_a_mistake_is_found_again_from_its_values(mistake: Mistake, fed: list[Fed]) -> None:
    observations = [f.seen(f.output(mistake.hypotheses[0], noise=2.0**-23)) for f in fed]
    assert any(o.failed for o in observations), "no case catches it"
    found = match_many(observations)
    assert [m.mistake.code for m in found][:1] == [mistake.code]


def test_every_hypothesis_fails_some_case() -> None:
    """A hypothesis that no case of the step can catch would be a name for nothing."""
    fed = [Fed(length, family) for length, family in cases.plan(STEP_NAME, (128, 33, 2))]
    for mistake in FORMULAS:
        for hypothesis in mistake.hypotheses:
            caught = any(f.seen(f.output(hypothesis)).failed for f in fed)
            assert caught, (mistake.code, hypothesis.label)


def test_no_two_mistakes_share_their_values(fed: list[Fed]) -> None:
    """For every pair of mistakes some case gives different outputs, whatever the tile sizes and constants."""
    outputs = {
        mistake.code: [[f.output(h)[f.case.judged_rows] for f in fed] for h in mistake.hypotheses]
        for mistake in FORMULAS
    }
    codes = list(outputs)
    for n, a in enumerate(codes):
        for b in codes[n + 1 :]:
            for one in outputs[a]:
                for other in outputs[b]:
                    same = all(
                        np.array_equal(np.isfinite(x), np.isfinite(y))
                        and np.allclose(np.nan_to_num(x), np.nan_to_num(y), rtol=1e-5, atol=1e-5)
                        for x, y in zip(one, other, strict=True)
                    )
                    assert not same, (a, b)


def test_a_right_output_matches_nothing(fed: list[Fed]) -> None:
    right = [f.seen(f.want.astype(np.float32)) for f in fed]
    assert not any(o.failed for o in right)
    assert match_many(right) == []
    one = fed[5]
    assert match_many([one.seen(one.want)]) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_missing_alpha_fails_at_33_by_far(seed: int) -> None:
    """Row 32 is the only one that sees two tiles of 32, and it must be enough: on l and on acc."""
    f = Fed(33, "spread", seed)
    for code in ("alpha-missing-on-l", "alpha-missing-on-acc", "alpha-missing"):
        (hypothesis,) = (h for h in MISTAKE[code].hypotheses if h.label == "tile 32")
        wrong = f.seen(f.output(hypothesis))
        assert wrong.ratio > 100.0
        assert set(np.flatnonzero(wrong.wrong.any(axis=1))) == {32}


def test_unknown_garbage_is_not_named(fed: list[Fed]) -> None:
    rng = np.random.default_rng(0)
    assert match_many([f.seen(rng.standard_normal(f.want.shape)) for f in fed]) == []


def test_nan_everywhere_is_not_named(fed: list[Fed]) -> None:
    """Any early NaN looks like that; a formula that happens to give it too would be a guess."""
    nan = np.float32(np.nan)
    assert match_many([f.seen(np.full(f.want.shape, nan, dtype=np.float32)) for f in fed]) == []


def test_unwritten_elements_are_known_by_the_fill_pattern(fed: list[Fed]) -> None:
    observations = []
    for f in fed:
        got = f.want.astype(np.float32)
        got.view(np.uint32)[:, 4 * DH :] = 0xFFFFFFFF
        observations.append(f.seen(got))
    assert [m.mistake.code for m in match_many(observations)] == ["output-not-written"]


@pytest.mark.parametrize("kind", [np.float16, "bf16"])
def test_low_precision_is_named_when_no_formula_fits(kind: object, fed: list[Fed]) -> None:
    observations = []
    for f in fed:
        rounded = f.case.qkv.copy()
        if kind == "bf16":
            rounded.view(np.uint32)[...] &= np.uint32(0xFFFF0000)
        else:
            rounded = rounded.astype(np.float16).astype(np.float32)
        observations.append(f.seen(reference.attention(rounded).astype(np.float32)))
    assert [m.mistake.code for m in match_many(observations)] == ["low-precision"]


def test_two_mistakes_that_coincide_are_told_apart_by_another_case() -> None:
    """With 33 tokens all keys stand in one tile of 64; with 97 they do not."""
    leak = MISTAKE["causal-leak"].hypotheses[0]
    short, long = Fed(33, "normal"), Fed(97, "normal")
    alone = {m.mistake.code for m in match_many([short.seen(short.output(leak))])}
    assert {"causal-leak", "causal-per-tile"} <= alone
    both = match_many([f.seen(f.output(leak)) for f in (short, long)])
    assert [m.mistake.code for m in both] == ["causal-leak"]


def test_a_case_that_passed_rules_a_mistake_out() -> None:
    """No maximum at all fails the negative logits too, but it would have failed the planted ones."""
    zero = MISTAKE["max-starts-at-zero"].hypotheses[0]
    fed = [Fed(41, family) for family in ("normal", "planted", "negative")]
    observations = [f.seen(f.output(zero)) for f in fed]
    assert [o.failed for o in observations] == [False, False, True]
    assert match_many(observations)[0].mistake.code == "max-starts-at-zero"


def test_the_catalogue_is_well_formed() -> None:
    codes = [mistake.code for mistake in MISTAKES]
    assert len(set(codes)) == len(codes) >= 40
    reduction_path = {"block-max", "stable-softmax", "block-softmax", "online-softmax"}
    for mistake in MISTAKES:
        assert mistake.lesson in set(STEP) | reduction_path
        assert mistake.says.endswith(".")
        assert len({h.label for h in mistake.hypotheses}) == len(mistake.hypotheses)
        page = files("tilestep").joinpath("explain", f"{mistake.code}.md").read_text(encoding="utf-8")
        assert page.startswith("# ")
        parts = ("Symptom", "Cause", "Smallest input", "Lesson")
        assert all(f"**{part}.**" in page for part in parts), mistake.code
