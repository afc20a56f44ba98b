"""The process that measures. Our code and the peers' run in it; if one kills it, the bench starts another."""

from __future__ import annotations

import functools
import os
import statistics
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from tilestep import contract
from tilestep.bench.contenders import RUNG, Contender
from tilestep.bench.device import Device
from tilestep.bench.ladder import FAILED, MISSING, REFUSED
from tilestep.bench.messages import Facts, LeftOut, Loaded, Message, Order, Prepared, Starting, Timed, Timing
from tilestep.bench.rounds import Turn, run_rounds
from tilestep.bench.torch_peers import AbsentError, CaptureError, TorchPeers, first_line
from tilestep.program import Buffer, Floats
from tilestep.targets.gpu.memory import Memory
from tilestep.targets.gpu.race import WARM_UP_CALLS
from tilestep.targets.gpu.replay import Player

PACKED, OUTPUT = (pointer.name for pointer in contract.STEP["online-attention"].seam.pointers)

_OVERHEAD_TURNS, _OVERHEAD_REPLAYS = 9, 8


def attention_buffers(packed: Floats) -> tuple[Buffer, Buffer]:
    """What the seam of attention is handed for a packed tensor [T, QKV_OUT]."""
    length, width = packed.shape
    return Buffer(PACKED, length, width, "in", packed), Buffer(OUTPUT, length, contract.D, "out")


def main(connection: Connection, order: Order, log: str) -> None:
    """Measures what is ordered, tells of it, and ends. What is printed goes into the file `log`."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    try:
        Session(connection.send, order, Device()).measure()
    except GiveUpError:
        sys.exit(1)
    finally:
        connection.close()


class GiveUpError(Exception):
    """This process is in no state to go on."""


@dataclass(frozen=True)
class Ready:
    """A contender's graph, its output [T, D] from an output that was NaN before, and what the graph needs."""

    replay: Callable[[], None]
    output: Floats
    how: str
    kept: Any


class Session:
    """One order, carried out."""

    def __init__(self, tell: Callable[[Message], None], order: Order, device: Device) -> None:
        self._tell = tell
        self._order = order
        self._device = device
        self._peers: TorchPeers | None = None
        self._absent = ""
        self._kept: list[Ready] = []
        if order.peers:
            try:
                self._peers = TorchPeers(lambda graph: device.instantiate(graph).replay)
            except AbsentError as absent:
                self._absent = str(absent)
        device.use_stream(self._peers.stream if self._peers else None)
        tell(Facts(self._peers.versions if self._peers else {}))

    def measure(self) -> None:
        """Each length in turn: everybody is prepared, then all are timed. Raises GiveUpError."""
        overhead = self._turn(self._device.next_to_nothing().replay)
        for length, packed in self._order.packed.items():
            turns = self._prepare(length, packed)
            self._tell(Timing(length))
            found = run_rounds(turns, self._order.rounds, self._order.seed, self._device.clock)
            cost = statistics.median(overhead(_OVERHEAD_REPLAYS).ms for _ in range(_OVERHEAD_TURNS))
            self._tell(
                Timed(length, found.samples, found.replays, cost, found.clocks, found.lowered, found.late)
            )

    def _turn(self, replay: Callable[[], None]) -> Turn:
        return functools.partial(self._device.time, replay)

    def _prepare(self, length: int, packed: Floats) -> dict[str, Turn]:
        """A turn for everybody who can be prepared at a length, by name."""
        memory = Memory(self._device.driver, self._device.stream, attention_buffers(packed))
        memory.feed([np.ascontiguousarray(packed).tobytes()])
        memory.restore()
        self._device.synchronise()
        waiting: list[tuple[Contender, Callable[[], Ready]]] = [
            *(
                (rung.contender, functools.partial(self._rung, rung, length, memory))
                for rung in self._order.rungs
                if length in rung.plans
            ),
            *((peer, functools.partial(self._peer, peer, length, memory)) for peer in self._order.peers),
        ]
        turns: dict[str, Turn] = {}
        for contender, prepare in waiting:
            if (contender.name, length) in self._order.skip:
                continue
            if (ready := self._try(contender, length, prepare)) is not None:
                self._kept.append(ready)
                turns[contender.name] = self._turn(ready.replay)
        return turns

    def _try(self, contender: Contender, length: int, prepare: Callable[[], Ready]) -> Ready | None:
        """Prepares a contender, and tells how that went. A context that was lost by it raises GiveUpError."""
        name = contender.name
        self._tell(Starting(name, length))
        try:
            ready = prepare()
            self._device.synchronise()
        except AbsentError as absent:
            self._tell(LeftOut(name, length, MISSING, str(absent)))
            return None
        except CaptureError as error:
            traceback.print_exc()
            self._tell(LeftOut(name, length, REFUSED, str(error)))  # as for whatever else a peer raises
            raise GiveUpError from error
        except Exception as error:
            traceback.print_exc()  # into the log
            outcome = FAILED if contender.kind == RUNG else REFUSED
            self._tell(LeftOut(name, length, outcome, first_line(error)))
            try:
                self._device.synchronise()
            except Exception as lost:
                raise GiveUpError from lost
            return None
        self._tell(Prepared(name, length, ready.output, ready.how))
        return ready

    def _rung(self, rung: Loaded, length: int, memory: Memory) -> Ready:
        device = self._device
        player = Player(
            device.driver,
            device.stream,
            rung.image,
            rung.plans[length],
            memory.blocks,
            {},
            rung.kernels,
        )

        def play() -> None:
            for step in player.steps:
                if int(code := step.call(*step.arguments)[0]) != 0:
                    raise RuntimeError(f"the launch in line {getattr(step.item, 'line', None)} fails: {code}")

        for _ in range(WARM_UP_CALLS):
            play()
        device.synchronise()
        graph = device.capture(play)
        memory.scrub()
        player.restore()
        graph.replay()
        output = memory.outputs()[0].view(np.float32).reshape(length, contract.D)
        return Ready(graph.replay, output, "", player)

    def _peer(self, peer: Contender, length: int, memory: Memory) -> Ready:
        if self._peers is None:
            raise AbsentError(self._absent)
        self._peers.give(memory.blocks[PACKED].address, length)
        captured = self._peers.capture(peer)
        return Ready(captured.replay, captured.output, captured.how, captured.kept)
