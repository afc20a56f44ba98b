"""Why a submission is wrong: the mistakes that its values match, and the findings of all runs together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilestep import mistakes
from tilestep.judge.compare import Array, Bools, Compared
from tilestep.judge.expect import Expected
from tilestep.judge.verdict import MistakeFound
from tilestep.program import Finding

NAMED = 3  # mistakes at most in a verdict


@dataclass(frozen=True)
class Seen:
    """The tensors that a submission wrote in one case, beside the right ones."""

    expected: Expected
    written: tuple[Compared, ...]

    def observation(self) -> mistakes.Observation:
        parts = [(c.tensor, c.got, c.want, c.tolerance) for c in self.written]
        subject, case = self.expected.subject, self.expected.case
        return mistakes.Observation(subject.given(case), parts, case.judged_rows, case.length, subject.group)


def name_mistakes(seen: Sequence[Seen]) -> tuple[MistakeFound, ...]:
    """The named mistakes that explain the wrong cases and contradict no case, best first; at most three.

    Right cases count too: a mistake that would have failed one of them was not made. Lengths beyond the
    step's own are left out: a hypothesis costs as much as the length squared.
    """
    if not seen:
        return ()
    subject = seen[0].expected.subject
    few = [s.observation() for s in seen if s.expected.case.length <= max(subject.lengths)]
    return tuple(
        MistakeFound(m.mistake.code, m.mistake.title, m.mistake.says, m.mistake.lesson)
        for m in mistakes.match_many(few, subject.mistakes)[:NAMED]
    )


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each (code, line, array), as the first run told it, with the counts added up.

    In order of appearance: the runs go from the smallest length up, so the smallest example speaks.
    """
    merged: dict[tuple[str, str, int | None, str], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.file, finding.line, finding.array)
        seen = merged.get(key)
        merged[key] = replace(seen, count=seen.count + finding.count) if seen else finding
    return tuple(merged.values())


def order_dependence(
    where: str,
    outputs: Sequence[tuple[str, Compared]],
    file: str,
    kernel: str,
    line: int | None,
    may_round_differently: bool,
) -> Finding | None:
    """A finding where the same case, `where`, gives different values in different thread orders.

    `outputs` holds (order, output) for each order, the first of them forward. Bits must agree; with float
    atomics, whose sums depend on the order by right, the values must all be within tolerance or all be wrong.
    """
    _, first = outputs[0]
    for order, other in outputs[1:]:
        differs = _differs(first.got, other.got, first.rows)
        if may_round_differently:
            differs &= first.wrong | other.wrong
        if not differs.any():
            continue
        row, column = (int(i) for i in np.unravel_index(int(np.argmax(differs)), differs.shape))
        return Finding(
            code="order-dependent",
            says=(
                f"the result depends on the order in which threads run: at {where} "
                f"{first.tensor}[{row}][{column}] is {first.got[row, column]:.6g} with threads run forward "
                f"and {other.got[row, column]:.6g} in {order.split()[0]} order"
            ),
            file=file,
            line=line,
            kernel=kernel,
            array=first.tensor,
            count=int(differs.sum()),
        )
    return None


def _differs(a: Array, b: Array, rows: Bools) -> Bools:
    """Where two outputs differ in value on the judged rows; two NaNs are the same."""
    differs: Bools = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    differs &= rows[:, None]
    return differs
