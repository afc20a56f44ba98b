"""Stand-ins for the process that measures: each tells what a test needs, in a process that is there."""

from __future__ import annotations

import os
import sys
import time
from multiprocessing.connection import Connection

import numpy as np

from tilestep.bench.messages import Facts, LeftOut, Order, Prepared, Starting, Timed, Timing


def _names(order: Order, length: int) -> list[str]:
    return [one.name for one in order.peers if (one.name, length) not in order.skip]


def _measure(connection: Connection, order: Order, length: int) -> None:
    names = _names(order, length)
    for name in names:
        connection.send(Starting(name, length))
        connection.send(Prepared(name, length, np.zeros((length, 1), dtype=np.float32)))
    connection.send(Timing(length))
    connection.send(Timed(length, dict.fromkeys(names, (1.0,)), dict.fromkeys(names, 1), 0.002))


def works(connection: Connection, order: Order, log: str) -> None:
    connection.send(Facts({"torch": "0"}))
    for length in order.packed:
        _measure(connection, order, length)


def dies_at_flash(connection: Connection, order: Order, log: str) -> None:
    """The second contender ends the process whenever it is prepared."""
    connection.send(Facts({}))
    for length in order.packed:
        for name in _names(order, length):
            if name.startswith("sdpa-flash"):
                connection.send(Starting(name, length))
                with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123
                    file.write("a long story\nillegal instruction\n")
                os._exit(9)
        _measure(connection, order, length)


def gives_up_on_flash(connection: Connection, order: Order, log: str) -> None:
    """The second contender is told of, and then the process ends."""
    connection.send(Facts({}))
    for length in order.packed:
        for name in _names(order, length):
            if name.startswith("sdpa-flash"):
                connection.send(Starting(name, length))
                connection.send(LeftOut(name, length, "failed", "it cannot be captured"))
                sys.exit(1)
        _measure(connection, order, length)


def dies_while_timing(connection: Connection, order: Order, log: str) -> None:
    """The first length's times are never told."""
    connection.send(Facts({}))
    for length in order.packed:
        if length == 2:
            connection.send(Timing(length))
            os._exit(9)
        _measure(connection, order, length)


def never_starts(connection: Connection, order: Order, log: str) -> None:
    os._exit(9)


def dies_of_pytorch(connection: Connection, order: Order, log: str) -> None:
    """Where there are peers, nothing is ever told."""
    if order.peers:
        os._exit(9)
    connection.send(Facts({}))
    for length in order.packed:
        names = [rung.contender.name for rung in order.rungs]
        connection.send(Timed(length, dict.fromkeys(names, (1.0,)), dict.fromkeys(names, 1), 0.002))


def hangs(connection: Connection, order: Order, log: str) -> None:
    """The first contender is prepared for ever, at the first length."""
    connection.send(Facts({}))
    for length in order.packed:
        for name in _names(order, length):
            if length == 2 and name.startswith("sdpa-math"):
                connection.send(Starting(name, length))
                time.sleep(600)
        _measure(connection, order, length)
