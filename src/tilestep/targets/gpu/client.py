"""The target's side of the worker: starts it, asks it, and kills it when an answer does not come."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from tilestep.targets.gpu.card import Facts, NoCardError, no_memory
from tilestep.targets.gpu.interpreter import pythonpath
from tilestep.targets.gpu.wire import Data, Message, WireError, frame, receive
from tilestep.targets.protocol import TargetUnavailableError

_START_SECONDS = 60.0  # a driver that nobody has used since the machine started takes its time
_PIPE_BYTES = 1 << 20
_CHUNK = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux

# Of the environment: what would make launches wait, or let a library of others into the worker.
_UNWANTED = ("CUDA_LAUNCH_BLOCKING", "CUDA_INJECTION64_PATH", "CUDA_API_TRACE", "PYTHONSTARTUP")


class WorkerGoneError(Exception):
    """The worker has ended, or had to be ended. `timed_out` tells which; `item` is what it last began."""

    def __init__(self, says: str, *, timed_out: bool = False, item: int | None = None) -> None:
        super().__init__(says)
        self.timed_out = timed_out
        self.item = item


class WorkerFailedError(Exception):
    """The worker could not do what was asked: our fault, or the driver's; never the submission's."""


class NoMemoryError(TargetUnavailableError):
    """The card has no memory left for what was asked: one sentence, with what mends it."""


class WorkerClient:
    """One worker process, for one thread at a time. It starts by itself; `greet` waits for it."""

    def __init__(self) -> None:
        self._facts: Facts | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed in close)
        self._process = subprocess.Popen(
            # -P: no module is taken from the folder that a submission lies in.
            [sys.executable, "-P", "-m", "tilestep.targets.gpu.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=_environment(),
            start_new_session=True,
            bufsize=0,
        )
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None  # noqa: S101  (asked for above)
            os.set_blocking(pipe.fileno(), False)
            _widen(pipe.fileno())

    def greet(self) -> Facts:
        """What it tells of its card, once it has one. Raises NoCardError; the worker is gone then."""
        if self._facts is None:
            try:
                self._facts = self._hello()
            except BaseException:  # an interrupt, too: nobody is left behind
                self.close()
                raise
        return self._facts

    def _hello(self) -> Facts:
        try:
            hello = self._receive(time.monotonic() + _START_SECONDS)
        except WorkerGoneError as gone:
            says = f"the GPU's worker does not start: {self._last_line() or gone}"
            raise NoCardError(says) from None
        if "unavailable" in hello.body:
            raise NoCardError(str(hello.body["unavailable"]))
        return Facts.unpacked(hello.body["card"])

    @property
    def greeted(self) -> bool:
        return self._facts is not None

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self, body: dict[str, Any], blobs: Sequence[Data] = (), *, seconds: float, grace: float = 0.0
    ) -> Message:
        """The answer to a request. After an exception the worker is gone.

        It may take `seconds` from the first launch that it tells of, and `grace` before that; else both
        together. Raises WorkerGoneError, WorkerFailedError, NoMemoryError, and what `greet` raises.
        """
        facts = self.greet()
        deadline = time.monotonic() + seconds + grace
        item: int | None = None
        try:
            self._send(frame(body, blobs), deadline)
            while "at" in (message := self._receive(deadline)).body:
                if item is None:
                    deadline = min(deadline, time.monotonic() + seconds)
                item = int(message.body["at"])
        except WorkerGoneError as gone:
            self.close()
            raise WorkerGoneError(str(gone), timed_out=gone.timed_out, item=item) from None
        except BaseException:  # an interrupt leaves half an answer in the pipe
            self.close()
            raise
        if "crashed" in message.body or "failed" in message.body:
            self.close()
        if "failed" in message.body:
            says = str(message.body["failed"])
            if message.body.get("no_memory"):
                raise NoMemoryError(no_memory(facts.name, facts.others, says))
            raise WorkerFailedError(says)
        return message

    def kill(self) -> None:
        """Ends the process, from any thread: who waits for it hears of it at once, and has to `close` it."""
        self._process.kill()

    def close(self) -> None:
        """Kills the worker: the driver tidies up behind it."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10.0)
        self._log.close()

    def _send(self, pieces: Sequence[Data], deadline: float) -> None:
        pipe = self._process.stdin
        with selectors.DefaultSelector() as selector:
            selector.register(_open(pipe), selectors.EVENT_WRITE)
            for piece in pieces:
                rest = memoryview(piece)
                while rest:
                    _wait(selector, deadline)
                    try:
                        rest = rest[os.write(_open(pipe), rest[:_CHUNK]) :]
                    except BlockingIOError:
                        continue
                    except OSError:
                        raise WorkerGoneError(self._how_it_ended()) from None

    def _receive(self, deadline: float) -> Message:
        with selectors.DefaultSelector() as selector:
            selector.register(_open(self._process.stdout), selectors.EVENT_READ)
            try:
                return receive(self._reader(selector, deadline))
            except WireError as error:
                raise WorkerGoneError(f"the GPU's worker does not answer in its language: {error}") from None

    def _reader(self, selector: selectors.BaseSelector, deadline: float) -> Callable[[int], Data]:
        handle = _open(self._process.stdout)

        def read(count: int) -> Data:
            data = bytearray(count)
            view, filled = memoryview(data), 0
            while filled < count:
                _wait(selector, deadline)
                try:
                    got = os.readv(handle, [view[filled : filled + _CHUNK]])
                except BlockingIOError:
                    continue
                if got == 0:
                    raise WorkerGoneError(self._how_it_ended())
                filled += got
            return data

        return read

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        code = self._process.returncode
        return f"the GPU's worker ended with exit status {code}"

    def _last_line(self) -> str:
        self._log.seek(0)
        lines = self._log.read(65536).decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1] if said else ""


def _open(pipe: Any) -> int:
    if pipe is None or pipe.closed:
        raise WorkerGoneError("the GPU's worker has ended")
    return int(pipe.fileno())


def _wait(selector: selectors.BaseSelector, deadline: float) -> None:
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise WorkerGoneError("the GPU's worker did not answer in time", timed_out=True)
        if selector.select(left):
            return


def _widen(handle: int) -> None:
    """A larger pipe means fewer turns; where the system allows none, the usual one serves."""
    import fcntl  # not on Windows, where the rest of this package may still be imported

    with contextlib.suppress(OSError):
        fcntl.fcntl(handle, _SET_PIPE_SIZE, _PIPE_BYTES)


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    return {**kept, "PYTHONPATH": pythonpath(), "CUDA_MODULE_LOADING": "EAGER"}
