"""What the judge says of a submission: one type an outcome, and the JSON of schema 1.

Only `Passed` and `Slow` have a field for a speed, so no speed can be stated for a kernel that is not right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tilestep.contract import STEP
from tilestep.judge.speed import RaceRecord, Speed
from tilestep.program import Finding

SCHEMA = 1


@dataclass(frozen=True)
class Submission:
    """The judged file as the person named it, and the hash of its bytes ("" where it could not be read).

    Where several files were judged together, `files` names all of them, and `file` the one that it is about.
    """

    file: str
    sha256: str
    language: str = "cuda"
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class TargetName:
    """Where it ran: kind is cpu or gpu."""

    kind: str
    name: str


@dataclass(frozen=True)
class TensorResult:
    """One tensor of one case, at the element where error / tolerance is worst."""

    max_error: float
    tolerance: float
    ok: bool

    @property
    def ratio(self) -> float:
        """Error over tolerance; above 1, or NaN, is wrong."""
        if self.max_error == 0.0:
            return 0.0
        if self.tolerance == 0.0:
            return math.nan if math.isnan(self.max_error) else math.inf
        return self.max_error / self.tolerance


@dataclass(frozen=True)
class CaseResult:
    """One (length, family) pair: every compared tensor by name, in judging order."""

    length: int
    family: str
    tensors: Mapping[str, TensorResult]

    @property
    def ok(self) -> bool:
        return all(result.ok for result in self.tensors.values())

    @property
    def ratio(self) -> float:
        """The worst error over tolerance; NaN if there is one."""
        ratios = [result.ratio for result in self.tensors.values()]
        return math.nan if any(math.isnan(r) for r in ratios) else max(ratios, default=0.0)


@dataclass(frozen=True)
class FirstWrong:
    """The first wrong value of the earliest wrong tensor; `head` is None for a tensor without heads."""

    tensor: str
    length: int
    family: str
    row: int
    head: int | None
    dim: int
    got: float
    want: float
    wrong_values: int
    values: int
    region: str = ""  # Q, K or V of the packed tensor
    axis: str = "dim"  # what `dim` counts; "" where a row is one value

    @property
    def place(self) -> str:
        """Where it is in its tensor, in words."""
        region = f" of {self.region}" if self.region else ""
        head = "" if self.head is None else f", head {self.head}{region}"
        column = f", {self.axis} {self.dim}" if self.axis else ""
        return f"row {self.row}{head}{column}"


@dataclass(frozen=True)
class MistakeFound:
    """A named mistake whose values the wrong output matches."""

    code: str
    name: str
    says: str
    lesson: str


@dataclass(frozen=True)
class KvTraffic:
    """Bytes of K and V that the kernels' threads loaded from global memory at one length."""

    length: int
    k_bytes: int
    v_bytes: int
    baseline_kv_bytes: int
    gate: float | None

    @property
    def kv_bytes(self) -> int:
        return self.k_bytes + self.v_bytes

    @property
    def cut(self) -> float:
        """How many times fewer bytes than the baseline; infinite for a kernel that reads none."""
        return self.baseline_kv_bytes / self.kv_bytes if self.kv_bytes else math.inf

    @property
    def ok(self) -> bool:
        return self.gate is None or self.cut >= self.gate


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What every verdict states. `says` is one sentence; `evidence` holds the facts behind it.

    `race` is what was timed, where anything was; the JSON holds no more of it than the speed.
    """

    outcome: ClassVar[str]
    exit_code: ClassVar[int]

    submission: Submission
    step: str
    seed: int
    target: TargetName
    says: str
    cases: tuple[CaseResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    first_wrong: FirstWrong | None = None
    mistakes: tuple[MistakeFound, ...] = ()
    traffic: KvTraffic | None = None
    evidence: tuple[str, ...] = ()
    race: RaceRecord | None = field(default=None, repr=False)

    @property
    def gate_judged(self) -> bool | None:
        """Whether a figure stands against the step's gate; None for what has no gate, such as the block."""
        step = STEP.get(self.step)
        if step is None or (step.traffic_gate is None and step.speed_gate is None):
            return None
        speed: Speed | None = getattr(self, "speed", None)
        figures = (self.traffic.gate if self.traffic else None, speed.gate if speed else None)
        return any(gate is not None for gate in figures)

    def to_json(self) -> dict[str, Any]:
        """The verdict as schema 1, of JSON types only: NaN and infinities are the strings nan, inf, -inf."""
        return {
            "schema": SCHEMA,
            "submission": {
                "file": self.submission.file,
                "sha256": self.submission.sha256,
                "language": self.submission.language,
            },
            "step": self.step,
            "seed": self.seed,
            "target": {"kind": self.target.kind, "name": self.target.name},
            "outcome": self.outcome,
            "first_wrong": _first_wrong(self.first_wrong),
            "mistakes": [
                {"code": m.code, "name": m.name, "says": m.says, "lesson": m.lesson} for m in self.mistakes
            ],
            "findings": [
                {
                    "code": f.code,
                    "file": f.file,
                    "line": f.line,
                    "says": f.says,
                    "kernel": f.kernel,
                    "array": f.array,
                    "block": f.block,
                    "thread": f.thread,
                    "count": f.count,
                }
                for f in self.findings
            ],
            "cases": [
                {
                    "length": case.length,
                    "family": case.family,
                    "ok": case.ok,
                    "tensors": {
                        name: {
                            "max_error": _number(t.max_error),
                            "tolerance": _number(t.tolerance),
                            "ok": t.ok,
                        }
                        for name, t in case.tensors.items()
                    },
                }
                for case in self.cases
            ],
            "traffic": _traffic(self.traffic),
            "speed": _speed(getattr(self, "speed", None)),
            "gate_judged": self.gate_judged,
            "evidence": list(self.evidence),
            "says": self.says,
        }


