"""benchmarks/gpu.py without a GPU: what it says of verdicts that are not what they must be."""

from __future__ import annotations

import importlib.util
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CARD = SimpleNamespace(name="NVIDIA H200", driver="580.1", compiler="nvcc 13.0")


class Target:
    card = CARD

    def available(self) -> None: ...
    def build(self, program: object) -> None: ...


def verdict(outcome: str) -> dict[str, Any]:
    return {"outcome": outcome, "seed": 5, "says": "It says why.", "speed": None, "seconds": 1.0}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmarks_gpu", ROOT / "benchmarks/gpu.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "GpuTarget", Target)
    monkeypatch.setattr(module, "ProcessPoolExecutor", lambda count, context: ThreadPoolExecutor(count))
    return module


def run(script: ModuleType, monkeypatch: pytest.MonkeyPatch, out: Path, **outcomes: str) -> None:
    outcome = {path: outcomes.get(name, must) for name, (path, must) in script.FILES.items()}
    monkeypatch.setattr(script, "one_verdict", lambda path, target=None: verdict(outcome[path]))
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--repeats", "2", "--out", str(out)])
    script.main()


def test_what_is_as_it_must_be_is_written_into_a_new_folder(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "new/results"
    run(script, monkeypatch, out)
    (file,) = out.iterdir()
    figures = json.loads(file.read_text())["figures"]
    seen = {name: (one["same"], one["times"]) for name, one in figures.items()}
    assert seen == {"solution": (2, 2), "wrong": (2, 2), "starter": (1, 1)}  # every second round


@pytest.mark.parametrize(
    ("name", "outcome"), [("starter", "passed"), ("solution", "slow"), ("wrong", "passed")]
)
def test_another_outcome_is_said_and_the_exit_status_is_1(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, outcome: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(script, monkeypatch, tmp_path, **{name: outcome})
    must = script.FILES[name][1]
    line = f"{name} must be {must}, and was {outcome} with seed 5: It says why."
    times = 1 if name == "starter" else 2
    assert ended.value.code == "\n".join([line] * times)  # Python prints a sentence, and exits with 1
    assert list(tmp_path.iterdir())
