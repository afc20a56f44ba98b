"""A CUDA driver without a card, built from C++ here: the GPU's worker runs on it in a test.

`FakeCard` switches it on for the processes that are started while a test runs.
"""

from fake_driver.building import SUBMISSIONS, image, missing
from fake_driver.card import FakeCard
from fake_driver.compiler import StandIns

__all__ = ["SUBMISSIONS", "FakeCard", "StandIns", "image", "missing"]
