"""How each compiler is asked for the builds of a submission, and for the runtime.

fast: optimised, no hooks. record: neither, for its kernels do not run. checked: every memory access calls a
hook of the runtime. The hooks come from the compiler's ThreadSanitizer pass (`-fsanitize=thread` to compile,
never to link: the runtime is ours).
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tilestep.emulator.cache import Cache, digest
from tilestep.emulator.compilers import Compiler

Flavour = Literal["fast", "checked", "record"]

# Same for every flavour and compiler. -w: a submission's warnings are between it and nvcc.
_ALWAYS = ("-std=c++17", "-w", "-pthread", "-gdwarf-4", "-U_FORTIFY_SOURCE")

# Taken where the compiler knows them. A plain executable with local thread variables: who the running CUDA
# thread is costs one load. Stack probes: a large frame must meet its fiber's guard page, never step over it.
# Null pointers: an access through one is a fault to be found, not licence to drop the code around it.
_WHERE_KNOWN = (
    "-fno-pie",
    "-ftls-model=local-exec",
    "-fno-stack-protector",
    "-fstack-clash-protection",
    "-fcf-protection=none",
    "-fno-ipa-icf",
    "-fno-delete-null-pointer-checks",
    "-ffp-contract=fast",
)

# One known compiler; every trial would be slow at its first use. It hooks position-independent code only.
_ZIG = {
    "compile": [
        "-fPIE",
        "-ftls-model=local-exec",
        "-fno-stack-protector",
        "-fstack-clash-protection",
        "-fcf-protection=none",
        "-fno-delete-null-pointer-checks",
        "-ffp-contract=fast",
    ],
    # -O2, so that all links share the startup code that zig builds for it, once.
    "link": ["-O2", "-pthread", "-pie"],
}

# -O3 unrolls early, as nvcc does, so that a thread's small arrays become registers. nvcc also inlines every
# device function that it can; left as calls, small ones that take float4 by value slow a kernel down by a
# factor of four, and their arguments pass through hooked memory.
_OPTIMISED_GCC = ("-O3", "-finline-functions", "--param=max-inline-insns-auto=1000")
_OPTIMISED_CLANG = ("-O3", "-mllvm", "-inline-threshold=1000")

_RECORD = ("-DTILESTEP_RECORDING=1",)

# A hook must tell its line and its access: no merged tails, no duplicated barriers, no vectors.
_CHECKED = (
    "-fsanitize=thread",
    "-fno-strict-aliasing",
    "-fno-optimize-sibling-calls",
    "-DTILESTEP_CHECKED=1",
)
_CHECKED_GCC = (
    "-Wno-tsan",
    "-D__builtin_memmove=tilestep_seen_memmove",  # std::copy, which g++ does not report
    "-fno-tree-vectorize",
    "-fno-crossjumping",
    "-fno-tree-tail-merge",
    "-fno-thread-jumps",
    "-fno-unswitch-loops",
    "-fno-split-loops",
    "-fno-split-paths",
    "-fno-ipa-cp-clone",
)
# Without read-before-write clang drops the read of `a[0] += 1`. Its exception handling would need a library.
_CHECKED_CLANG = (
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
    "-mllvm",
    "-tsan-handle-cxx-exceptions=0",
    "-mllvm",
    "-simplifycfg-sink-common=false",
    "-mllvm",
    "-simplifycfg-hoist-common=false",
    "-mllvm",
    "-enable-tail-merge=false",
    "-mllvm",
    "-jump-threading-threshold=0",
    "-mllvm",
    "-simplifycfg-max-small-block-size=0",
    "-mllvm",
    "-unswitch-threshold=0",
    "-mllvm",
    "-disable-early-taildup",
    "-mllvm",
    "-disable-tail-duplicate",
    "-mllvm",
    "-tail-dup-placement=false",
    "-fno-vectorize",
    "-fno-slp-vectorize",
)


@dataclass(frozen=True)
class Recipe:
    """Arguments of the compiler: to compile a submission, to compile the runtime, to link the two.

    `links` are tried in order: the first needs least.
    """

    compile: tuple[str, ...]
    runtime: tuple[str, ...]
    links: tuple[tuple[str, ...], ...]


class Toolchain:
    """A compiler, and what it was found to support (asked once, kept in the cache)."""

    def __init__(self, compiler: Compiler, cache: Cache, tries: Callable[[list[str], str], bool]) -> None:
        """`tries(arguments, source)` compiles and links a small program and says whether that worked."""
        self.compiler = compiler
        self._tries = tries
        self.stamp = digest(compiler.stamp, *compiler.argv, _processor())  # of what `native` code depends on
        known = _ZIG if compiler.kind == "zig" else self._ask_once(cache)
        self._known = tuple(known["compile"])
        link = tuple(known["link"])
        # Linking without libc++ first: zig would build that library, which takes a minute, at its first use.
        self._links = ((*link, "-nostdlib++"), link) if compiler.kind == "zig" else (link,)

    def recipe(self, flavour: Flavour) -> Recipe:
        common = (*_ALWAYS, *self._known)
        if self.compiler.kind != "gcc":
            common = (*common, "-fno-sanitize=undefined")  # zig asks for it by itself
        runtime: tuple[str, ...] = (*common, "-O2", "-fno-exceptions", "-fno-rtti")
        if flavour == "record":
            return Recipe((*common, "-O0", "-g1", *_RECORD), (*runtime, *_RECORD), self._links)
        gcc = self.compiler.kind == "gcc"
        optimised = (*common, *(_OPTIMISED_GCC if gcc else _OPTIMISED_CLANG), "-g1")
        if flavour == "fast":
            return Recipe(optimised, runtime, self._links)
        hooks = (*_CHECKED, *(_CHECKED_GCC if gcc else _CHECKED_CLANG))
        return Recipe((*optimised, *hooks), (*runtime, "-DTILESTEP_CHECKED=1"), self._links)

    def _ask_once(self, cache: Cache) -> dict[str, list[str]]:
        name = "flags-" + digest(self.stamp, *_WHERE_KNOWN)
        path = cache.get_or_write(name, lambda: json.dumps(self._probe()))
        known: dict[str, list[str]] = json.loads(path.read_text())
        return known

    def _probe(self) -> dict[str, list[str]]:
        source = "#include <cmath>\nint main(int n, char**) { return std::isnan(double(n)); }\n"
        compile_flags = self._those_known([*_WHERE_KNOWN, *_machine_flags()], source)
        # Static: a quicker start, and nothing of the system to find at run time.
        wishes = [["-static"], ["-static-libgcc", "-static-libstdc++"]]
        position = [] if sys.platform == "darwin" else ["-no-pie"]
        link = position
        for wish in wishes:
            if self._tries([*_ALWAYS, *compile_flags, *position, *wish], source):
                link = [*position, *wish]
                break
        return {"compile": compile_flags, "link": ["-pthread", *link]}

    def _those_known(self, flags: list[str], source: str) -> list[str]:
        strict = [] if self.compiler.kind == "gcc" else ["-Werror=unused-command-line-argument"]
        if self._tries([*flags, *strict], source):
            return flags
        return [flag for flag in flags if self._tries([flag, *strict], source)]


def _machine_flags() -> list[str]:
    """nvcc fuses a * b + c by itself; where this processor can, so do we."""
    return ["-march=native"] if platform.machine() in ("x86_64", "AMD64") else []


def _processor() -> str:
    """What `native` means here: a cache folder may be shared between machines."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    lines = re.findall(r"^(?:flags|Features|model name|CPU part)\s*:.*$", text, re.MULTILINE)
    return "\n".join(sorted(set(lines)))
