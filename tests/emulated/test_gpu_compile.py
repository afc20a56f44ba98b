"""nvcc and NVRTC on submissions, where this machine has them; neither needs a GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from tilestep import contract
from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.frontends.cuda import load
from tilestep.program import Program, SubmissionError
from tilestep.targets.gpu import compile as compiling
from tilestep.targets.gpu.compile import DeviceCompiler, NoDeviceCompilerError
from tilestep.targets.gpu.images import DeviceImage

KERNELS = """\
__device__ float cache[100];
static __device__ int calls;
static __constant__ float table[4];
namespace { __global__ void hidden(float* y) { y[0] = calls++ + cache[1] + table[2]; } }
static __global__ void quiet(float* y) { y[0] = 1; }
template <int N> __global__ void sized(float* y) { y[0] = N; }
void runRmsNorm(const float* x, const float* weight, float* y, int T) {
  float host[4] = {};
  cudaMemcpyToSymbol(table, host, sizeof host);
  hidden<<<1, 1>>>(y);
  quiet<<<1, 1>>>(y);
  sized<8><<<1, 1>>>(y);
}
"""
HOST_NAMES = ("_ZN12_GLOBAL__N_16hiddenEPf", "_ZL5quietPf", "_Z5sizedILi8EEvPf")


@pytest.fixture(params=["nvcc", "nvrtc"])
def compiler(request: pytest.FixtureRequest) -> DeviceCompiler:
    make = getattr(compiling, request.param)
    try:
        return make(Builder(find_compiler(), Cache()), (9, 0))
    except NoDeviceCompilerError as error:
        pytest.skip(str(error))


def program(folder: Path, text: str) -> Program:
    file = folder / "mine.cu"
    file.write_text(text)
    return load(file, contract.STEP["rmsnorm"])


def test_every_kernel_and_variable_of_a_file_is_in_its_image(
    compiler: DeviceCompiler, tmp_path: Path
) -> None:
    image: DeviceImage = compiler.image(program(tmp_path, KERNELS))
    assert len(image.kernels) == len(HOST_NAMES)
    assert set(image.kernel_names(HOST_NAMES)) == set(HOST_NAMES)
    assert set(image.variable_names(["cache", "_ZL5calls", "_ZL5table"])) == {
        "cache",
        "_ZL5calls",
        "_ZL5table",
    }
    assert image.readable_variables() == {"cache": 400, "calls": 4, "table": 16}


def test_the_contract_comes_before_the_file(compiler: DeviceCompiler, tmp_path: Path) -> None:
    kernel = (
        "__global__ void k(float* y) { __shared__ float row[D]; row[0] = RMS_EPS; y[0] = row[HQ - 8]; }\n"
    )
    seam = "void runRmsNorm(const float* x, const float* weight, float* y, int T) { k<<<T, D>>>(y); }\n"
    assert compiler.image(program(tmp_path, kernel + seam)).kernels == {"_Z1kPf"}


def test_an_error_has_the_persons_line(compiler: DeviceCompiler, tmp_path: Path) -> None:
    broken = KERNELS.replace("y[0] = 1;", "y[0] = nowhere;")
    with pytest.raises(SubmissionError, match=r"mine.cu:5: .*nowhere.* is undefined") as caught:
        compiler.image(program(tmp_path, broken))
    assert caught.value.outcome == "broken"


def test_the_device_compiler_gets_what_the_hosts_preprocessor_made(
    compiler: DeviceCompiler, tmp_path: Path
) -> None:
    text = """\
#include <cfloat>
#include <climits>
#include <cstddef>
#include <math_constants.h>
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
__device__ float of_nvcc[4];
#endif
#if defined(__CUDA_ARCH_LIST__) || defined(__CUDACC_RTC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error a device compiler
#endif
#define TILE 4
__device__ float kept[TILE];
__global__ void k(float* y, const float4* x, unsigned long* sizes) {
  float top = fmaxf(-INFINITY, fmaxf(-FLT_MAX, -CUDART_INF_F));
#pragma unroll TILE
  for (int i = 0; i < TILE; ++i) top = fmaxf(top, __ldg(&x[i]).x);
  y[0] = x == NULL ? NAN : top + HUGE_VALF + FLT_MIN + INT_MAX + UINT_MAX + float(DBL_MAX) + float(M_PI);
  kept[0] = sizes[0] = offsetof(float4, y);
}
void runRmsNorm(const float* x, const float* weight, float* y, int T) { k<<<1, 1>>>(y, NULL, NULL); }
"""
    assert compiler.image(program(tmp_path, text)).readable_variables() == {"kept": 16}


def test_an_array_that_no_step_allows_is_refused_before_a_card_sees_it(
    compiler: DeviceCompiler, tmp_path: Path
) -> None:
    large = KERNELS.replace("cache[100]", "cache[1ull << 37]")
    with pytest.raises(
        SubmissionError, match=r"mine\.cu: the array cache has 549,755,813,888 bytes"
    ) as caught:
        compiler.image(program(tmp_path, large))
    assert caught.value.outcome == "refused"


def test_the_kernel_that_holds_a_stream_is_there(compiler: DeviceCompiler) -> None:
    assert b"tilestep_hold" in compiler.hold()


def test_a_card_that_the_compiler_does_not_know_is_told() -> None:
    if compiling.find_nvcc() is None:
        pytest.skip("no nvcc here")
    old = compiling.nvcc(Builder(find_compiler(), Cache()), (3, 5))
    with pytest.raises(NoDeviceCompilerError, match="does not know this card"):
        old.hold()


class Made:
    """A compiler by name."""

    def __init__(self, name: str) -> None:
        self.name = name


def maker(name: str, why: str = "") -> compiling.Maker:
    def make(builder: Builder, capability: tuple[int, int]) -> DeviceCompiler:
        if why:
            raise NoDeviceCompilerError(why)
        return cast("DeviceCompiler", Made(name))

    return make


def refuses(*names: str) -> Callable[[DeviceCompiler], None]:
    def try_out(compiler: DeviceCompiler) -> None:
        if compiler.name in names:
            raise NoDeviceCompilerError(f"the driver does not load what {compiler.name} compiles")

    return try_out


def choose(makers: list[compiling.Maker], try_out: Callable[[DeviceCompiler], None]) -> DeviceCompiler:
    return compiling.choose(makers, Builder(find_compiler(), Cache()), (9, 0), try_out)


def test_a_compiler_whose_images_the_driver_refuses_makes_room_for_the_next() -> None:
    both = [maker("nvcc"), maker("NVRTC")]
    assert choose(both, refuses()).name == "nvcc"
    assert choose(both, refuses("nvcc")).name == "NVRTC"
    with pytest.raises(NoDeviceCompilerError, match="what nvcc compiles"):
        choose(both, refuses("nvcc", "NVRTC"))


def test_a_compiler_that_is_there_says_more_than_one_that_is_not() -> None:
    missing = maker("nvcc", compiling._NO_COMPILER)
    with pytest.raises(NoDeviceCompilerError, match="what NVRTC compiles"):
        choose([missing, maker("NVRTC")], refuses("NVRTC"))
    with pytest.raises(NoDeviceCompilerError, match="there is no CUDA compiler here"):
        choose([missing, missing], refuses())