@dataclass(frozen=True, kw_only=True)
class Passed(Outcome):
    """Right at every value, no finding, every gate that this target can judge is met."""

    outcome: ClassVar[str] = "passed"
    exit_code: ClassVar[int] = 0
    speed: Speed | None = None


@dataclass(frozen=True, kw_only=True)
class Slow(Outcome):
    """Right, but the step's gate is not met."""

    outcome: ClassVar[str] = "slow"
    exit_code: ClassVar[int] = 1
    speed: Speed | None = None


@dataclass(frozen=True, kw_only=True)
class Wrong(Outcome):
    """A value is wrong: the earliest wrong tensor is named."""

    outcome: ClassVar[str] = "wrong"
    exit_code: ClassVar[int] = 1
    first_wrong: FirstWrong = field()  # required here


@dataclass(frozen=True, kw_only=True)
class Unsafe(Outcome):
    """Values are right, but a finding makes the kernel wrong on real hardware."""

    outcome: ClassVar[str] = "unsafe"
    exit_code: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True)
class Inconclusive(Outcome):
    """Right, but the gate lies inside the interval of the measurement, or no speed could be measured."""

    outcome: ClassVar[str] = "inconclusive"
    exit_code: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True)
class Refused(Outcome):
    """Outside the rules, or not a submission at all. `says` begins with file:line where there is one."""

    outcome: ClassVar[str] = "refused"
    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class Broken(Outcome):
    """Did not compile, crashed or hung."""

    outcome: ClassVar[str] = "broken"
    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class Unavailable(Outcome):
    """The target is not on this machine; `says` holds the command that mends it."""

    outcome: ClassVar[str] = "unavailable"
    exit_code: ClassVar[int] = 4


Verdict = Passed | Slow | Wrong | Unsafe | Inconclusive | Refused | Broken | Unavailable


def _number(value: float) -> float | str:
    """A float for JSON, which has no NaN and no infinities."""
    return float(value) if math.isfinite(value) else str(float(value))


def _first_wrong(first: FirstWrong | None) -> dict[str, Any] | None:
    if first is None:
        return None
    return {
        "tensor": first.tensor,
        "length": first.length,
        "family": first.family,
        "row": first.row,
        "head": first.head,
        "dim": first.dim,
        "got": _number(first.got),
        "want": _number(first.want),
        "wrong_values": first.wrong_values,
    }


def _traffic(traffic: KvTraffic | None) -> dict[str, Any] | None:
    if traffic is None:
        return None
    return {
        "kv_bytes": traffic.kv_bytes,
        "baseline_kv_bytes": traffic.baseline_kv_bytes,
        "cut": _number(traffic.cut),
        "global_sectors": None,
        "shared_wavefronts": None,
        "bank_conflicts": None,
    }


def _speed(speed: Speed | None) -> dict[str, Any] | None:
    if speed is None:
        return None
    return {
        "baseline_ms": speed.baseline_ms,
        "user_ms": speed.user_ms,
        "speedup": speed.speedup,
        "low": speed.low,
        "high": speed.high,
        "gate": speed.gate,
        "pairs": speed.pairs,
    }
