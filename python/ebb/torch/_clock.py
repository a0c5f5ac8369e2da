"""Units run on made-up tensors: how long they take, what they allocate, and how their results lie."""

import contextlib
import operator
import time

import torch
from torch import fx

from . import _heap, _joint, _layouts, _peak, _recurrent
from . import _private as private

aten = torch.ops.aten
MARK = "ebb.unit"
PIVOTED = {aten.linalg_lu_solve.default: 1, aten.lu_unpack.default: 1}  # which operand has rows that are counted from 1
SHORT_NS = 2_000_000  # what takes less is run again, without the profiler, which takes as long as a short op
BATCHES, BATCH_NS, MOST = 3, 100_000, 8  # the least mean of some batches of runs


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


def choose(indices, values):
    """Masks among the indices choose as many elements as other indices name, or as values are given; made up, they would choose none."""
    masks = [i for i in indices if i is not None and i.dtype is torch.bool]
    named = [i.numel() for i in indices if i is not None and i.dtype is not torch.bool] or list(values.shape[:1])
    for mask in masks:
        mask.copy_((torch.arange(mask.numel(), device=mask.device) < max([1, *named])).view(mask.shape))


class Runnable:
    """The unit as a function without arguments, on tensors of its own."""

    def __init__(self, joint, unit):
        if unit.fused is not None:
            self.target, self.args, self.kwargs = unit.fused, [_layouts.real(root.meta["val"]) for root in unit.roots], {}
        else:
            node = unit.node
            real = operand if recurrent(node) else (lambda joint, n: _layouts.real(joint.value_of(n)))
            made = {n: real(joint, n) for n in node.all_input_nodes}
            if node.target in PIVOTED:
                made[node.args[PIVOTED[node.target]]].fill_(1)
            self.args, self.kwargs = fx.map_arg((node.args, node.kwargs), made.get)
            if node.target is aten.index_put.default:
                choose(*self.args[1:3])
            self.target = _layouts.target_of(joint, node)
        self.given = {private.storage_key(t) for t in private.tree_leaves((self.args, self.kwargs)) if isinstance(t, torch.Tensor)}

    def __call__(self):
        return self.target(*self.args, **self.kwargs)

    def made_bytes(self, results):
        """Of results that lie in no operand."""
        made = {private.storage_key(t): t.untyped_storage().nbytes() for t in _joint.tensors_of(results)}
        return sum(n_bytes for key, n_bytes in made.items() if key not in self.given)


def timer(device):
    """Of one thread it is processor time, which those that share the machine do not change."""
    return time.thread_time_ns if device.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter_ns


def clock(run, device):
    """(ns, bytes of the results, how they lie)."""
    now = timer(device)
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


def measure_cpu(joint, units, failed):
    """{key: (ns, scratch bytes, layouts)} of units on the CPU; `failed` gets {key: error} of others. A unit's tensors are there while it is measured:
    never more than one op takes."""
    _heap.keep(max(bytes_of(unit) for unit in units.values()))
    found = allocations(joint, units, failed)
    for key, (taken, scratch, layouts) in found.items():
        if taken < SHORT_NS:
            with contextlib.suppress(Exception):  # a custom op may tire of it: what it took before stands
                run = Runnable(joint, units[key])
                run()
                found[key] = min(taken, short_ns(run, taken)), scratch, layouts
    return found


def bytes_of(unit):
    nodes = {m for n in unit.nodes for m in (n, *n.all_input_nodes)}
    return sum(private.storage_bytes(t) for n in nodes for t in _joint.tensors_of(n.meta.get("val")))


def short_ns(run, guess):
    """As a step runs it: its operands just made, its memory used before."""
    now, n = timer(torch.device("cpu")), max(1, min(MOST, BATCH_NS // max(1, guess)))
    least = guess
    for _ in range(BATCHES):
        began = now()
        for _ in range(n):
            run()
        least = min(least, (now() - began) // n)
    return least


def allocations(joint, units, failed):
    """As measure_cpu, in one session of the profiler, which sees every allocation."""
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
            except Exception as error:  # a custom op may raise anything, on operands that are none of its own
                results[key], failed[key] = None, error
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


# ---- views ----

VIEWS = {}  # an op that makes views -> ns: whatever the tensor's size


def view_ns(joint, node):
    """Of a node that makes no bytes. Only the processor pays for it: a GPU works on meanwhile."""
    tensors = _joint.tensors_of(node.meta.get("val"))
    if not isinstance(node.target, torch._ops.OpOverload) or not tensors or any(t.device.type != "cpu" for t in tensors):
        return 0
    if node.target not in VIEWS:
        try:
            with private.no_modes(), torch.no_grad():
                run = Runnable(joint, _joint.Unit([node]))
                VIEWS[node.target] = short_ns(run, min(clock(run, torch.device("cpu"))[0] for _ in range(2)))
        except (RuntimeError, TypeError, ValueError):  # what lies otherwise than the graph says is copied there first
            return 0
    return VIEWS[node.target]


def add_views(joint):
    """Views are made once in a half for those that read them, and anew for what runs again: a unit's time has its part of those it reads."""
    above = {}
    for node in joint.graph.nodes:
        below = [view for n in _joint.operands(node) for view in above.get(n, ())]
        if node in joint.free:
            above[node] = dict.fromkeys([*below, node])
    views = {unit: dict.fromkeys(v for n in _joint.operands(unit.node) for v in above.get(n, ())) for unit in joint.units if unit.fused is None}
    readers = {}
    for unit, read in views.items():
        for view in read:
            readers[view, unit.late] = readers.get((view, unit.late), 0) + 1
    for unit, read in views.items():
        unit.time_ns += int(sum(view_ns(joint, view) / readers[view, unit.late] for view in read))
