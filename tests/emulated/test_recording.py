"""A seam that is recorded for a replay: every launch with its symbol and its arguments, and no kernel run."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilestep import contract
from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.emulator.job import run_job
from tilestep.frontends.cuda import load
from tilestep.program import Argument, Buffer, Job, Launch, Place, Run, Transfer

T = 5
JOB = Job(
    (
        Buffer("x", T, contract.D, "in", np.zeros((T, contract.D), np.float32)),
        Buffer("weight", 1, contract.D, "in", np.zeros((1, contract.D), np.float32)),
        Buffer("y", T, contract.D, "out"),
    ),
    (T,),
    mode="record",
    scratch_bytes=1 << 20,
)
SEAM = "void runRmsNorm(const float* x, const float* weight, float* y, int T) {"


def record(folder: Path, text: str) -> Run:
    path = folder / "a.cu"
    path.write_text(text)
    program = load(path, contract.STEP["rmsnorm"])
    builder = Builder(find_compiler(), Cache())
    return run_job(builder.build(program.source, "record"), program.file, JOB, builder.confine)


def only_launch(run: Run) -> Launch:
    assert run.ended == "finished", run.says
    (item,) = run.plan.items
    assert isinstance(item, Launch)
    assert run.plan.launches == (item,)
    return item


def pointer(buffer: str, offset: int = 0) -> Argument:
    return Argument(bytes(8), ((0, Place(buffer, offset)),))


def test_arguments_have_the_types_of_the_parameters(tmp_path: Path) -> None:
    kernel = (
        "__global__ void k(const float* x, float* y, double d, short s, size_t n, float f) { y[0] = d; }\n"
    )
    run = record(tmp_path, f"{kernel}{SEAM} k<<<dim3(T, 2), 64, 8>>>(x + 3, y + T, 1, T, T, 0.5); }}")
    assert only_launch(run) == Launch(
        "k",
        (T, 2, 1),
        (64, 1, 1),
        8,
        2,
        "_Z1kPKfPfdsmf",
        (
            pointer("x", 12),
            pointer("y", 4 * T),
            Argument(struct.pack("d", 1)),
            Argument(struct.pack("h", T)),
            Argument(struct.pack("Q", T)),
            Argument(struct.pack("f", 0.5)),
        ),
    )


@pytest.mark.parametrize(
    ("kernel", "launch", "symbol"),
    [
        ("template <int N, class P> __global__ void k(P y) {}", "k<4>", "_Z1kILi4EPfEvT0_"),
        ("template <class P> __global__ void k(P y) {}", "k", "_Z1kIPfEvT_"),
        ("template <class... P> __global__ void k(P... y) {}", "k", "_Z1kIJPfEEvDpT_"),
        ("namespace a { __global__ void k(float*) {} }", "a::k", "_ZN1a1kEPf"),
        ("namespace { __global__ void k(float* = nullptr) {} }", "k", "_ZN12_GLOBAL__N_11kEPf"),
        ("static __global__ void k(float* y) {}", "k", "_ZL1kPf"),
        ('extern "C" __global__ void k(float* __restrict__ const y) {}', "k", "k"),
        ("__global__ void k(float* y) {} __global__ void k(const double* y) {}", "k", "_Z1kPf"),
        ("__global__ void k(float* y); __global__ void __launch_bounds__(64) k(float* y) {}", "k", "_Z1kPf"),
        ("#define MAKE(name) __global__ void name(float*) { }\nMAKE(k)", "k", "_Z1kPf"),
        ("#define KERNEL __global__ void\nKERNEL k(float* y) {}", "k", "_Z1kPf"),
        ("__global__ void other(float* y) {}\nauto* const table = &other;", "table", "_Z5otherPf"),
    ],
)
def test_every_way_to_write_a_kernel_is_recognised(
    tmp_path: Path, kernel: str, launch: str, symbol: str
) -> None:
    recorded = only_launch(record(tmp_path, f"{kernel}\n{SEAM} {launch}<<<1, 32>>>(y); }}"))
    assert recorded.symbol == symbol
    assert recorded.arguments == (pointer("y"),)


def test_pointers_in_a_struct_are_found(tmp_path: Path) -> None:
    text = (
        """
    struct Work { int rows; const float* x; float scale[30]; float* y; };
    __global__ void k(Work w) { w.y[0] = w.x[0]; }
    """
        + SEAM
        + " Work w{}; w.rows = T; w.x = x; w.y = y + 7; w.scale[29] = 2; k<<<1, 1>>>(w); w.rows = 0; }"
    )
    (argument,) = only_launch(record(tmp_path, text)).arguments
    assert argument.pointers == ((8, Place("x")), (136, Place("y", 28)))
    assert struct.unpack("ixxxxQ30fQ", argument.data) == (T, 0, *[0.0] * 29, 2.0, 0)


def test_transfers_and_scratch_are_in_order(tmp_path: Path) -> None:
    text = (
        """
    __constant__ float table[4];
    __device__ int done[3];
    __global__ void k(float* s, const float* x) { s[0] = x[0] + table[0]; }
    """
        + SEAM
        + """
      float host[2] = {1.0f, T * 1.0f};
      float* s; cudaMalloc(&s, 256); cudaMemset(s, 0x1ff, 256);
      cudaMemcpyToSymbol(table, host, sizeof host, 4);
      host[0] = 9;
      k<<<1, 1>>>(s, x);
      cudaMemcpy(y, s, 128, cudaMemcpyDeviceToDevice);
      cudaFree(s);
    }"""
    )
    run = record(tmp_path, text)
    assert run.ended == "finished", run.says
    fill, table, launch, copied = run.plan.items
    assert fill == Transfer(Place("scratch 1"), 256, None, 0xFF)
    assert table == Transfer(Place("variable table", 4), 8, struct.pack("ff", 1, T))
    assert isinstance(launch, Launch)
    assert launch.arguments[0] == pointer("scratch 1")
    assert copied == Transfer(Place("y"), 128, Place("scratch 1"))
    assert (run.plan.scratch_bytes, run.plan.memsets) == ((256,), 1)
    assert run.plan.variables == {"done": 12, "table": 16}


def test_a_kernel_that_has_no_sense_on_a_cpu_is_not_run(tmp_path: Path) -> None:
    kernel = "__global__ void k(float* y) { while (true) y[blockIdx.x] += 1; }\n"
    recorded = only_launch(record(tmp_path, f"{kernel}{SEAM} k<<<T, 32>>>(y - 3); }}"))
    assert recorded.arguments == (pointer("y", -12),)


def test_two_recordings_are_equal(tmp_path: Path) -> None:
    kernel = "__global__ void k(float* y, const float* x) { y[0] = x[0]; }\n"
    text = f"{kernel}{SEAM} for (int i = 0; i < T; ++i) k<<<1, 32>>>(y + i, x); }}"
    first, second = record(tmp_path, text), record(tmp_path, text)
    assert first.plan == second.plan
    assert len(first.plan.items) == T


def test_what_is_recorded_depends_on_what_the_seam_asks(tmp_path: Path) -> None:
    kernel = "#include <cstdint>\n__global__ void k(float* y, int n) { y[0] = n; }\n"
    text = f"{kernel}{SEAM} k<<<1, 32>>>(y, int((std::uintptr_t(y) >> 16) & 0xffff)); }}"
    plans = {str(record(tmp_path, text).plan.items) for _ in range(4)}
    assert len(plans) > 1, "the addresses of device memory differ from run to run"


def test_a_refused_seam_is_refused(tmp_path: Path) -> None:
    run = record(tmp_path, f"__global__ void k() {{}}\n{SEAM} k<<<1, 1>>>(); y[0] = 1; }}")
    assert run.ended == "refused"
    assert "host code of the seam reads or writes device memory" in run.says


def test_only_its_own_build_records(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(f"__global__ void k(float* y) {{}}\n{SEAM} k<<<1, 1>>>(y); }}")
    program = load(path, contract.STEP["rmsnorm"])
    builder = Builder(find_compiler(), Cache())
    executable = builder.build(program.source, "record")
    with pytest.raises(Exception, match="not built for its mode"):
        run_job(executable, program.file, replace(JOB, mode="fast"), builder.confine)
