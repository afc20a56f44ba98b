"""Builds a submission's translation unit for the CPU: compile, link with the runtime, keep by content."""

from __future__ import annotations

import functools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tilestep import contract
from tilestep.emulator.cache import Cache, digest
from tilestep.emulator.compilers import Compiler
from tilestep.emulator.expansion import NEUTRAL, Expansion, defined_names, neutral_macros, own_lines
from tilestep.emulator.object_file import forbidden_call, taken_name
from tilestep.emulator.sandbox import Ended, Limits, private_folder, run_limited
from tilestep.emulator.system_calls import OF_OBJECTS
from tilestep.emulator.toolchain import Flavour, Toolchain

_HERE = Path(__file__).parent
_INCLUDE = _HERE / "include"
_RUNTIME = _HERE / "runtime"
_CHECKERS = _HERE / "checkers"
_CONFINE = _HERE / "confine"

_CONTRACT = "tilestep_contract.h"
_PRELUDE = f'#include "{_CONTRACT}"\n#include "cuda_runtime.h"\n'

_MIB = 1024 * 1024
COMPILE_SECONDS = 60.0
_COMPILE_LIMITS = Limits(
    seconds=COMPILE_SECONDS,
    cpu_seconds=COMPILE_SECONDS,
    memory_bytes=4096 * _MIB,
    address_bytes=8192 * _MIB,
    folder_bytes=512 * _MIB,
    open_files=256,
    locked=False,
)
_LARGEST_EXPANSION = (
    32 * _MIB
)  # with all that standard headers hold; macros of macros make as much as they like
# In a linker's complaint: what only the C++ library can resolve.
_OF_THE_LIBRARY = ("std::", "__cxa_", "_Unwind_", "__gxx_personality", "operator new", "operator delete")
# Our own sources: long enough for a compiler that builds its own libraries first.
_FIRST_USE_LIMITS = Limits(
    seconds=600.0, memory_bytes=8192 * _MIB, file_bytes=4096 * _MIB, folder_bytes=4096 * _MIB, locked=False
)


_FIRST = "cuda_runtime.h"  # which every submission begins with
_C_HEADERS = ("cmath", "cstdio", "cstdlib", "cstring", "ctime")  # which it includes


class CompileError(Exception):
    """The compiler refused a submission, or gave up on it, or what it made breaks a rule.

    `stderr` is what it said; `why` is a sentence where a limit or a rule of ours ended it, else empty.
    `outcome` is broken, or refused for a rule.
    """

    def __init__(self, stderr: str, why: str = "", outcome: str = "broken") -> None:
        super().__init__(why or stderr)
        self.stderr = stderr
        self.why = why
        self.outcome = outcome


class RuntimeBuildError(Exception):
    """Our own part does not build here: never the submission's fault."""


