"""Runs a program that nobody vouches for: bounded in time, memory, disk and output, in a folder of its own.

The kernel's limits, the system-call filter and the file rules are set by `confine` (a small program of ours
that then becomes the other; `confine/confine.cpp`), so nothing of this process runs between fork and exec.
What the kernel cannot bound, resident memory, the folder's size and the wall clock, is watched from here.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_WATCH_SECONDS = 0.05  # between two looks at memory and disk
_KEEP_BYTES = 256 * 1024  # of standard output, and of standard error
_MIB = 1024 * 1024

_live: dict[int, int] = {}  # process groups that run now, and the thread that waits for each
_ending = threading.Event()
_live_guard = threading.RLock()  # an interrupt may come while this thread holds it


@dataclass(frozen=True)
class Limits:
    """What a program may use. `seconds` are of the wall clock, `memory_bytes` what is resident at once."""

    seconds: float = 20.0
    cpu_seconds: float = 60.0
    memory_bytes: int = 2048 * _MIB
    address_bytes: int = 64 * 1024 * _MIB  # reserved: most of the stacks and shadow memory is never touched
    file_bytes: int = 128 * _MIB  # one file
    folder_bytes: int = 256 * _MIB  # all files of the private folder
    output_bytes: int = 64 * _MIB  # printed, in all
    open_files: int = 64
    locked: bool = True  # no processes, no sockets, no files outside the private folder


@dataclass(frozen=True)
class Ended:
    """How a program ended: `code` is its exit status, or minus the number of the signal that ended it.

    `why` says in one sentence what ended it, and is empty when it ended by itself.
    """

    code: int
    why: str
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only this user can read, deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="tilestep-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stop_everything(threads: Collection[int] | None = None) -> None:
    """Kills every program that `run_limited` runs now, for these threads (by identifier) or for all."""
    with _live_guard:
        groups = [group for group, thread in _live.items() if threads is None or thread in threads]
    for group in groups:
        _kill(group)


def shut_down() -> None:
    """Kills every program for good, before this process ends: what is started later is killed at once."""
    _ending.set()
    stop_everything()


def run_limited(
    argv: list[str],
    folder: Path,
    limits: Limits,
    confine: Path | None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Runs `argv` (an absolute path first) in `folder` and waits for its end.

    It sees no variable of our environment but PATH, plus `environment`. Without `confine` only what is
    watched from here is bounded.
    """
    command = [*_confined(confine, limits), *argv] if confine else argv
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(folder, environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    with _live_guard:
        _live[process.pid] = threading.get_ident()
        if _ending.is_set():
            _kill(process.pid)
    try:
        watched = _Watched(process, folder, limits, began)
        why, timed_out = watched.until_end()
    finally:
        # The group may outlive its leader, and an interrupt may leave the leader alive. The leader is not
        # reaped before this line, so its number cannot belong to anybody else.
        _kill(process.pid)
        with _live_guard:
            _live.pop(process.pid, None)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
    code = process.returncode
    return Ended(
        code,
        why or _why_signal(code, limits),
        bytes(watched.kept[0]),
        bytes(watched.kept[1]),
        time.monotonic() - began,
        timed_out or code == -signal.SIGXCPU,
    )


def protections(confine: Path) -> dict[str, bool]:
    """What is to be taken away from a program, and whether this system can."""
    said = subprocess.run(
        [confine, "probe"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
    )
    found = (line.rsplit(" ", 1) for line in said.stdout.splitlines())
    return {name: holds == "1" for name, holds in found}


def _confined(confine: Path, limits: Limits) -> list[str]:
    words = [
        str(confine),
        f"memory={limits.address_bytes}",
        f"cpu={max(1, round(limits.cpu_seconds))}",
        f"file={limits.file_bytes}",
        f"files={limits.open_files}",
    ]
    return [*words, *(["locked"] if limits.locked else []), "--"]


def _environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Nothing is inherited but where programs are: secrets live in environments."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C",
        "LC_ALL": "C",
        "TMPDIR": str(folder),
        **more,
    }


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


class _Watched:
    """A running program, its output and what it uses."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, limits: Limits, began: float) -> None:
        self.process = process
        self.folder = folder
        self.limits = limits
        self.deadline = began + limits.seconds
        self.kept = (bytearray(), bytearray())
        self.printed = 0
        self.at_start = _folder_bytes(folder)

    def until_end(self) -> tuple[str, bool]:
        """Reads its output until it ends or must be ended: why (empty: by itself), and was it too slow."""
        next_look = time.monotonic() + _WATCH_SECONDS
        with selectors.DefaultSelector() as selector:
            for pipe, keep in zip((self.process.stdout, self.process.stderr), self.kept, strict=True):
                if pipe is not None:
                    selector.register(pipe, selectors.EVENT_READ, keep)
            while True:
                now = time.monotonic()
                if now >= self.deadline:
                    return f"it was still running after {self.limits.seconds:g} seconds", True
                if now >= next_look:
                    next_look = now + _WATCH_SECONDS
                    if excess := self._excess():
                        return excess, False
                    if _has_ended(self.process, 0.0):  # though a child of its may hold its output open
                        self._take_what_is_there(selector)
                        return "", False
                pause = max(0.0, min(self.deadline, next_look) - now)
                if not selector.get_map():
                    if _has_ended(self.process, pause):
                        return "", False
                    continue
                for key, _ in selector.select(pause):
                    self._take(selector, key)
                if self.printed > self.limits.output_bytes:
                    return f"it printed more than {self.limits.output_bytes // _MIB} MB", False

    def _take(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        data = os.read(key.fd, 65536)
        if not data:
            selector.unregister(key.fileobj)
        self.printed += len(data)
        room = _KEEP_BYTES - len(key.data)
        key.data.extend(data[: max(0, room)])

    def _take_what_is_there(self, selector: selectors.BaseSelector) -> None:
        while self.printed <= self.limits.output_bytes and (ready := selector.select(0)):
            for key, _ in ready:
                self._take(selector, key)

    def _excess(self) -> str:
        if _resident_bytes(self.process.pid) > self.limits.memory_bytes:
            return f"it used more than {self.limits.memory_bytes // _MIB} MB of memory"
        if _folder_bytes(self.folder) - self.at_start > self.limits.folder_bytes:
            return f"it wrote more than {self.limits.folder_bytes // _MIB} MB to disk"
        return ""


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether the program has ended, waiting up to `seconds` for it."""
    until = time.monotonic() + seconds
    pause = 0.0002
    while True:
        if _peek_end(process):
            return True
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 2, 0.02)


