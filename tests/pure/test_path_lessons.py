"""The numbers in the attention lessons come from the contract, or follow from it here."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from tilestep import contract
from tilestep.contract import STEP
from tilestep.path import catalogue
from tilestep.subjects import subject

CAPSTONE = STEP["online-attention"]
THREADS = 256  # of a block of the starters: held to their text below
GROUP = contract.HQ // contract.HKV


def cut_of_a_tile() -> float:
    """K/V rows of the baseline over those of a kernel with QUERY_TILE rows a block, at the profile length."""
    length, tile = contract.PROFILE_LENGTH, contract.QUERY_TILE
    tiles = length // tile
    return (length * (length + 1) / 2) / (tiles * (tiles + 1) / 2 * tile)


FACTS = {
    "causal-attention": {
        "T rows of 768 values": contract.QKV_OUT == 768,
        "0 to 511, K in 512 to 639, V in 640 to 767": [
            bound for region in contract.PACKED_REGIONS for bound in (region.begin, region.end - 1)
        ]
        == [0, 511, 512, 639, 640, 767],
        "Head h owns 64 columns": contract.DH == 64,
        "eight query heads share two KV heads": (contract.HQ, contract.HKV) == (8, 2),
        "head h reads KV head h / 4": GROUP == 4,
        "dot(q, k) / 8": math.isqrt(contract.DH) == 8,
        "one block of 256 threads": THREADS == 256,
        "`blockIdx.x` is i * 8 + h": contract.HQ == 8,
        "T is at most 2048": contract.PROFILE_LENGTH == 2048,
        "255 threads have returned": THREADS - 1 == 255,
        "Tokens 0 and 40": contract.PLANTED_TOKENS == (0, 40),
        "exactly 128": contract.DH * contract.PLANTED_VALUE**2 / math.sqrt(contract.DH) == 128.0,
        "past about 88": math.floor(math.log(np.finfo(np.float32).max)) == 88,
        "at T = 1 already": 1 in subject("causal-attention").lengths,
    },
    "online-attention": {
        "Keep 32 query rows": contract.QUERY_TILE == 32,
        "64 sums `acc`": contract.DH == 64,
        "T rows of 768 values in, `attnOut` of T rows of 512 out": (contract.QKV_OUT, contract.D)
        == (768, 512),
        "1.8 times the speed": CAPSTONE.speed_gate == 1.8,
        "at T = 2048: at most 1/16 of the baseline's": (contract.PROFILE_LENGTH, CAPSTONE.traffic_gate)
        == (2048, 16.0),
        "reaches 31.5x": round(cut_of_a_tile(), 1) == 31.5,
        "At T = 33 the rows past 32": 33 in subject("online-attention").lengths,
        "T = 33, 41, 65 and 97": {33, 41, 65, 97} <= set(subject("online-attention").lengths),
        "no workspace": CAPSTONE.scratch_bytes_per_token == 0,
        "right at T = 32 and wrong at 33": {32, 33} <= set(subject("online-attention").lengths),
        "the family `spread`": "spread" in subject("online-attention").family_names,
        "a NaN in `future-nan`": "future-nan" in subject("online-attention").family_names,
    },
}


@pytest.mark.parametrize("step", FACTS)
def test_what_a_lesson_states_is_so(step: str) -> None:
    lesson = " ".join(catalogue.stage(step).lesson_text().split())
    assert [fact for fact in FACTS[step] if fact not in lesson] == []
    assert [fact for fact, holds in FACTS[step].items() if not holds] == []


@pytest.mark.parametrize("step", FACTS)
def test_every_number_of_a_lesson_is_in_a_fact(step: str) -> None:
    """Outside of pictures and commands, and beyond the numbers that a sentence counts with."""
    lesson = re.sub(r"```.*?```", "", catalogue.stage(step).lesson_text(), flags=re.DOTALL)
    stated = set(re.findall(r"\d+(?:\.\d+)?", " ".join(FACTS[step])))
    found = set(re.findall(r"\d+(?:\.\d+)?", lesson))
    assert found - stated - {"0", "1", "2", "1.0"} == set()


@pytest.mark.parametrize("step", FACTS)
def test_the_starters_have_blocks_of_that_many_threads(step: str) -> None:
    assert f"constexpr int THREADS = {THREADS};" in catalogue.stage(step).starter_text()
