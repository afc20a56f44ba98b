"""Reads an evidence bundle back, checked: it may come from anywhere."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args

from tilestep.judge import verdict
from tilestep.judge.evidence import SCHEMA, Asked, EvidenceError
from tilestep.judge.race import MOST_PAIRS
from tilestep.judge.speed import FEWEST
from tilestep.subjects import registered, subject

LARGEST_BUNDLE = 20_000_000  # bytes
TARGETS = ("cpu", "gpu", "both")
OUTCOMES = tuple(kind.outcome for kind in get_args(verdict.Verdict))

# A code, the name of a tensor, or of a family, which may be "timed pair 7": safe to print.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_ -]{0,99}")
_LARGEST_NUMBER = 2**63  # of what counts something

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class WrongPlace:
    """Where the first wrong value was; `head` is None for a tensor without heads."""

    tensor: str
    length: int
    family: str
    row: int
    head: int | None
    dim: int


@dataclass(frozen=True)
class Speedup:
    """A speedup and its interval, finite and above 0."""

    speedup: float
    low: float
    high: float


@dataclass(frozen=True)
class Recorded:
    """What of a verdict is compared with a new one."""

    outcome: str
    first_wrong: WrongPlace | None
    findings: tuple[str, ...]  # their codes, each once
    speed: Speedup | None


@dataclass(frozen=True)
class Bundle:
    """What a verdict was, and how it was asked for. `name` is the submission's file without its folder."""

    name: str
    text: str
    sha256: str
    asked: Asked
    verdict: Recorded


def read(path: Path) -> Bundle:
    """The bundle in a file. Raises EvidenceError for what is none, or was changed since it was written."""
    document = _load(path)
    if document.get("schema") != SCHEMA or isinstance(document.get("schema"), bool):
        found = _short(document.get("schema"))
        raise EvidenceError(f"{path} has schema {found}, and this tilestep reads schema {SCHEMA}")
    reader = _Reader(path, document)
    submission = reader.part("submission")
    text, sha256 = submission.get("text", str), submission.get("sha256", str)
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != sha256:
        raise EvidenceError(f"{path}: the submission's text does not have the hash that is recorded")
    told = reader.part("verdict")
    if told.part("submission").get("sha256", str) != sha256:
        raise EvidenceError(f"{path}: the verdict in it is not about the text in it")
    asked = _asked(reader.part("asked"))
    if (told.get("step", str), told.get("seed", int)) != (asked.step, asked.seed):
        raise EvidenceError(f"{path}: the verdict in it is on another step or seed than was asked for")
    return Bundle(
        name=_plain_name(submission.get("file", str)),
        text=text,
        sha256=sha256,
        asked=asked,
        verdict=_recorded(told),
    )


def _load(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise EvidenceError(f"{path}: no such file" if not path.exists() else f"{path} is not a file")
        with path.open("rb") as file:
            data = file.read(LARGEST_BUNDLE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise EvidenceError(f"{path} cannot be read: {reason}") from None
    if len(data) > LARGEST_BUNDLE:
        raise EvidenceError(f"{path} is too large for an evidence bundle")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise EvidenceError(f"{path} is not JSON") from None
    if not isinstance(document, dict):
        raise EvidenceError(f"{path} is not an evidence bundle")
    return document


def _asked(asked: _Reader) -> Asked:
    step, target = asked.get("step", str), asked.get("target", str)
    if step not in registered():
        raise EvidenceError(f"{asked.path}: no step is called {_short(step)}")
    if target not in TARGETS:
        raise EvidenceError(f"{asked.path}: no target is called {_short(target)}")
    seed, pairs = asked.get("seed", int), asked.get("pairs", int)
    if not 0 <= seed < 2**32:
        raise EvidenceError(f"{asked.path}: {_short(seed)} is no seed")
    if not FEWEST <= pairs <= MOST_PAIRS:
        raise EvidenceError(f"{asked.path}: the number of pairs is from {FEWEST} to {MOST_PAIRS}")
    lengths = asked.optional("lengths", list)
    longest = subject(step).longest
    if lengths is not None and not (lengths and all(type(n) is int for n in lengths)):
        raise EvidenceError(f"{asked.path}: its lengths are no list of whole numbers")
    if not all(1 <= n <= longest for n in lengths or ()):
        raise EvidenceError(f"{asked.path}: a length is a whole number from 1 to {longest}")
    profile, fail_fast = asked.get("profile", bool), asked.get("fail_fast", bool)
    return Asked(step, seed, tuple(lengths) if lengths else None, profile, target, pairs, fail_fast)


def _recorded(told: _Reader) -> Recorded:
    outcome = told.get("outcome", str)
    if outcome not in OUTCOMES:
        raise EvidenceError(f"{told.path}: no outcome is called {_short(outcome)}")
    first = told.optional_part("first_wrong")
    speed = told.optional_part("speed")
    codes = {told.of(finding).word("code") for finding in told.get("findings", list)}
    return Recorded(
        outcome,
        None if first is None else _wrong_place(first),
        tuple(sorted(codes)),
        None if speed is None else _speed(speed),
    )


def _speed(speed: _Reader) -> Speedup:
    return Speedup(speed.positive("speedup"), speed.positive("low"), speed.positive("high"))


def _wrong_place(first: _Reader) -> WrongPlace:
    return WrongPlace(
        tensor=first.word("tensor"),
        length=first.whole("length"),
        family=first.word("family"),
        row=first.whole("row"),
        head=None if first.optional("head", int) is None else first.whole("head"),
        dim=first.whole("dim"),
    )


def _plain_name(file: str) -> str:
    """The last part of a recorded path, as a name that is safe in any folder."""
    name = file.replace("\\", "/").rpartition("/")[2]
    fits = name.isprintable() and name.strip(". ") and len(name.encode("utf-8", "replace")) <= 200
    return name if fits else "submission.cu"


def _short(value: Any) -> str:
    """A value as a sentence can hold it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True)
class _Reader:
    """Takes fields out of an object of the file, of the kind that they must have. Raises EvidenceError."""

    path: Path
    fields: Mapping[str, Any]

    def get(self, name: str, kind: type[Kind]) -> Kind:
        """A field of exactly that type: to Python a bool is a whole number, and to JSON it is none."""
        value = self.fields.get(name)
        return value if type(value) is kind else self._wrong(name)

    def optional(self, name: str, kind: type[Kind]) -> Kind | None:
        """The same, or null."""
        return None if name in self.fields and self.fields[name] is None else self.get(name, kind)

    def part(self, name: str) -> _Reader:
        return self.of(self.get(name, dict))

    def optional_part(self, name: str) -> _Reader | None:
        found = self.optional(name, dict)
        return None if found is None else self.of(found)

    def of(self, value: Any) -> _Reader:
        """An object, such as one of a list."""
        if not isinstance(value, dict):
            raise EvidenceError(f"{self.path} is no whole evidence bundle: {_short(value)} is not an object")
        return _Reader(self.path, value)

    def word(self, name: str) -> str:
        value = self.get(name, str)
        return value if _WORD.fullmatch(value) else self._wrong(name)

    def whole(self, name: str) -> int:
        value = self.get(name, int)
        return value if 0 <= value < _LARGEST_NUMBER else self._wrong(name)

    def positive(self, name: str) -> float:
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(name)
        try:
            number = float(value)
        except OverflowError:  # JSON's whole numbers have no end
            self._wrong(name)
        return number if math.isfinite(number) and number > 0 else self._wrong(name)

    def _wrong(self, name: str) -> NoReturn:
        raise EvidenceError(f"{self.path} is no whole evidence bundle: its {name!r} is missing or wrong")
