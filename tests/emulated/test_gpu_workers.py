"""How many workers a race has, and what the client makes of one that fails."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from fake_driver import SUBMISSIONS, FakeCard

from tilestep import contract
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job
from tilestep.targets.gpu import GpuTarget, racers, workers
from tilestep.targets.gpu.card import NoCardError
from tilestep.targets.gpu.client import WorkerClient, WorkerGoneError
from tilestep.targets.protocol import Built

Open = Callable[[], GpuTarget]
BUFFERS = (
    Buffer("x", 2, contract.D, "in", np.ones((2, contract.D), np.float32)),
    Buffer("weight", 1, contract.D, "in", np.ones((1, contract.D), np.float32)),
    Buffer("y", 2, contract.D, "out"),
)
JOB = Job(BUFFERS, (2,), mode="fast")
SMALL_L2 = 1024**2


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[WorkerClient]:
    """The workers that a target starts."""
    clients: list[WorkerClient] = []

    class Counted(WorkerClient):
        def __init__(self) -> None:
            super().__init__()
            clients.append(self)

    monkeypatch.setattr(workers, "WorkerClient", Counted)
    monkeypatch.setattr(racers, "WorkerClient", Counted)
    return clients


def template(target: GpuTarget) -> Built:
    return target.build(load(SUBMISSIONS / "template.cu", contract.STEP["rmsnorm"]))


def raced(target: GpuTarget, during: Callable[[], None]) -> None:
    built = template(target)
    with target.race(built, built, JOB) as race:
        pair = race.pair(BUFFERS, user_first=True)
        during()
    assert pair.user.ended == pair.baseline.ended == "finished"
    assert np.array_equal(pair.user.outputs["y"], pair.baseline.outputs["y"])


def test_each_side_of_a_race_has_a_process_of_its_own(
    fake_card: FakeCard, open_target: Open, started: list[WorkerClient]
) -> None:
    fake_card.describe(l2=SMALL_L2)
    alive: list[bool] = []
    raced(open_target(), lambda: alive.extend(client.alive for client in started))
    assert alive == [True, True, True]  # the third is the one that values are judged with
    assert [client.alive for client in started] == [True, False, False]


def test_a_card_for_one_process_is_never_asked_for_two(
    fake_card: FakeCard, open_target: Open, started: list[WorkerClient]
) -> None:
    fake_card.describe(l2=SMALL_L2, compute_mode=3)
    alive: list[bool] = []
    raced(open_target(), lambda: alive.extend(client.alive for client in started))
    assert alive == [False, True]


def test_a_race_takes_the_workers_that_were_started_for_it(
    fake_card: FakeCard, open_target: Open, started: list[WorkerClient]
) -> None:
    fake_card.describe(l2=SMALL_L2)
    target = open_target()
    target.race_soon()
    target.race_soon()  # asked for again, and there already
    alive: list[bool] = []
    raced(target, lambda: alive.extend(client.alive for client in started))
    assert alive == [True, True, True]
    target.race_soon()
    target.close()
    assert len(started) == 5
    assert not any(client.alive for client in started)


def test_a_card_for_one_process_gets_no_worker_ahead(
    fake_card: FakeCard, open_target: Open, started: list[WorkerClient]
) -> None:
    fake_card.describe(l2=SMALL_L2, compute_mode=3)
    target = open_target()
    target.race_soon()
    target.close()
    assert len(started) == 1


def test_a_racer_that_ended_before_its_race_is_replaced(
    fake_card: FakeCard, started: list[WorkerClient]
) -> None:
    ahead = racers.Racers()
    ahead.start()
    first, other = ahead.take()
    ahead.start(1)
    started[2].close()
    (new,) = ahead.take(1)
    assert new is started[3]
    assert new.alive
    for client in (first, other, new):
        client.close()


def test_racers_without_a_card_say_so(fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = racers.Racers()
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(NoCardError, match="does not start"):
        ahead.take()


def test_takers_at_the_same_time_get_what_they_ask_for(
    fake_card: FakeCard, started: list[WorkerClient]
) -> None:
    ahead = racers.Racers()
    ahead.start()
    with ThreadPoolExecutor(max_workers=3) as pool:
        taken = [client for pair in pool.map(lambda _: ahead.take(), range(3)) for client in pair]
    assert len({id(client) for client in taken}) == 6
    assert all(client.alive and client.greeted for client in taken)
    for client in taken:
        client.close()


@pytest.fixture
def never_ready(fake_card: FakeCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that are started from now on never say that they are there."""
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec sleep 50\n")
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(script))


def test_racers_that_are_still_starting_are_ended_at_once(
    never_ready: None, started: list[WorkerClient]
) -> None:
    began = time.monotonic()
    ahead = racers.Racers()
    ahead.start()
    ahead.close()
    assert time.monotonic() - began < 5
    assert [client.alive for client in started] == [False, False]


def test_a_target_can_be_closed_while_its_worker_starts(
    never_ready: None, open_target: Open, started: list[WorkerClient]
) -> None:
    target = open_target()
    with ThreadPoolExecutor(max_workers=1) as pool:
        told = pool.submit(target.available)
        while not started:
            time.sleep(0.01)
        time.sleep(0.1)
        began = time.monotonic()
        target.close()
        assert "does not start" in (told.result() or "")
    assert time.monotonic() - began < 5
    assert not started[0].alive


@pytest.fixture
def client(fake_card: FakeCard) -> Iterator[WorkerClient]:
    made = WorkerClient()
    made.greet()
    yield made
    made.close()


def test_a_request_that_nobody_knows_is_answered(client: WorkerClient) -> None:
    with pytest.raises(Exception, match="there is no request 'dance'"):
        client.ask({"do": "dance"}, seconds=10)


def test_a_worker_that_was_killed_is_gone(client: WorkerClient) -> None:
    os.kill(client._process.pid, signal.SIGKILL)
    with pytest.raises(WorkerGoneError, match="ended") as gone:
        client.ask({"do": "close"}, seconds=10)
    assert not gone.value.timed_out
    assert not client.alive
    with pytest.raises(WorkerGoneError):
        client.ask({"do": "close"}, seconds=10)


def test_a_worker_that_hangs_is_killed_in_time(client: WorkerClient) -> None:
    os.kill(client._process.pid, signal.SIGSTOP)
    with pytest.raises(WorkerGoneError) as gone:
        client.ask({"do": "close"}, seconds=0.5)
    assert gone.value.timed_out
    assert not client.alive


def test_a_worker_ends_when_its_pipe_does(client: WorkerClient) -> None:
    assert client._process.stdin is not None
    client._process.stdin.close()
    assert client._process.wait(timeout=10) == 0


def test_a_worker_that_does_not_start_says_why(fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    client = WorkerClient()
    with pytest.raises(NoCardError, match="does not start"):
        client.greet()
    assert not client.alive


def test_modules_of_the_folder_that_it_is_started_in_are_not_taken(
    fake_card: FakeCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('forged')\n")
    monkeypatch.chdir(tmp_path)
    made = WorkerClient()
    assert made.ask({"do": "close"}, seconds=10).body == {}
    made.close()
