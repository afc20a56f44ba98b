"""What a case's tensors must be: float64 values and a tolerance for each, computed in this process only."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from tilestep.contract import Step
from tilestep.judge.compare import Bools, Compared, ComparedCase
from tilestep.program import Floats
from tilestep.subjects import Answer, Case, Subject, subject, void


class VoidCase(Exception):  # noqa: N818
    """A case that something which is no kernel for the step would pass: our fault, never the submission's."""


@dataclass(frozen=True)
class Expected:
    """A case with its right answers, in judging order; `subject` is its step's."""

    case: Case
    subject: Subject
    answers: tuple[Answer, ...]

    @property
    def rows(self) -> Bools:
        return self.case.judged_rows

    def written(self, outputs: Mapping[str, Floats], step: Step) -> tuple[Compared, ...]:
        """The tensors that the submission wrote beside the right ones. `outputs` are by parameter name."""
        got = {parameter.tensor: outputs[parameter.name] for parameter in step.seam.outputs}
        return tuple(
            self._beside(answer, got[answer.tensor]) for answer in self.answers if answer.tensor in got
        )

    def compare(self, outputs: Mapping[str, Floats], step: Step) -> ComparedCase:
        """Every compared tensor in judging order: what the seam wrote, then the block after it."""
        first = self.written(outputs, step)
        rest = self.subject.rest(self.case, {compared.tensor: compared.got for compared in first})
        last = tuple(self._beside(answer, rest[answer.tensor]) for answer in self.answers[len(first) :])
        return ComparedCase(self.case.length, self.case.family, (*first, *last))

    def _beside(self, answer: Answer, got: Floats) -> Compared:
        return Compared(answer.tensor, got, answer.want, answer.tolerance, self.rows)


class Expectations:
    """The cases of one step and seed with their right answers, each computed once, from any thread."""

    def __init__(self, step: Step, seed: int) -> None:
        self._subject = subject(step.name)
        self._seed = seed
        self._known: dict[tuple[int, str], Future[Expected]] = {}
        self._lock = threading.Lock()

    def of(self, length: int, family: str) -> Expected:
        """The case of a length and family. Raises VoidCase if a wrong answer would pass it."""
        with self._lock:
            known = self._known.get((length, family))
            future = self._known.setdefault((length, family), Future())
        if known is None:  # the first to ask computes; others wait for this case only
            try:
                future.set_result(self._expect(length, family))
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def _expect(self, length: int, family: str) -> Expected:
        case = self._subject.make(length, family, self._seed)
        answers = self._subject.answers(case)
        passing = void(case, answers, self._subject.impostors(case, answers))
        if passing:
            raise VoidCase(
                f"{case.step}, length {length}, {family}, seed {self._seed}: "
                f"{', '.join(passing)} would pass this case"
            )
        return Expected(case, self._subject, answers)
