"""How long units take, what they allocate beyond their results, and how these lie in memory: measured on real tensors of the same
sizes, or a roofline."""

import operator
import time
import warnings

import torch
from torch import fx

from . import _joint, _layouts, _peak, _recurrent
from . import _private as private

MEASURED = {}  # key of a unit -> (ns, scratch bytes, layouts of its results)
FAILED = {}  # key of a unit that could not be measured -> why, of the graph that is compiled
COLLECTIVES = ("c10d", "symm_mem", "dtensor")  # parts of their namespaces
ROUNDS = 4  # of measuring, and tracing anew
ROOFLINE = {"cpu": (5e10, 1e10), "cuda": (3e13, 2e12)}  # flop/s, bytes/s
MARK = "ebb.unit"
SHORT_NS, MORE_RUNS = 500_000, 2  # the least of some runs, where that costs little


def unit_key(joint, unit):
    """The same for units that do the same work on tensors of the same kind."""
    if unit.fused is not None:
        return unit.fused.key
    node = unit.node
    return f"{node.target}{' restored' if node in joint.restored else ''}", repr(fx.map_arg((node.args, node.kwargs), lambda n: _layouts.describe(joint.value_of(n), True)))


def operand(joint, node):
    """Of a recurrent layer's gradient, which reads a workspace that only the layer itself can fill: on made-up bytes it crashes."""
    source = node.args[0] if node.target is operator.getitem else node
    if source.target is not _recurrent.OP:
        return _layouts.real(joint.value_of(node))
    args, kwargs = fx.map_arg((source.args, source.kwargs), lambda n: _layouts.real(joint.value_of(n)))
    made = _recurrent.callable_of(source.target)(*args, **kwargs)
    return made[node.args[1]] if source is not node else made


def recurrent(node):
    return isinstance(node.target, torch._ops.OpOverload) and "rnn" in node.target._schema.name


def roofline(unit):
    tensors = [t for n in unit.nodes for m in (n, *n.all_input_nodes) for t in _joint.tensors_of(m.meta.get("val"))]
    device = next((t.device.type for t in tensors), "cpu")
    flops, rate = ROOFLINE.get(device, ROOFLINE["cpu"])
    n_bytes = sum(private.hint(t.numel()) * t.element_size() for t in tensors)
    work = 0
    if unit.fused is None and getattr(unit.node.target, "overloadpacket", None) is not None:
        from torch.utils.flop_counter import flop_registry

        count = flop_registry.get(unit.node.target.overloadpacket)
        if count is not None:
            try:
                shaped = fx.map_arg((unit.node.args, unit.node.kwargs), lambda n: n.meta.get("val"))
                work = private.hint(count(*shaped[0], **shaped[1], out_val=unit.node.meta.get("val")))
            except (TypeError, ValueError, AssertionError, AttributeError):
                work = 0
    return int(1e9 * (work / flops + n_bytes / rate)) + 2000


def unmeasurable(unit):
    """Why a unit is not run on made-up tensors; "" if it may be. Custom ops may: torch.library has them declare what they change, and those that
    registered other effects stand within a higher-order op. Of recurrent ops only oneDNN's layer may, whose workspace is known (operand)."""
    if unit.fused is not None:
        return ""
    target = unit.node.target
    if target in private.AUTO_FUNCTIONALIZED:  # an op that changes its operands, on copies of these
        target = unit.node.args[0]
    if not isinstance(target, torch._ops.OpOverload):
        return "a higher-order op"
    return "recurrent on a GPU" if recurrent(unit.node) and "mkldnn_rnn_layer" not in target._schema.name else ""


class Runnable:
    """The unit as a function without arguments, on tensors of its own."""

    def __init__(self, joint, unit):
        if unit.fused is not None:
            self.target, self.args, self.kwargs = unit.fused, [_layouts.real(root.meta["val"]) for root in unit.roots], {}
        else:
            node = unit.node
            real = operand if recurrent(node) else (lambda joint, n: _layouts.real(joint.value_of(n)))
            made = {n: real(joint, n) for n in node.all_input_nodes}
            self.args, self.kwargs = fx.map_arg((node.args, node.kwargs), made.get)
            self.target = _layouts.target_of(joint, node)
        self.given = {private.storage_key(t) for t in private.tree_leaves((self.args, self.kwargs)) if isinstance(t, torch.Tensor)}

    def __call__(self):
        return self.target(*self.args, **self.kwargs)

    def made_bytes(self, results):
        """Of results that lie in no operand."""
        made = {private.storage_key(t): t.untyped_storage().nbytes() for t in _joint.tensors_of(results)}
        return sum(n_bytes for key, n_bytes in made.items() if key not in self.given)


def clock(run, device):
    """(ns, bytes of the results, how they lie). Of one thread it is processor time, which those that share the machine do not change."""
    now = time.thread_time_ns if device.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter_ns
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    began = now()
    results = run()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    taken = now() - began
    return taken, run.made_bytes(results), _layouts.layout(results)


