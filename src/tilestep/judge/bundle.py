"""Reads an evidence bundle back, checked: it may come from anywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tilestep.judge.evidence import SCHEMA, Asked, EvidenceError
from tilestep.subjects import registered

LARGEST_BUNDLE = 20_000_000  # bytes
TARGETS = ("cpu", "gpu", "both")

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Bundle:
    """What a verdict was, and how it was asked for. `name` is the submission's file without its folder."""

    name: str
    text: str
    sha256: str
    asked: Asked
    verdict: Mapping[str, Any]
    made_by: str  # the version of tilestep


def read(path: Path) -> Bundle:
    """The bundle in a file. Raises EvidenceError for what is none, or was changed since it was written."""
    document = _load(path)
    if document.get("schema") != SCHEMA:
        found = document.get("schema")
        raise EvidenceError(f"{path} has schema {found!r}, and this tilestep reads schema {SCHEMA}")
    reader = _Reader(path)
    submission = reader.get(document, "submission", dict)
    text, sha256 = reader.get(submission, "text", str), reader.get(submission, "sha256", str)
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != sha256:
        raise EvidenceError(f"{path}: the submission's text does not have the hash that is recorded")
    verdict = reader.get(document, "verdict", dict)
    reader.get(verdict, "outcome", str)
    if reader.get(verdict, "submission", dict).get("sha256") != sha256:
        raise EvidenceError(f"{path}: the verdict in it is not about the text in it")
    asked = _asked(reader, reader.get(document, "asked", dict))
    if (verdict.get("step"), verdict.get("seed")) != (asked.step, asked.seed):
        raise EvidenceError(f"{path}: the verdict in it is on another step or seed than was asked for")
    return Bundle(
        name=_plain_name(reader.get(submission, "file", str)),
        text=text,
        sha256=sha256,
        asked=asked,
        verdict=verdict,
        made_by=reader.get(document, "tilestep", str),
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


def _asked(reader: _Reader, asked: Mapping[str, Any]) -> Asked:
    step, target = reader.get(asked, "step", str), reader.get(asked, "target", str)
    if step not in registered():
        raise EvidenceError(f"{reader.path}: no step is called {step!r}")
    if target not in TARGETS:
        raise EvidenceError(f"{reader.path}: no target is called {target!r}")
    seed, pairs = reader.get(asked, "seed", int), reader.get(asked, "pairs", int)
    if not 0 <= seed < 2**32:
        raise EvidenceError(f"{reader.path}: {seed} is no seed")
    lengths = asked.get("lengths")
    if lengths is not None:
        if not isinstance(lengths, list) or not all(type(n) is int for n in lengths):
            raise EvidenceError(f"{reader.path}: its lengths are no list of whole numbers")
        lengths = tuple(lengths)
    profile, fail_fast = reader.get(asked, "profile", bool), reader.get(asked, "fail_fast", bool)
    return Asked(step, seed, lengths, profile, target, pairs, fail_fast)


def _plain_name(file: str) -> str:
    """The last part of a recorded path, as a name that is safe in any folder."""
    name = file.replace("\\", "/").rpartition("/")[2]
    fits = name.isprintable() and name.strip(". ") and len(name.encode("utf-8", "replace")) <= 200
    return name if fits else "submission.cu"


@dataclass(frozen=True)
class _Reader:
    """Takes fields out of a document, of the kind that they must have."""

    path: Path

    def get(self, document: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind:
        value = document.get(name)
        if type(value) is not kind:
            raise EvidenceError(f"{self.path} is no whole evidence bundle: its {name!r} is missing or wrong")
        return value
