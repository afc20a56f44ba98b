"""How a peer is called: ways in turn, reasons in one line, and what is missing told as missing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilestep import contract, reference
from tilestep.bench import torch_peers
from tilestep.bench.contenders import FP32, Contender, peers
from tilestep.bench.torch_peers import AbsentError, CaptureError, TorchPeers, Way, reason_of

BY_NAME = {peer.name: peer for peer in peers()}
PEER = BY_NAME["sdpa-efficient-fp32"]


class Tensor:
    """An output that tells what was done with it."""

    def __init__(self) -> None:
        self.value = 1.0

    def fill_(self, value: float) -> None:
        self.value = value

    def cpu(self) -> Tensor:
        return self

    float = cpu

    def numpy(self) -> np.ndarray:
        return np.full((2, 3), self.value)


class Graph:
    """Replaying sets the output that was made while capturing."""

    made: Tensor

    def __init__(self, keep_graph: bool) -> None:
        assert keep_graph

    def raw_cuda_graph(self) -> int:
        return 42

    def capture_begin(self, capture_error_mode: str) -> None:
        assert capture_error_mode == "thread_local"

    def capture_end(self) -> None:
        pass


def write_seven() -> None:
    Graph.made.value = 7.0


def instantiate(handle: int) -> Callable[[], None]:
    """As if by the driver."""
    assert handle == 42
    return write_seven


def with_ways(*ways: Way) -> TorchPeers:
    """A TorchPeers without PyTorch, that has these ways for everybody."""

    class Peers(TorchPeers):
        def __init__(self) -> None:
            self._instantiate = instantiate
            self.torch = SimpleNamespace(cuda=SimpleNamespace(synchronize=lambda: None, CUDAGraph=Graph))

        def _ways(self, peer: Contender) -> Any:
            return iter(ways)

    return Peers()


def way(says: str, call: Callable[[], Any]) -> Way:
    return Way(says, call, lambda out: out)


def make() -> Tensor:
    Graph.made = Tensor()
    return Graph.made


def refuse() -> Tensor:
    warnings.warn("Memory efficient kernel not used because:", stacklevel=1)
    warnings.warn("Expected dtype Half. Got float (Triggered internally at a.cpp:1.)", stacklevel=1)
    raise RuntimeError("No available kernel. Aborting execution.")


def test_the_first_way_that_works_is_taken_and_its_output_is_that_of_the_replay() -> None:
    captured = with_ways(way("one", refuse), way("two", make), way("three", refuse)).capture(PEER)
    assert captured.how == "two"
    assert np.array_equal(captured.output, np.full((2, 3), 7.0, dtype=np.float32))
    assert captured.output.dtype == np.float32


def test_a_replay_that_writes_nothing_leaves_nan() -> None:
    peers = with_ways(way("one", make))
    peers._instantiate = lambda handle: lambda: None
    assert np.isnan(peers.capture(PEER).output).all()


def test_a_peer_that_refuses_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"^Expected dtype Half\. Got float$"):
        with_ways(way("one", refuse), way("two", refuse)).capture(PEER)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_peer_that_cannot_be_captured_is_told_apart() -> None:
    calls = iter([make, make, make, refuse])
    with pytest.raises(CaptureError, match="cannot be captured in a graph: No available kernel"):
        with_ways(way("one", lambda: next(calls)())).capture(PEER)


def test_a_reason_is_one_short_line() -> None:
    assert reason_of(RuntimeError("first\nsecond"), []) == "first"
    assert reason_of(RuntimeError(""), []) == "RuntimeError"
    assert reason_of(RuntimeError("no kernel"), ["Flash attention has been runtime disabled."]) == "no kernel"
    assert len(reason_of(RuntimeError("x" * 5000), [])) < 500


def test_without_pytorch_every_peer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AbsentError, match="pip install torch"):
        TorchPeers(instantiate)


def test_a_pytorch_without_cuda_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(AbsentError, match="no CUDA"):
        TorchPeers(instantiate)


def test_flash_attention_3_is_missing_with_its_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in torch_peers._FA3_MODULES:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(torch_peers.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AbsentError, match="pip install fa3-fwd"):
        torch_peers._find_fa3()


def test_every_way_of_sdpa_is_attention() -> None:
    """On the CPU, where PyTorch is: the views and the way back are right in every way."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class OnCpu(TorchPeers):
        def __init__(self, packed: np.ndarray) -> None:
            self.torch = torch
            self._packed = {FP32: torch.from_numpy(packed)}

    packed = np.random.default_rng(3).standard_normal((37, contract.QKV_OUT)).astype(np.float32)
    want = reference.attention(packed)
    ways = list(OnCpu(packed)._ways(BY_NAME["sdpa-math-fp32"]))
    assert len(ways) == 3
    for one in ways:
        got = one.rows(one.call()).numpy()
        assert np.linalg.norm(got - want) / np.linalg.norm(want) < 1e-6
