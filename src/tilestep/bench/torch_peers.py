"""The peers, called through PyTorch: loaded here by name, so that tilestep neither needs nor imports it.

Each is given the same packed tensor, as views; bf16 peers a copy of it in bf16, made beforehand. How a peer
wants to be told that four query heads share one of K and V differs, so the ways are tried in turn.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilestep.bench.contenders import BF16, FA3, FLEX, FP32, SDPA, Contender
from tilestep.contract import DH, GROUP, HKV, HQ, KV, QKV_OUT, D
from tilestep.program import Floats
from tilestep.targets.gpu.race import WARM_UP_CALLS

_FA3_MODULES = ("fa3_fwd_interface", "flash_attn_interface")
_COMPILE_HERE = ("TORCHINDUCTOR_COMPILE_THREADS", "1")  # a few kernels are not worth a pool of processes
_LONGEST_REASON = 300
_MOST_COMPILED = 64  # FlexAttention is compiled anew for each length and precision
MEND = "pip install torch"

GROUPED = "enable_gqa"
SHARED = "two batches of four heads that share K and V"
REPEATED = "K and V repeated for each query head beforehand"


class AbsentError(Exception):
    """A peer, or PyTorch itself, that is not installed: one sentence."""


class CaptureError(Exception):
    """A peer that runs but cannot be captured. PyTorch is in no state to go on after that."""


@dataclass(frozen=True)
class Way:
    """One way to call a peer: `call()` returns its output, `rows` makes that [T, D]."""

    says: str
    call: Callable[[], Any]
    rows: Callable[[Any], Any]


@dataclass(frozen=True)
class Captured:
    """A peer's graph, and what it left in an output that was NaN before.

    `kept` holds the tensors that the graph reads and writes.
    """

    replay: Callable[[], None]
    output: Floats
    how: str
    kept: tuple[Any, ...]


class _Borrowed:
    """Device memory of ours as PyTorch takes it, without a copy."""

    def __init__(self, address: int, length: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (length, QKV_OUT),
            "typestr": "<f4",
            "data": (address, False),
            "version": 3,
        }


class TorchPeers:
    """PyTorch in this process, on a stream of its own that our kernels use too.

    `instantiate` makes a captured graph, given by its handle, ready to be replayed: the peers' graphs are
    launched as ours are, without what PyTorch may add. Raises AbsentError.
    """

    def __init__(self, instantiate: Callable[[int], Callable[[], None]]) -> None:
        self._instantiate = instantiate
        os.environ.setdefault(*_COMPILE_HERE)
        try:
            self.torch: Any = importlib.import_module("torch")
        except ImportError:
            raise AbsentError(f"PyTorch is not installed: {MEND}") from None
        except Exception as error:
            raise AbsentError(f"PyTorch cannot be loaded: {first_line(error)}") from None
        if not self.torch.cuda.is_available():
            raise AbsentError("this PyTorch finds no CUDA")
        try:
            self.torch.set_float32_matmul_precision("highest")
            self.torch.set_grad_enabled(False)
            self._stream = self.torch.cuda.Stream()
            self.torch.cuda.set_stream(self._stream)
            self.versions = self._versions()
        except Exception as error:
            raise AbsentError(f"PyTorch does not start: {first_line(error)}") from None
        self._given = 0
        self._packed: dict[str, Any] = {}
        self._flex: Any = None

    @property
    def stream(self) -> int:
        """The handle of the stream that all work is queued on."""
        return int(self._stream.cuda_stream)

    def _versions(self) -> dict[str, str]:
        """What the peers are made of, by package."""
        torch = self.torch
        found = {"torch": str(torch.__version__), "cuda of torch": str(torch.version.cuda)}
        if cudnn := torch.backends.cudnn.version():
            found["cudnn"] = str(cudnn)
        for package in ("triton", "fa3-fwd", "flash-attn-3"):
            try:
                found[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
        return found

    def give(self, address: int, length: int) -> None:
        """The packed tensor of the next contenders, in device memory; one that they have already stays."""
        if address == self._given:
            return
        torch = self.torch
        packed = torch.as_tensor(_Borrowed(address, length), device="cuda")
        self._packed = {FP32: packed, BF16: packed.to(torch.bfloat16)}
        self._given = address

    def capture(self, peer: Contender) -> Captured:
        """The peer's graph in the first way that it takes.

        Raises AbsentError, CaptureError, and for a peer that refuses, what it raised in the first way.
        """
        refused: Exception | None = None
        for way in self._ways(peer):
            try:
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    for _ in range(WARM_UP_CALLS):
                        way.call()
                    self.torch.cuda.synchronize()
            except Exception as error:
                refused = refused or RuntimeError(reason_of(error, [str(one.message) for one in told]))
                self.torch.cuda.synchronize()  # raises where the context is lost: no use to try on
                continue
            return self._capture(way)
        raise refused or RuntimeError("there is no way to call it")

    def _capture(self, way: Way) -> Captured:
        torch = self.torch
        ours = hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph")
        graph = torch.cuda.CUDAGraph(keep_graph=True) if ours else torch.cuda.CUDAGraph()
        try:
            # torch.cuda.graph would collect garbage first, which takes longer than all else.
            graph.capture_begin(capture_error_mode="thread_local")
            output = way.call()
            graph.capture_end()
            replay = self._instantiate(graph.raw_cuda_graph()) if ours else graph.replay
        except Exception as error:
            raise CaptureError(f"it cannot be captured in a graph: {first_line(error)}") from error
        output.fill_(float("nan"))
        replay()
        torch.cuda.synchronize()
        rows = np.ascontiguousarray(way.rows(output).float().cpu().numpy(), dtype=np.float32)
        return Captured(replay, rows, way.says, (graph, way, output))

    def _ways(self, peer: Contender) -> Iterator[Way]:
        if peer.family == FA3:
            yield self._fa3()
        elif peer.family == FLEX:
            yield self._flex_attention(peer.precision)
        else:
            yield from self._sdpa(SDPA[peer.part][0], peer.precision)

    def _heads(self, precision: str) -> tuple[Any, Any, Any]:
        """Views of Q as [T, HQ, DH], K and V as [T, HKV, DH]."""
        packed = self._packed[precision]
        T = packed.shape[0]
        q = packed[:, :D].view(T, HQ, DH)
        k = packed[:, D : D + KV].view(T, HKV, DH)
        v = packed[:, D + KV :].view(T, HKV, DH)
        return q, k, v

    def _sdpa(self, backend: str, precision: str) -> Iterator[Way]:
        attention = importlib.import_module("torch.nn.attention")
        chosen = getattr(attention.SDPBackend, backend)
        attend = self.torch.nn.functional.scaled_dot_product_attention
        q, k, v = self._heads(precision)
        T = q.shape[0]

        def way(says: str, q: Any, k: Any, v: Any, **options: Any) -> Way:
            def call() -> Any:
                with attention.sdpa_kernel(chosen):
                    return attend(q, k, v, is_causal=True, **options)

            return Way(says, call, lambda out: out.reshape(HQ, T, DH).transpose(0, 1).reshape(T, D))

        batch = tuple(one.transpose(0, 1).unsqueeze(0) for one in (q, k, v))
        yield way(GROUPED, *batch, enable_gqa=True)
        by_group = q.view(T, HKV, GROUP, DH).permute(1, 2, 0, 3)
        shared = (one.transpose(0, 1).unsqueeze(1).expand(HKV, GROUP, T, DH) for one in (k, v))
        yield way(SHARED, by_group, *shared)
        repeated = (one.repeat_interleave(GROUP, dim=1) for one in batch[1:])
        yield way(REPEATED, batch[0], *repeated)

    def _flex_attention(self, precision: str) -> Way:
        flex = importlib.import_module("torch.nn.attention.flex_attention")
        if self._flex is None:
            importlib.import_module("torch._dynamo").config.recompile_limit = _MOST_COMPILED
            self._flex = self.torch.compile(flex.flex_attention, dynamic=False)
        q, k, v = (one.transpose(0, 1).unsqueeze(0) for one in self._heads(precision))
        T = q.shape[2]

        def causal(_batch: Any, _head: Any, query: Any, key: Any) -> Any:
            return query >= key

        mask = flex.create_block_mask(causal, None, None, T, T, device="cuda")
        compiled = self._flex
        return Way(
            "torch.compile, enable_gqa",
            lambda: compiled(q, k, v, block_mask=mask, enable_gqa=True),
            lambda out: out.reshape(HQ, T, DH).transpose(0, 1).reshape(T, D),
        )

    def _fa3(self) -> Way:
        name, module = _find_fa3()
        q, k, v = (one.unsqueeze(0) for one in self._heads(BF16))
        T = q.shape[1]

        def call() -> Any:
            out = module.flash_attn_func(q, k, v, causal=True)
            return out[0] if isinstance(out, tuple) else out

        return Way(name, call, lambda out: out.reshape(T, D))


def _find_fa3() -> tuple[str, Any]:
    """FlashAttention-3's interface by the name under which it is installed. Raises AbsentError."""
    for name in _FA3_MODULES:
        try:
            return name, importlib.import_module(name)
        except ImportError as error:
            if importlib.util.find_spec(name) is not None:
                raise AbsentError(f"{name} cannot be imported: {first_line(error)}") from None
    raise AbsentError("FlashAttention-3 is not installed: pip install fa3-fwd")


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, not too long."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:_LONGEST_REASON]


def reason_of(error: BaseException, told: list[str]) -> str:
    """Why a peer refuses, in one line: what it warned of says more than that no kernel is available."""
    of_backend = [
        text.split(" (Triggered internally")[0].strip().splitlines()[0]
        for text in told
        if text.strip() and "not used because" not in text and "runtime disabled" not in text
    ]
    useful = [text for text in of_backend if "Expected" in text or "requires" in text or "support" in text]
    return (useful[0] if useful else first_line(error))[:_LONGEST_REASON]