def _peek_end(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0  # it has just ended, or the system has no /proc
    return pages * os.sysconf("SC_PAGE_SIZE")


def _folder_bytes(folder: Path) -> int:
    """Bytes on disk below `folder`, links not followed."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_blocks * 512  # noqa: PTH118  (in the watching loop)
    return total


def _why_signal(code: int, limits: Limits) -> str:
    """One sentence for a death by a signal that a limit sends, or by any other."""
    if code >= 0:
        return ""
    known = {
        signal.SIGSYS: "it tried to start a process, open a socket or reach into another process",
        signal.SIGXFSZ: f"it wrote more than {limits.file_bytes // _MIB} MB to one file",
        signal.SIGXCPU: f"it used more than {limits.cpu_seconds:g} seconds of processor time",
        signal.SIGKILL: "it was killed, most likely for want of memory",
        signal.SIGSEGV: "it reached for memory that is not its own (segmentation fault)",
        signal.SIGABRT: "it aborted itself",
        signal.SIGFPE: "it divided an integer by zero",
        signal.SIGILL: "it ran into a trap (illegal instruction)",
        signal.SIGBUS: "it reached for memory that does not exist (bus error)",
    }
    try:
        name = signal.Signals(-code)
    except ValueError:
        return f"it was ended by signal {-code}"
    return known.get(name, f"it was ended by {name.name}")
