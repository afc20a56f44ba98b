"""Starts the process that measures, listens to it, and starts it again without whoever killed it."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilestep.bench import worker
from tilestep.bench.ladder import FAILED
from tilestep.bench.messages import LeftOut, Message, Order, Prepared, Starting, Timed, Timing

_LONGEST_QUOTE = 200


@dataclass(frozen=True)
class Limits:
    """The longest that a message may take, in seconds: the first, a contender's, a length's times."""

    start: float = 180.0
    prepare: float = 90.0
    timing: float = 120.0


def measure(
    order: Order,
    limits: Limits | None = None,
    work: Callable[..., None] = worker.main,
    log: Path | None = None,
) -> Generator[Message, None, None]:
    """What the process tells, with a LeftOut for everybody whom it did not live to tell of.

    What the process prints is appended to the file `log`. Closing the iterator ends the process.
    """
    limits = limits or Limits()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="tilestep-bench-") as folder:
        log = log or Path(folder) / "log"
        while order.packed:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(theirs, order, str(log)))
            process.start()
            theirs.close()
            heard = _Heard()
            try:
                yield from _listen(ours, process, heard, limits)
            finally:
                process.kill()
                process.join()
                ours.close()
            if heard.done >= set(order.packed):
                return
            fault = heard.fault or f"the process that measures died: {_last_line(log)}"
            yield from _blame(order, heard, fault)
            order = _what_is_left(order, heard)


class _Heard:
    """What is known of a process: whom it prepares, whom it has told of, which lengths it has done."""

    def __init__(self) -> None:
        self.current: Starting | Timing | None = None
        self.left_out: set[tuple[str, int]] = set()
        self.done: set[int] = set()
        self.spoke = False
        self.fault = ""

    def hear(self, message: Message) -> None:
        self.spoke = True
        if isinstance(message, Starting | Timing):
            self.current = message
        elif isinstance(message, Prepared | LeftOut):
            self.current = None
            if isinstance(message, LeftOut):
                self.left_out.add((message.name, message.length))
        elif isinstance(message, Timed):
            self.current = None
            self.done.add(message.length)

    def patience(self, limits: Limits) -> float:
        if not self.spoke:
            return limits.start
        return limits.timing if isinstance(self.current, Timing) else limits.prepare


def _listen(connection: Any, process: Any, heard: _Heard, limits: Limits) -> Iterator[Message]:
    """Messages until the process ends, or is silent for too long."""
    while True:
        patience = heard.patience(limits)
        began = time.monotonic()
        if not connection.poll(patience):
            heard.fault = f"nothing was heard of it for {time.monotonic() - began:.0f} s"
            return
        try:
            message: Message = connection.recv()
        except (EOFError, OSError):
            process.join(1.0)
            return
        heard.hear(message)
        yield message


def _blame(order: Order, heard: _Heard, fault: str) -> Iterator[Message]:
    """Says who failed, of those whom the process told nothing of."""
    if isinstance(heard.current, Starting):
        culprits = [(heard.current.name, heard.current.length)]
    elif isinstance(heard.current, Timing):  # anybody's graph, so nobody at this length can be timed
        culprits = [(name, heard.current.length) for name in _names(order, heard.current.length)]
    elif heard.left_out:
        return  # it gave up after it had told why
    else:  # PyTorch itself, most likely: our rungs have another try without it
        peers = [(peer.name, length) for length in order.packed for peer in order.peers]
        everybody = [(name, length) for length in order.packed for name in _names(order, length)]
        culprits = peers or everybody
    for name, length in culprits:
        if (name, length) not in heard.left_out | order.skip and length not in heard.done:
            heard.left_out.add((name, length))
            yield LeftOut(name, length, FAILED, fault)


def _what_is_left(order: Order, heard: _Heard) -> Order:
    """The order without the lengths that are done, and without those that are left out."""
    skip = order.skip | heard.left_out
    packed = {
        length: values
        for length, values in order.packed.items()
        if length not in heard.done and any((name, length) not in skip for name in _names(order, length))
    }
    peers = tuple(one for one in order.peers if any((one.name, length) not in skip for length in packed))
    return replace(order, packed=packed, peers=peers, skip=frozenset(skip))


def _names(order: Order, length: int) -> list[str]:
    """Who is to be measured at a length, skipped or not."""
    rungs = [rung.contender.name for rung in order.rungs if length in rung.plans]
    return [*rungs, *(peer.name for peer in order.peers)]


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1][:_LONGEST_QUOTE] if lines else "it says nothing"
