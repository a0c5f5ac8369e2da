"""Pieces of `scripts/gpu-check` that only a GPU or PyTorch reaches: which device is asked, its meter, PyTorch's side."""
import contextlib
import ctypes
import importlib
import os
import sys
import types

from gpu_check_fakes import SCRIPT, program
from tester import equal, holds

sys.path.insert(0, str(SCRIPT.parent / "gpu"))
import device  # noqa: E402
import machine  # noqa: E402
import meter  # noqa: E402
import pytorch  # noqa: E402


def the_device_that_was_named_is_asked(_):
    equal([machine.ordinal(name) for name in (None, "cpu", "cuda", "cuda:1")], [0, 0, 0, 1])
    asked = []

    class Library:
        def __getattr__(self, name):
            return lambda *args: asked.append((name, args)) or 0

    kept, ctypes.CDLL = ctypes.CDLL, lambda _: Library()
    try:
        with contextlib.suppress(ZeroDivisionError):  # no time has passed
            device.copies("cudart", 1)
    finally:
        ctypes.CDLL = kept
    equal(asked[0], ("cudaSetDevice", (1,)))


# ---- the meter ------------------------------------------------------------------------------------------

def clocks_are_those_of_a_device_that_works(_):
    text = "345, 70.1, 0x0000000000000001\n1980, 600.0, 0x0000000000000000\n1700, 690.5, 0x0000000000000004\n[N/A], [N/A], x\n19"
    told = meter.summary(meter.samples_of(text), 70.1)
    equal((told["samples"], told["least_mhz"], told["most_watts"], len(told["reasons"])), (2, 1700, 690.5, 2), told)
    equal((meter.summary([], 0), meter.summary(meter.samples_of("345, 70, 0x1\n345, 72, 0x1"), 69),
           meter.fields_of("cpu", None)), (None,) * 3)


# A driver that does not know one of the words. Its first line is late, as a driver's is.
SMI = """#!/bin/sh
case "$*" in *event_reasons*) exit 2 ;; NO_INSTANT *-lms*) ;; "-i 0000:1b:00.0 "*) echo '345, 70, 0x0'; exit 0 ;; *) exit 2 ;; esac
case "$*" in "-i 0000:1b:00.0 "*) sleep 0.2; printf '345, 70, 0x0\\n1980, 600.0, 0x0\\n'; exec sleep 20 ;; esac
"""


def metered(t, no_instant, work):
    """What a meter of a device tells, for which there are this driver and its command."""
    program(t, "smi/nvidia-smi", SMI.replace("NO_INSTANT", no_instant))
    path, kept = os.environ["PATH"], machine.bus_id
    os.environ["PATH"], machine.bus_id = f"{t.folder}/smi:{path}", lambda _: "0000:1b:00.0"
    try:
        one = meter.Meter("cuda:0")
        with one.of("ebb"):
            work()
    finally:
        os.environ["PATH"], machine.bus_id = path, kept
    return one


def the_meter_asks_by_the_word_that_the_driver_knows(t):
    for no_instant, power in (("", "power.draw.instant"), ("*draw.instant*) exit 2 ;;", "power.draw")):
        one = metered(t, no_instant, lambda: None)  # the first sample is waited for: no work is too short for it
        equal(one.fields, f"clocks.sm,{power},clocks_throttle_reasons.active")
        told = one.told("ebb")
        holds(told is not None, one.samples)
        equal((told["mhz"], told["idle_watts"], told["samples"], one.told("eager")), (1980, 70, 1, None))


# ---- PyTorch's side -------------------------------------------------------------------------------------

def flags_of_the_other_precision_are_refused(_):
    class Answers:
        def __init__(self, told):
            self.told = told

        def read(self, *_):
            return self.told

    equal(pytorch.greet(Answers({"tf32": [True, True]}), None, "eager-tf32")["tf32"], [True, True])
    for name, told in (("eager", {"tf32": [True, True]}), ("eager-tf32", {"tf32": [True, False]}), ("eager", {}),
                       ("eager-tf32", {"tf32": None})):
        try:
            pytorch.greet(Answers(told), None, name)
            raise AssertionError(f"{name} {told} passes")
        except machine.Unproven:
            pass


@contextlib.contextmanager
def worker_of(torch):
    """The worker's module, for which this is PyTorch."""
    parts = {"torch": torch, "torch.nn": torch.nn, "torch.utils": torch, "torch.utils.checkpoint": torch}
    kept = {name: sys.modules.get(name) for name in parts}
    sys.modules.update(parts)
    try:
        yield importlib.import_module("torch_worker")
    finally:
        sys.modules.pop("torch_worker", None)
        for name, module in kept.items():
            sys.modules.pop(name) if module is None else sys.modules.update({name: module})


def made_up_torch(**more):
    nn = types.SimpleNamespace(Module=object)
    return types.SimpleNamespace(__spec__=None, __path__=[], nn=nn, checkpoint=None, **more)


def the_worker_tells_what_it_did(_):
    def sgd(_, fused=False, **__):
        if fused:
            raise RuntimeError("no fused SGD here")

    counters = {"inductor": {"cudagraph_skips": 3}}
    with worker_of(made_up_torch(optim=types.SimpleNamespace(SGD=sgd))) as worker:
        equal([worker.sgd([], fused, cuda)[1] for fused, cuda in ((True, True), (False, True), (True, False))],
              ["foreach", "foreach", "single"])
        equal(worker.graph_skips(), None, "a version without the counter")
        worker.say_skips()
    dynamo = types.SimpleNamespace(utils=types.SimpleNamespace(counters=counters))
    with worker_of(made_up_torch(_dynamo=dynamo, optim=types.SimpleNamespace(SGD=lambda _, **__: None))) as worker:
        equal((worker.graph_skips(), worker.sgd([], True, True)[1]), (3, "fused"))


def the_worker_takes_the_named_device_and_tells_its_memory(_):
    asked = []
    cuda = types.SimpleNamespace(memory_reserved=lambda: 9, max_memory_reserved=lambda: 8, max_memory_allocated=lambda: 7,
                                 set_device=asked.append)

    def stop(_):
        raise InterruptedError

    with worker_of(made_up_torch(cuda=cuda, manual_seed=stop)) as worker:
        for name in ("cuda:1", "cuda", "cpu"):
            with contextlib.suppress(InterruptedError):
                worker.Training("eager", "", 1, 8, name)
        equal(asked, [1, 0])
        for kind, told in (("graphs", {"memory": "reserved_bytes", "reserved_bytes": 9}),
                           ("eager", {"memory": "steady_peak_bytes", "steady_peak_bytes": 7, "overall_peak_bytes": 7,
                                      "reserved_bytes": 8})):
            one = worker.Training.__new__(worker.Training)
            one.kind, one.most = kind, 0
            equal(one.memory(), told)


TESTS = [
    the_device_that_was_named_is_asked,
    clocks_are_those_of_a_device_that_works,
    the_meter_asks_by_the_word_that_the_driver_knows,
    flags_of_the_other_precision_are_refused,
    the_worker_tells_what_it_did,
    the_worker_takes_the_named_device_and_tells_its_memory,
]
