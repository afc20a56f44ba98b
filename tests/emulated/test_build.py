"""Building submissions: what is kept, what is refused, what the compiler itself may not do."""

from __future__ import annotations

import multiprocessing
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tilestep import contract
from tilestep.emulator import build as module
from tilestep.emulator.build import Builder, CompileError
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import Compiler, find_compiler
from tilestep.frontends.cuda import load
from tilestep.program import SubmissionError
from tilestep.targets.cpu import CpuTarget

SOURCE = """\
#line 1 "copy.cu"
__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" void tilestep_seam(void* const* p, const int*) {
  ::tilestep::configure(3, "copy", [=](auto... a) { copy(a...); }, dim3(1), dim3(D))(
      static_cast<const float*>(p[0]), static_cast<float*>(p[1]));
}
"""


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder(find_compiler(), Cache())


@pytest.mark.parametrize("flavour", ["fast", "checked"])
def test_the_same_source_is_compiled_once(builder: Builder, flavour: str) -> None:
    first = builder.build(SOURCE, flavour)  # type: ignore[arg-type]
    written = first.stat().st_ctime_ns
    again = Builder(find_compiler(), Cache()).build(SOURCE, flavour)  # type: ignore[arg-type]
    assert again == first
    assert first.stat().st_mode & 0o777 == 0o700
    assert builder.build(SOURCE + "\n", flavour) != first  # type: ignore[arg-type]
    assert written <= first.stat().st_ctime_ns


def test_only_the_checked_flavour_has_hooks_and_none_links_a_sanitizer(builder: Builder) -> None:
    fast, checked = builder.toolchain.recipe("fast"), builder.toolchain.recipe("checked")
    hooks = "-fsanitize=thread"
    assert [hooks in fast.compile, hooks in checked.compile] == [False, True]
    assert not any(hooks in link for link in (*fast.links, *checked.links, fast.runtime, checked.runtime))


def test_a_syntax_error_is_the_submissions(builder: Builder) -> None:
    with pytest.raises(CompileError) as failed:
        builder.build(SOURCE.replace("x[threadIdx.x]", "x["), "fast")
    assert "copy.cu:1:" in failed.value.stderr
    assert failed.value.why == ""


def test_an_undefined_function_is_the_submissions(builder: Builder) -> None:
    with pytest.raises(CompileError) as failed:
        builder.build("float nowhere(float);\n" + SOURCE.replace("= x", "= nowhere(0) + x"), "fast")
    assert "nowhere" in failed.value.stderr


def test_a_compilation_without_end_is_ended(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMPILE_LIMITS", replace(module._COMPILE_LIMITS, seconds=1.5))
    endless = """
template <int N> struct Tower { enum { v = Tower<N - 1>::v + Tower<N - 2>::v + N }; };
constexpr long count(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i % 7; return s; }
static_assert(count(30'000'000) + count(30'000'001) + count(30'000'002) > 0);
"""
    with pytest.raises(CompileError) as failed:
        builder.build(endless + SOURCE, "fast")
    assert (
        failed.value.why.startswith("compiling was ended: it was still running")
        or "constexpr" in failed.value.stderr
    )


def test_the_compiler_sees_no_secret(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", "/nowhere/secret")
    monkeypatch.setenv("API_TOKEN", "hush")
    with pytest.raises(CompileError) as failed:
        builder.build(SOURCE + '#include "absent_from_everywhere.h"\n', "fast")
    assert "hush" not in failed.value.stderr
    assert "/nowhere/secret" not in failed.value.stderr


def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    """In a cache of their own, empty but for the runtime, so that both compile."""
    cache = Cache(tmp_path)
    shared = Builder(find_compiler(), Cache())
    for ready in (shared.runtime("fast"), shared.confine):
        (cache.objects / ready.name).hardlink_to(ready) if _same_disk(ready, tmp_path) else _copy(
            ready, cache
        )
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        paths = pool.starmap(_build_in, [(tmp_path, find_compiler())] * 2)
    assert paths[0] == paths[1]
    assert paths[0].is_file()
    assert not list(cache.objects.glob("making-*"))


def _same_disk(one: Path, other: Path) -> bool:
    return one.stat().st_dev == other.stat().st_dev


def _copy(ready: Path, cache: Cache) -> None:
    to = cache.objects / ready.name
    to.write_bytes(ready.read_bytes())
    to.chmod(0o700)


def _build_in(folder: Path, compiler: Compiler) -> Path:
    return Builder(compiler, Cache(folder)).build(SOURCE, "fast")


def test_the_target_explains_what_does_not_compile(tmp_path: Path) -> None:
    path = tmp_path / "broken.cu"
    path.write_text(
        "__global__ void k(float* y) {\n  y[0] = oops;\n}\n"
        "void runRmsNorm(const float* x, const float* weight, float* y, int T) { k<<<1, 1>>>(y); }\n"
    )
    with pytest.raises(SubmissionError) as failed:
        CpuTarget().build(load(path, contract.STEP["rmsnorm"]))
    assert (failed.value.outcome, failed.value.line) == ("broken", 2)
    assert "oops" in failed.value.says


def test_what_the_target_is_called() -> None:
    name = CpuTarget().name
    assert name.startswith("emulator, ")
    assert find_compiler().version in name
    assert CpuTarget().available() is None


def test_without_a_compiler_the_target_says_what_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILESTEP_CXX", "/nowhere/at/all")
    said = CpuTarget().available()
    assert said is not None
    assert "TILESTEP_CXX" in said
    assert CpuTarget().name == "emulator"


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TILESTEP_CACHE", str(tmp_path / "file"))
    said = CpuTarget().available()
    assert said is not None
    assert "TILESTEP_CACHE" in said


def test_the_program_that_locks_others_up_compiles_without_warning(tmp_path: Path) -> None:
    source = Path(module.__file__).parent / "confine" / "confine.cpp"
    compiler = find_compiler()
    said = subprocess.run(
        [
            *compiler.argv,
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-c",
            str(source),
            "-o",
            str(tmp_path / "o"),
        ],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