def device_of(unit):
    return next((t.device for n in unit.nodes for t in _joint.tensors_of(n.meta.get("val"))), torch.device("cpu"))


def measure_cuda(run, device):
    clock(run, device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    taken, results, layouts = clock(run, device)
    taken = min(taken, clock(run, device)[0])
    return taken, max(0, torch.cuda.max_memory_allocated(device) - before - results), layouts


def measure_cpu(joint, units):
    """{key: (ns, scratch bytes, layouts)} of units on the CPU, in one session of the profiler, which sees every allocation. A unit's
    tensors are there while it is measured: never more than one op takes."""
    from torch.profiler import ProfilerActivity, profile, record_function

    found, results, layouts = {}, {}, {}
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as session:
        for i, (key, unit) in enumerate(units.items()):
            try:
                run = None
                run = Runnable(joint, unit)
                clock(run, torch.device("cpu"))
                with record_function(f"{MARK} {i}"):
                    found[key], results[key], layouts[key] = clock(run, torch.device("cpu"))
                for _ in range(MORE_RUNS if found[key] < SHORT_NS else 0):
                    found[key] = min(found[key], clock(run, torch.device("cpu"))[0])
            except Exception as error:  # a custom op may raise anything, on operands that are none of its own
                results[key], FAILED[key] = None, why(error)
    events = session.profiler.kineto_results.events()
    spans = {e.name(): (e.start_ns(), e.end_ns()) for e in events if e.name().startswith(MARK)}
    changes = _peak.changes_of(session)
    place, measured = 0, {}
    for i, key in enumerate(units):
        if results[key] is None:
            continue
        began, ended = spans[f"{MARK} {i}"]
        while place < len(changes) and changes[place][0] < began:
            place += 1
        live = peak = 0
        while place < len(changes) and changes[place][0] <= ended:
            live += changes[place][1]
            peak = max(peak, live)
            place += 1
        measured[key] = (found[key], max(0, peak - results[key]), layouts[key])
    return measured


def measure_all(joint, keys):
    """Fills MEASURED with what it lacks of these {unit: key}."""
    wanted = {}
    with private.no_modes(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        for unit, key in keys.items():
            if key in MEASURED or key in wanted or key in FAILED or idle(unit) or unmeasurable(unit):
                continue
            if device_of(unit).type == "cpu":
                wanted[key] = unit
            elif device_of(unit).type == "cuda":
                try:
                    MEASURED[key] = measure_cuda(Runnable(joint, unit), device_of(unit))
                except Exception as error:
                    FAILED[key] = why(error)
        if wanted:
            MEASURED.update(measure_cpu(joint, wanted))


def idle(unit):
    """Assertions and the like take nothing, collectives nothing but their results: run here alone they would wait for the other ranks."""
    if unit.fused is not None:
        return False
    space = getattr(unit.node.target, "namespace", "")
    return "assert" in str(unit.node.target) or any(part in space for part in COLLECTIVES) or not _joint.tensors_of(unit.node.meta.get("val"))


def why(error):
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def warn_of_unmeasured(keys):
    """A plan counts nothing for what such ops allocate beyond their results."""
    unknown = {}
    for unit, key in keys.items():
        reason = "" if key in MEASURED or idle(unit) else unmeasurable(unit) or FAILED.get(key)
        if reason:
            unknown.setdefault(str(unit.node.target), reason)
    if unknown:
        named = "; ".join(f"{op} ({reason})" for op, reason in unknown.items())
        warnings.warn(f"ebb.torch: not measured, so that the budget counts no scratch of theirs: {named}: leave a reserve for it", stacklevel=2)


def measure(joint, costs="measured"):
    """Fills in the units' times (of "roofline": by that) and scratch bytes, and puts results where they lie. Each kind of unit is measured once in
    a process."""
    FAILED.clear()
    for _ in range(ROUNDS):
        keys = {unit: unit_key(joint, unit) for unit in joint.units}
        measure_all(joint, keys)
        if not _layouts.settle(joint, lambda unit: MEASURED[keys[unit]][2] if keys[unit] in MEASURED else None):  # noqa: B023
            break
    warn_of_unmeasured(keys)
    for unit in joint.units:
        taken, unit.scratch_bytes, _ = MEASURED.get(keys[unit]) or (None, 0, None)
        unit.time_ns = roofline(unit) if taken is None or costs == "roofline" else taken


def estimate(joint):
    """Times by the roofline, and no scratch: no tensor is made but a few rows for an LSTM."""
    for unit in joint.units:
        unit.time_ns = roofline(unit)
        if unit.fused is None and unit.node.target is _recurrent.OP:
            with private.no_modes(), torch.no_grad():
                n_bytes = _recurrent.workspace_bytes(fx.map_arg(unit.node.args, joint.value_of))
            for _, value in unit.outputs:
                if value.index == 3:
                    value.bytes = n_bytes
