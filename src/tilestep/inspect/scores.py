"""The row of scores that a kernel left in shared memory, beside the float64 one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilestep import reference
from tilestep.contract import DH, GROUP, HKV, HQ
from tilestep.inspect.memory import Moment, moments
from tilestep.inspect.rows import ATTENTION_FACTORS, Doubles, Form, Piece, Values, forms, of_another
from tilestep.inspect.session import CannotLook, Session
from tilestep.program import Piece as Watched
from tilestep.program import SharedArray, WatchedBlock

_FLOAT = 4
_USUAL_LENGTH = 64  # what is shown if nothing else is asked for: a few tiles
_HINTS = ("score", "logit", "prob", "att")  # in the name of an array, where its values say nothing


@dataclass(frozen=True)
class Key:
    """One key of the row. `yours` is None where the array does not hold it, or never got it."""

    key: int
    masked: bool
    yours: float | None
    want: float  # of a masked key: what stands for it
    ok: bool
    leaks: bool  # masked, but it holds what it would without a mask
    element: int | None
    moment: int | None  # index into ScoreRow.moments


@dataclass(frozen=True)
class Seen:
    """A form of the row that an array held: how many of the visible keys, and when first."""

    array: str
    form: str
    keys: int
    when: str


@dataclass(frozen=True)
class ScoreRow:
    """What `show scores` shows. `matched` is False where the array was chosen by name or size alone."""

    file: str
    length: int
    family: str
    seed: int
    row: int
    head: int | None  # None for a softmax of rows
    kernel: str
    line: int | None
    block: tuple[int, int, int]
    array: str
    form: str
    matched: bool
    foreign: bool  # the form is another head's
    moments: tuple[str, ...]
    keys: tuple[Key, ...]
    arrays: tuple[SharedArray, ...]
    seen: tuple[Seen, ...]
    cut: bool

    @property
    def different(self) -> int:
        """Visible keys whose value is not the float64 one."""
        return sum(not key.ok and not key.masked and key.element is not None for key in self.keys)

    @property
    def missing(self) -> int:
        """Visible keys for which the array has no place: a tile that was not recognised."""
        return sum(not key.masked and key.element is None for key in self.keys)

    @property
    def unmasked(self) -> int:
        """Masked keys that hold something other than what a masked one should."""
        return sum(not key.ok and key.masked for key in self.keys)

    def to_json(self) -> dict[str, Any]:
        """One document for programs; numbers that JSON has not are texts."""
        return {
            "file": self.file,
            "length": self.length,
            "family": self.family,
            "seed": self.seed,
            "row": self.row,
            "head": self.head,
            "kernel": {"name": self.kernel, "line": self.line, "block": list(self.block)},
            "array": self.array,
            "form": self.form,
            "matched": self.matched,
            "foreign": self.foreign,
            "moments": list(self.moments),
            "different": self.different,
            "missing": self.missing,
            "unmasked": self.unmasked,
            "keys": [
                {
                    "key": key.key,
                    "masked": key.masked,
                    "yours": _number(key.yours),
                    "want": _number(key.want),
                    "ok": key.ok,
                    "leaks": key.leaks,
                    "element": key.element,
                    "moment": key.moment,
                }
                for key in self.keys
            ],
            "arrays": [{"name": a.name, "bytes": a.end - a.begin, "row_bytes": a.row} for a in self.arrays],
            "seen": [{"array": s.array, "form": s.form, "keys": s.keys, "when": s.when} for s in self.seen],
            "log_cut": self.cut,
        }


def look_at_scores(
    session: Session,
    length: int | None = None,
    family: str = "normal",
    row: int | None = None,
    head: int = 0,
    array: str | None = None,
) -> ScoreRow:
    """Runs a case, and finds a row of scores in the block that writes what becomes of it.

    For attention the scores of a query row and head, for a softmax the values of a row; by default of a late
    row. Raises CannotLook where there is nothing to find: another step, no such row, head or array,
    scores in registers.
    """
    attention = session.step.output == "attention_output"
    if not attention and session.step.output != "probabilities":
        says = "has no scores; attention and the softmax steps have"
        raise CannotLook(f"{session.program.file}: {session.step.name} {says}")
    if length is None:
        length = max(n for n in session.subject.lengths if n <= _USUAL_LENGTH)
    case = session.case(length, family)
    rows = len(case.judged_rows)
    if row is None:
        row = int(case.judged_rows.sum()) * 5 // 8
    if not 0 <= row < rows:
        raise CannotLook(f"row {row} is not one of {rows} rows: 0 to {rows - 1}")
    if not 0 <= head < HQ:
        raise CannotLook(f"head {head} is not a query head: 0 to {HQ - 1}")
    if not case.judged_rows[row]:
        cut = int(np.argmin(case.judged_rows))
        raise CannotLook(f"row {row} is fed NaN in family {family}: rows 0 to {cut - 1} can be looked at")
    out = session.step.seam.outputs[0].name
    if attention:
        begin, width = (row * HQ + head) * DH, DH
        wanted = _scores(case["qkv_rotated"], row, head)
    else:
        begin, width = row * length, length
        values = case["matrix"][row]
        wanted = forms("value", values, np.abs(values), length, {})
    run = session.watched(case, Watched(out, begin, begin + width))
    if not run.watched:
        place = f"row {row}, head {head}" if attention else f"row {row}"
        raise CannotLook(f"{session.program.file}: no block writes {place} of {out}")
    found = _find(run.watched, wanted, array, session.program.file)
    labels = list(dict.fromkeys(id(piece.moment) for piece in found.pieces))
    keys = _keys(found, labels, length)
    by_id = {id(piece.moment): piece.moment for piece in found.pieces}
    return ScoreRow(
        file=session.program.file,
        length=length,
        family=family,
        seed=session.seed,
        row=row,
        head=head if attention else None,
        kernel=found.block.kernel,
        line=found.block.line,
        block=found.block.block,
        array=found.array.name,
        form=found.pieces[0].form.name,
        matched=found.matched,
        foreign=found.pieces[0].form.right is not None,
        moments=tuple(by_id[label].says for label in labels),
        keys=keys,
        arrays=found.block.arrays,
        seen=found.seen,
        cut=run.watch_cut,
    )


def _scores(qkv: Doubles, row: int, head: int) -> list[Form]:
    """The forms of the row, and then what it would be by another query or KV head."""
    q, k, _ = reference.split_heads(qkv)
    root = np.sqrt(DH)
    own = head // GROUP
    with np.errstate(all="ignore"):
        scores = k[own] @ q[head, row] / root
        wanted = forms(
            "score", scores, np.abs(k[own]) @ np.abs(q[head, row]) / root, row + 1, ATTENTION_FACTORS
        )
        right = wanted[0]
        for other in sorted(set(range(HKV)) - {own}):
            name = f"score by the keys of KV head {other}"
            wanted.append(of_another(name, k[other] @ q[head, row] / root, right))
        for other in sorted(set(range(HQ)) - {head}):
            name = f"score of query head {other}"
            wanted.append(of_another(name, k[other // GROUP] @ q[other, row] / root, right))
    return wanted


@dataclass(frozen=True)
class _Found:
    block: WatchedBlock
    array: SharedArray
    pieces: tuple[Piece, ...]  # by key
    matched: bool
    seen: tuple[Seen, ...]


def _find(blocks: Sequence[WatchedBlock], wanted: Sequence[Form], array: str | None, file: str) -> _Found:
    """The array and form that holds most of the row; the plainest form where several hold as much."""
    best: _Found | None = None
    best_keys = 0
    seen: list[Seen] = []
    names = list(dict.fromkeys(form.name for form in wanted))
    for block in blocks:
        for one in _named(block, array):
            values = [Values(moment) for moment in moments(block, one)]
            for name in names:
                pieces = _cover([f for f in wanted if f.name == name], values)
                keys = sum(piece.count for piece in pieces)
                if not pieces:
                    continue
                seen.append(Seen(one.name, name, keys, pieces[0].moment.says))
                if keys > best_keys:
                    best, best_keys = _Found(block, one, pieces, True, ()), keys
    if best is None:
        best = _by_shape(blocks, wanted[0], array, file)
    return _Found(best.block, best.array, best.pieces, best.matched, tuple(seen))


def _named(block: WatchedBlock, array: str | None) -> list[SharedArray]:
    return [one for one in block.arrays if array is None or one.name == array]


def _cover(same: Sequence[Form], values: Sequence[Values]) -> tuple[Piece, ...]:
    """Pieces of one row that do not overlap, in the order of their keys: the longest are taken first."""
    found = [piece for value in values for form in same if (piece := value.longest_piece(form))]
    taken: list[Piece] = []
    free = np.ones(same[0].visible, dtype=bool)
    for piece in sorted(found, key=lambda p: -p.count):
        span = slice(piece.first, piece.first + piece.count)
        if free[span].all():
            taken.append(piece)
            free[span] = False
    return tuple(sorted(taken, key=lambda p: p.first))


def _by_shape(blocks: Sequence[WatchedBlock], form: Form, array: str | None, file: str) -> _Found:
    """No values agree: the array that was asked for, or one with room for the row, by its name."""
    length = len(form.values)
    block = blocks[-1]
    place = f"{file}:{block.line}" if block.line else file
    names = ", ".join(one.name for one in block.arrays)
    if array is not None and not _named(block, array):
        has = f"its shared arrays are {names}" if names else "it has no shared array"
        raise CannotLook(f"{place}: {block.kernel} has no shared array {array!r}; {has}")
    roomy = [one for one in _named(block, array) if array or _looks_like_a_row(one, length)]
    roomy = [one for one in roomy if moments(block, one)]
    if not names:
        raise CannotLook(
            f"{place}: {block.kernel} has no shared array; "
            "scores in registers or in global memory are not watched"
        )
    if not roomy:
        raise CannotLook(
            f"{place}: no shared array of {block.kernel} holds this row of scores in a form that is known; "
            f"--array shows one of {names}"
        )
    one = roomy[0]
    states = moments(block, one)
    moment = next((m for m in states if m.written.sum() >= form.visible), states[-1])
    piece = Piece(form, moment, 0, min(form.visible, len(moment.values)), 0, 1)
    return _Found(block, one, (piece,), False, ())


def _looks_like_a_row(array: SharedArray, length: int) -> bool:
    return _width(array) >= length and any(hint in array.name.lower() for hint in _HINTS)


def _width(array: SharedArray) -> int:
    """Values in a row of the array."""
    return (array.row or array.end - array.begin) // _FLOAT


def _keys(found: _Found, labels: Sequence[int], length: int) -> tuple[Key, ...]:
    keys = []
    form = found.pieces[0].form
    for key in range(length):
        piece = min(found.pieces, key=lambda p: p.distance(key))
        masked = key >= form.visible
        element = _element(piece, key, found.array)
        yours = None
        if element is not None and piece.moment.written[element]:
            yours = float(piece.moment.values[element])
        wanted = piece.form.right or piece.form
        want = form.masked if masked else float(wanted.values[key])
        if masked:
            ok = yours is None or yours == form.masked
        else:
            ok = yours is not None and abs(yours - want) <= float(wanted.bound[key])
        leaks = masked and not ok and abs((yours or 0.0) - wanted.values[key]) <= wanted.bound[key]
        moment = None if yours is None else labels.index(id(piece.moment))
        keys.append(Key(key, masked, yours, want, ok, bool(leaks), element, moment))
    return tuple(keys)


def _element(piece: Piece, key: int, array: SharedArray) -> int | None:
    """Where a key's value lies, in the array and, for a row that is one of the array's, in that row."""
    element = piece.element(key)
    if not 0 <= element < len(piece.moment.values):
        return None
    if abs(piece.stride) == 1 and element // _width(array) != piece.start // _width(array):
        return None
    return element


def _number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return str(value)


__all__ = ["Key", "Moment", "ScoreRow", "Seen", "look_at_scores"]
