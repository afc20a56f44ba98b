"""The GPU's worker: owns the context, plays plans on it, and answers over a pipe.

    python -m tilestep.targets.gpu.worker

It runs our own code only: of a submission it gets the code for the device and a plan, which is data. What the
kernels print, and what the driver says of them, goes nowhere: the pipe of the answers is moved away first.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

from tilestep.targets.gpu.card import NoCardError, Session, open_card
from tilestep.targets.gpu.driver import DriverError
from tilestep.targets.gpu.memory import Bytes, Memory, wipe
from tilestep.targets.gpu.replay import PlanError, Player
from tilestep.targets.gpu.timing import CallFailedError, Clock, synchronise, watched
from tilestep.targets.gpu.wire import Data, Message, frame, receive, unpack_buffers, unpack_plan

_ORPHAN_SECONDS = 1.0

Answer = tuple[dict[str, Any], Sequence[Bytes]]


class Worker:
    """What the requests ask for. Each method takes a message and returns the body and blobs of its answer."""

    def __init__(self, session: Session, pipe: BinaryIO) -> None:
        self.session = session
        self.pipe = pipe
        self.memory: Memory | None = None
        self.players: dict[str, Player] = {}
        self.clock: Clock | None = None

    def answer(self, message: Message) -> Answer:
        asked = message.body.get("do")
        deeds = {
            "run": self.run,
            "open": self.open,
            "load": self.load,
            "feed": self.feed,
            "time": self.time,
            "each": self.each,
            "close": self.close,
        }
        deed = deeds.get(str(asked))
        return deed(message) if deed else ({"failed": f"there is no request {asked!r}"}, ())

    def run(self, message: Message) -> Answer:
        """One run from a fresh start, watched item by item: image, host data of the plan, inputs."""
        self.open(message)
        self.load(message)
        memory, player = self._opened(), self.players["user"]
        memory.feed(message.blobs[int(message.body["data"]) :])
        began = time.perf_counter()
        refused = watched(self.session.driver, player, memory, self._tell)
        seconds = time.perf_counter() - began
        found = _broken_guards(memory, player)
        body = {"refused": refused, "guards": found, "changed": memory.changed_inputs(), "seconds": seconds}
        outputs = memory.outputs()
        self.close(message)
        return body, outputs

    def open(self, message: Message) -> Answer:
        """The buffers; for timing the hold kernel's image, too."""
        self.close(message)
        session, body = self.session, message.body
        self.memory = Memory(session.driver, session.stream, unpack_buffers(body["buffers"]))
        if body.get("timing"):
            image = bytes(message.blobs[0])
            self.clock = Clock(session.driver, session.stream, image, session.facts.l2_bytes)
        return {}, ()

    def load(self, message: Message) -> Answer:
        """A module, loaded anew, and its plan, under the name `slot`. The image is the first blob."""
        body = message.body
        slot = str(body.get("slot", "user"))
        if (old := self.players.pop(slot, None)) is not None:
            old.close()
        self.players[slot] = Player(
            self.session.driver,
            self.session.stream,
            bytes(message.blobs[0]),
            unpack_plan(body["plan"], message.blobs),
            self._opened().blocks,
            body["variables"],
            body["kernels"],
        )
        return {}, ()

    def feed(self, message: Message) -> Answer:
        """The inputs of the calls that follow."""
        self._opened().feed(message.blobs)
        return {}, ()

    def time(self, message: Message) -> Answer:
        """One timed call. Its outputs leave the device before anything else runs there."""
        memory, player = self._opened(), self.players[str(message.body["slot"])]
        timing = self._clock().timed(player, memory)
        mhz, lowered = self.session.clocks.now()
        outputs = memory.outputs() if message.body.get("outputs", True) else []
        found = _broken_guards(memory, player)
        memory.scrub()
        player.restore()
        synchronise(self.session.driver)
        body = {"ms": timing.ms, "wall_ms": timing.wall_ms, "late": timing.late}
        return {**body, "clock": mhz, "lowered": lowered, "guards": found}, outputs

    def each(self, message: Message) -> Answer:
        """The time of each launch, over so many calls."""
        memory, player = self._opened(), self.players["user"]
        calls = [self._clock().each(player, memory) for _ in range(int(message.body["repeats"]))]
        return {"calls": calls}, ()

    def close(self, message: Message) -> Answer:
        """Frees everything but the context."""
        while self.players:
            self.players.popitem()[1].close()
        if self.clock is not None:
            self.clock.close()
            self.clock = None
        if self.memory is not None:
            self.memory.free()
            self.memory = None
        return {}, ()

    def serve(self, requests: BinaryIO) -> None:
        """Answers requests until the pipe ends, or the context is lost."""
        while (message := _next(requests)) is not None:
            try:
                body, blobs = self._answer_or_say(message)
            except CallFailedError as error:
                say(self.pipe, {"crashed": error.label, "item": error.item})
                return
            except DriverError as error:
                say(self.pipe, {"failed": str(error), "no_memory": "OUT_OF_MEMORY" in error.label})
                return
            except Exception as error:  # a fault of ours; the target must hear of it
                say(self.pipe, {"failed": f"{type(error).__name__}: {error}"})
                return
            say(self.pipe, body, [blob.data for blob in blobs])
            wipe(blobs)

    def _answer_or_say(self, message: Message) -> Answer:
        try:
            return self.answer(message)
        except PlanError as error:
            self.close(message)
            return {"unplayable": str(error)}, ()

    def _tell(self, item: int) -> None:
        say(self.pipe, {"at": item})

    def _opened(self) -> Memory:
        if self.memory is None:
            raise PlanError("nothing is open")
        return self.memory

    def _clock(self) -> Clock:
        if self.clock is None:
            raise PlanError("nothing is open for timing")
        return self.clock


def _broken_guards(memory: Memory, player: Player) -> list[tuple[str, str]]:
    """(buffer, side) of each guard band that a run has written to."""
    blocks = [*memory.blocks.items()]
    blocks += [(f"scratch {number}", block) for number, block in enumerate(player.scratch, start=1)]
    return [(name, side) for name, block in blocks for side in block.broken_guards()]


def main() -> None:
    parent = os.getppid()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=1 << 20)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    try:
        session = open_card()
    except NoCardError as error:
        say(answers, {"unavailable": str(error)})
        return
    say(answers, {"card": session.facts.packed()})
    os.dup2(nowhere, 2)
    Worker(session, answers).serve(requests)
    answers.flush()
    os._exit(0)  # the driver's own tidying waits for kernels that never end


def say(pipe: BinaryIO, body: dict[str, Any], blobs: Sequence[Data] = ()) -> None:
    """Writes one frame."""
    for piece in frame(body, blobs):
        pipe.write(piece)
    pipe.flush()


def _next(pipe: BinaryIO) -> Message | None:
    """The next request; None at the end of the pipe."""

    def read(count: int) -> bytes:
        data = pipe.read(count)
        if len(data) < count:
            raise EOFError
        return data

    try:
        return receive(read)
    except EOFError:
        return None


def _end_with(parent: int) -> None:
    """Ends this process when the one that started it is gone, whatever the device does."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