class Builder:
    """Builds with one compiler into one cache. Safe to use from several threads and processes."""

    def __init__(self, compiler: Compiler, cache: Cache) -> None:
        self.compiler = compiler
        self.cache = cache
        zig = cache.folder / "zig"
        self._environment = {"ZIG_GLOBAL_CACHE_DIR": str(zig)} if compiler.kind == "zig" else {}

    @functools.cached_property
    def toolchain(self) -> Toolchain:
        return Toolchain(self.compiler, self.cache, self._tries)

    @functools.cached_property
    def confine(self) -> Path:
        """The program that takes rights away from another and becomes it."""
        sources = sorted(_CONFINE.iterdir())
        link = self.toolchain.recipe("fast").links[0]
        arguments = ["-std=c++17", "-O2", "-w", str(_CONFINE / "confine.cpp"), *link]
        name = "confine-" + digest(self.toolchain.stamp, *arguments, *(path.read_bytes() for path in sources))
        return self.cache.get_or_make(name, lambda to: self._trusted(arguments, to))

    def build(self, source: str, flavour: Flavour) -> Path:
        """The executable for a translation unit. Raises CompileError, or RuntimeBuildError: our fault."""
        recipe = self.toolchain.recipe(flavour)
        runtime = self.runtime(flavour)
        name = f"{flavour}-" + digest(
            self.toolchain.stamp,
            runtime.name,
            contract.header(),
            *OF_OBJECTS,
            *recipe.compile,
            *recipe.links[-1],
            source,
        )
        if found := self.cache.get(name):
            return found
        confine, prelude = self.confine, self.prelude(flavour)
        return self.cache.get_or_make(
            name, lambda to: self._submission(source, flavour, runtime, prelude, confine, to)
        )

    def expand(self, text: str, file: str) -> Expansion | None:
        """The lines of `text` that a #line gives to `file`, after the preprocessor; None if it gave up.

        CUDA's macros are defined there and expand to themselves, those of a header once `text` includes it as
        NEUTRAL/name; beside that it includes standard headers only.
        """
        flags = self.toolchain.recipe("fast").compile
        macros, confine = self._macros, self.confine
        with private_folder() as folder:
            for name, header in macros.items():
                path = folder / NEUTRAL / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(header)
            (folder / "submission.cpp").write_text(text, encoding="utf-8")
            included = ["-include", f"{NEUTRAL}/{_FIRST}", "-I.", f"-I{_INCLUDE}"]
            try:
                self._untrusted(
                    [*flags, *included, "-E", "submission.cpp", "-o", "expanded.i"], folder, confine
                )
            except CompileError:
                return None  # the compiler will tell, at the person's own line
            output = folder / "expanded.i"
            if output.stat().st_size > _LARGEST_EXPANSION:
                return None
            expansion = own_lines(output.read_text("utf-8", "replace"), file)
        return replace(expansion, macros=defined_names("".join(macros.values())))

    @functools.cached_property
    def _macros(self) -> dict[str, str]:
        """For each CUDA header one that defines its macros as themselves, on top of the C library's."""
        flags = self.toolchain.recipe("fast").compile
        headers = (_FIRST, *_cuda_headers())

        def defined(*names: str) -> str:
            with private_folder() as folder:
                source, output = folder / "headers.cpp", folder / "headers.i"
                source.write_text("".join(f"#include <{name}>\n" for name in names))
                self._trusted([*flags, f"-I{_INCLUDE}", "-dM", "-E", str(source)], output)
                return _text(output.read_bytes())

        def make() -> str:
            known = defined(*_C_HEADERS)
            first = defined(*_C_HEADERS, _FIRST)
            with ThreadPoolExecutor() as pool:
                more = pool.map(lambda name: defined(*_C_HEADERS, _FIRST, name), headers[1:])
            made = {
                name: neutral_macros(first, listed) for name, listed in zip(headers[1:], more, strict=True)
            }
            included = "".join(f"#include <{name}>\n" for name in _C_HEADERS)
            return json.dumps({**made, _FIRST: included + neutral_macros(known, first)})

        parts = (self.toolchain.stamp, _own_sources(), *headers, *flags)
        made: dict[str, str] = json.loads(
            self.cache.get_or_write("macros-" + digest(*parts), make).read_text()
        )
        return made

    def runtime(self, flavour: Flavour) -> Path:
        """The runtime's object for a flavour, one translation unit."""
        recipe = self.toolchain.recipe(flavour)
        name = f"runtime-{flavour}-" + digest(self.toolchain.stamp, _own_sources(), *recipe.runtime) + ".o"
        if found := self.cache.get(name):
            return found
        unit = "".join(f'#include "{path}"\n' for path in sorted(_RUNTIME.glob("*.cpp")))
        folders = [f"-I{folder}" for folder in (_INCLUDE, _RUNTIME, _CHECKERS)]

        def make(to: Path) -> None:
            with private_folder() as folder:
                (folder / "runtime.cpp").write_text(unit)
                self._trusted([*recipe.runtime, *folders, "-c", str(folder / "runtime.cpp")], to)

        return self.cache.get_or_make(name, make)

    def prelude(self, flavour: Flavour) -> Path:
        """The header that every submission begins with. Where g++ compiles, it lies there compiled, too.

        That halves the time that a submission takes. A compiler that cannot use the compiled header, and a
        cache that has dropped it, take the text.
        """
        flags = self.toolchain.recipe(flavour).compile
        parts = (self.toolchain.stamp, _own_sources(), contract.header(), *flags)
        name = f"prelude-{flavour}-{digest(*parts)}.h"
        if self.compiler.kind == "gcc":
            self.cache.get_or_make(f"{name}.gch", lambda to: self._compiled_prelude(flags, to))
        return self.cache.get_or_write(name, lambda: _PRELUDE)

    def _compiled_prelude(self, flags: tuple[str, ...], to: Path) -> None:
        with private_folder() as folder:
            (folder / _CONTRACT).write_text(contract.header())
            (folder / "prelude.h").write_text(_PRELUDE)
            included = [f"-I{folder}", f"-I{_INCLUDE}"]
            self._trusted([*flags, *included, "-x", "c++-header", str(folder / "prelude.h")], to)

    def _submission(
        self, source: str, flavour: Flavour, runtime: Path, prelude: Path, confine: Path, to: Path
    ) -> None:
        recipe = self.toolchain.recipe(flavour)
        with private_folder() as folder:
            (folder / _CONTRACT).write_text(contract.header())
            (folder / "submission.cpp").write_text(source, encoding="utf-8")
            included = ["-include", str(prelude), "-I.", f"-I{_INCLUDE}"]
            compiled = [*included, "-c", "submission.cpp", "-o", "submission.o"]
            self._untrusted([*recipe.compile, *compiled], folder, confine)
            if says := forbidden_call(folder / "submission.o"):
                raise CompileError("", says, "refused")
            if says := taken_name(folder / "submission.o", runtime):
                raise CompileError("", says)
            self._link(["submission.o", str(runtime)], recipe.links, folder, confine)
            to.write_bytes((folder / "submission").read_bytes())
        to.chmod(0o700)

    def _link(
        self, objects: list[str], ways: tuple[tuple[str, ...], ...], folder: Path, confine: Path
    ) -> None:
        for link in ways:
            if link is not ways[0]:
                self._make_library(link)
            try:
                self._untrusted([*objects, *link, "-o", "submission"], folder, confine)
            except CompileError as failed:
                needs_library = any(sign in failed.stderr for sign in _OF_THE_LIBRARY)
                if failed.why or link is ways[-1] or not needs_library:
                    raise
            else:
                return

    def _make_library(self, link: tuple[str, ...]) -> None:
        """Lets zig build its C++ library, once; that takes longer than a submission's compilation may."""

        def make(to: Path) -> None:
            with private_folder() as folder:
                (folder / "first.cpp").write_text(
                    "#include <string>\nint main() { return std::string().size(); }\n"
                )
                self._trusted([str(folder / "first.cpp"), *link], to)

        self.cache.get_or_make("library-" + digest(self.toolchain.stamp, *link), make)

    def _untrusted(self, arguments: list[str], folder: Path, confine: Path) -> None:
        """The compiler on a submission: its input may be made to exhaust it."""
        environment = {
            **self._environment,
            **({"ZIG_LOCAL_CACHE_DIR": str(folder)} if self._environment else {}),
        }
        ended: Ended = run_limited(
            [*self.compiler.argv, *arguments], folder, _COMPILE_LIMITS, confine, environment
        )
        if ended.why:
            raise CompileError(_text(ended.stderr), f"compiling was ended: {ended.why}")
        if ended.code != 0:
            raise CompileError(_text(ended.stderr))

    def _trusted(self, arguments: list[str], to: Path) -> None:
        """The compiler on our own sources."""
        said = self._compile([*arguments, "-o", str(to)])
        if said.why:
            raise RuntimeBuildError(f"{self.compiler.name}, on tilestep's own code, was ended: {said.why}")
        if said.code != 0:
            complaint = _text(said.stderr).strip()
            raise RuntimeBuildError(
                f"{self.compiler.name} does not compile tilestep's own runtime:\n{complaint}"
            )
        to.chmod(0o700)

    def _tries(self, arguments: list[str], source: str) -> bool:
        with private_folder() as folder:
            path = folder / "probe.cpp"
            path.write_text(source)
            return self._compile([*arguments, str(path), "-o", str(folder / "probe")]).code == 0

    def _compile(self, arguments: list[str]) -> Ended:
        """Our own sources, with our own environment; an interrupt ends it like any other run."""
        with private_folder() as folder:
            environment = {**os.environ, "LC_ALL": "C", **self._environment, "TMPDIR": str(folder)}
            return run_limited(
                [*self.compiler.argv, *arguments], folder, _FIRST_USE_LIMITS, None, environment
            )


def _cuda_headers() -> list[str]:
    """The CUDA headers that a submission may include without an error."""
    return sorted(path.name for path in _INCLUDE.glob("*.h") if "#error" not in path.read_text())


@functools.cache
def _own_sources() -> str:
    """One digest over all that goes into the runtime and its headers."""
    parts: list[str | bytes] = []
    for folder in (_INCLUDE, _RUNTIME, _CHECKERS):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                parts += [str(path.relative_to(folder)), path.read_bytes()]
    return digest(*parts)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
