"""How long units take, what they allocate beyond their results, and how these lie in memory: measured on real tensors of the same
sizes, or a roofline."""

import warnings

import torch
from torch import fx

from . import _clock, _joint, _layouts, _recurrent
from . import _private as private

MEASURED = {}  # key of a unit -> (ns, scratch bytes, layouts of its results)
FAILED = {}  # key of a unit that could not be measured -> why, of the graph that is compiled
COLLECTIVES = ("c10d", "symm_mem", "dtensor")  # parts of their namespaces
ROUNDS = 4  # of measuring, and tracing anew
ROOFLINE = {"cpu": (5e10, 1e10), "cuda": (3e13, 2e12)}  # flop/s, bytes/s


def unit_key(joint, unit):
    """The same for units that do the same work on tensors of the same kind."""
    if unit.fused is not None:
        return unit.fused.key
    node = unit.node
    return f"{node.target}{' restored' if node in joint.restored else ''}", repr(fx.map_arg((node.args, node.kwargs), lambda n: _layouts.describe(joint.value_of(n), True)))


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
    return "recurrent on a GPU" if _clock.recurrent(unit.node) and "mkldnn_rnn_layer" not in target._schema.name else ""


def measure_all(joint, keys):
    """Fills MEASURED with what it lacks of these {unit: key}."""
    wanted = {}
    with private.no_modes(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        for unit, key in keys.items():
            if key in MEASURED or key in wanted or key in FAILED or idle(unit) or unmeasurable(unit):
                continue
            device = _clock.device_of(unit)
            if device.type == "cpu":
                wanted[key] = unit
            elif device.type == "cuda":
                try:
                    MEASURED[key] = _clock.measure_cuda(_clock.Runnable(joint, unit), device)
                except Exception as error:
                    FAILED[key] = why(error)
        if wanted:
            failed = {}
            MEASURED.update(_clock.measure_cpu(joint, wanted, failed))
            FAILED.update((key, why(error)) for key, error in failed.items())


def idle(unit):
    """Assertions and the like take nothing, collectives nothing but their results: run here alone they would wait for the other ranks."""
    if unit.fused is not None:
        return False
    space = getattr(unit.node.target, "namespace", "")
    if unit.node.target is private.with_effects and _joint.tells(unit.node.args[1]):
        return True
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
    if costs != "roofline":
        _clock.add_views(joint)


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
