"""The verdict's types and its JSON."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any, get_args

import pytest

from tilestep.judge import verdict as v
from tilestep.judge.speed import Speed
from tilestep.program import Finding
from tilestep.report.json import dumps

COMMON: dict[str, Any] = {
    "submission": v.Submission("attention.cu", "ab" * 32),
    "step": "online-attention",
    "seed": 7,
    "target": v.TargetName("cpu", "emulator"),
    "says": "A sentence.",
}
FIRST = v.FirstWrong("attention_output", 33, "spread", 32, 1, 5, math.nan, 0.5, 64, 16896)


def test_only_passed_and_slow_can_hold_a_speed() -> None:
    with_speed = {
        kind.__name__ for kind in get_args(v.Verdict) if any(f.name == "speed" for f in fields(kind))
    }
    assert with_speed == {"Passed", "Slow"}


def test_wrong_needs_the_first_wrong_value() -> None:
    with pytest.raises(TypeError, match="first_wrong"):
        v.Wrong(**COMMON)
    assert v.Wrong(**COMMON, first_wrong=FIRST).first_wrong is FIRST


def test_every_outcome_has_the_exit_code_of_the_design() -> None:
    codes = {kind.outcome: kind.exit_code for kind in get_args(v.Verdict)}
    assert codes == {
        "passed": 0,
        "wrong": 1,
        "unsafe": 1,
        "slow": 1,
        "inconclusive": 1,
        "refused": 2,
        "broken": 2,
        "unavailable": 4,
    }


def test_json_has_the_keys_of_schema_1_whatever_the_outcome() -> None:
    keys = [
        *("schema", "submission", "step", "seed", "target", "outcome", "first_wrong", "mistakes", "findings"),
        *("cases", "traffic", "speed", "gate_judged", "evidence", "says"),
    ]
    for kind in get_args(v.Verdict):
        more = {"first_wrong": FIRST} if kind is v.Wrong else {}
        document = json.loads(dumps(kind(**COMMON, **more).to_json()))
        assert list(document) == keys
        assert document["schema"] == 1
        assert document["outcome"] == kind.outcome


def test_a_script_sees_whether_the_gate_was_judged() -> None:
    def told(kind: Any = v.Passed, **more: Any) -> Any:
        return kind(**{**COMMON, **more}).to_json()["gate_judged"]

    speed = Speed(2.0, 1.0, 2.0, 1.9, 2.1, 1.8, 40)
    assert told() is False, "passed at lengths that the gate does not stand at"
    assert told(v.Inconclusive) is False
    assert told(traffic=v.KvTraffic(2048, 100, 100, 6300, 16.0)) is True
    assert told(speed=speed) is told(v.Slow, speed=speed) is True
    assert told(step="causal-attention", traffic=v.KvTraffic(2048, 100, 100, 6300, None)) is None
    assert told(step="rmsnorm") is told(step="block") is None


def test_json_of_a_full_verdict() -> None:
    tensors = {"attention_output": v.TensorResult(math.nan, 1e-5, ok=False)}
    document = v.Wrong(
        **COMMON,
        first_wrong=FIRST,
        mistakes=(v.MistakeFound("scale-missing", "No scale", "It says.", "A lesson."),),
        findings=(Finding("race-shared", "says", "attention.cu", 41, block=(1, 0, 0)),),
        cases=(v.CaseResult(33, "spread", tensors),),
        traffic=v.KvTraffic(2048, 100, 100, 6300, 16.0),
    ).to_json()
    document = json.loads(dumps(document))
    assert document["first_wrong"] == {
        "tensor": "attention_output",
        "length": 33,
        "family": "spread",
        "row": 32,
        "head": 1,
        "dim": 5,
        "got": "nan",
        "want": 0.5,
        "wrong_values": 64,
    }
    assert document["mistakes"][0]["code"] == "scale-missing"
    assert document["findings"][0]["line"] == 41
    case = document["cases"][0]
    assert case["ok"] is False
    assert case["tensors"]["attention_output"] == {"max_error": "nan", "tolerance": 1e-5, "ok": False}
    assert document["traffic"]["cut"] == 31.5
    assert document["speed"] is None


def test_a_cut_below_the_gate_is_not_met() -> None:
    assert v.KvTraffic(2048, 10, 10, 320, 16.0).ok
    assert not v.KvTraffic(2048, 10, 10, 319, 16.0).ok
    assert v.KvTraffic(2048, 10, 10, 20, None).ok
