"""ebb.torch.compile: torch.compile with a partitioner that plans each graph within its share of the budget."""

import functools
import math
import re
import time
import warnings

import torch

from .._errors import OverBudget
from . import _costs, _emit, _fuse, _joint, _plan, _run
from . import _private as private
from ._budget import Budget, fixed_bytes, gradients_to_come, parse_bytes
from ._plan import BORDER, STATE

ROUNDING = {"cuda": 512}  # PyTorch's caching allocator; elsewhere the planner's own unit
UNIT = 64
PLANNING_SECONDS = 3.0
PARTS = (0.8, 0.65, 0.5, 0.35, 0.2, None)


class GraphPlan:
    """What became of one graph: `planned_bytes` are the most that its activations and gradients take in a step, in PyTorch's
    order `bytes_in_order`; `document` and `plan` are ebb.graph/1 and ebb.plan/1."""

    def __init__(self, document, plan, budget_bytes, seconds):
        self.budget_bytes, self.planning_seconds = budget_bytes, seconds
        self.plan, self.ops, self.values = plan, document.ops, document.values
        self.places = ["" if unit in (BORDER, STATE) else place_of(unit.node) for unit in document.rows]
        self.planned_bytes, self.arena_bytes = plan["max_live_bytes"], plan["arena_bytes"]
        self.bytes_in_order = document.bytes_in_order()
        self.n_recomputed = sum(step["recompute"] for step in plan["steps"])
        own = sum(op["time_ns"] for op in document.ops)
        self.predicted_added = plan["time_ns"] / own - 1
        self.gradient_bytes, self.held_bytes = document.gradient_bytes(), 0


def place_of(node):
    """The last line of Python that asked for a node."""
    text = node.meta.get("stack_trace") or ""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("File ")]
    return lines[-1].removeprefix("File ") if lines else ""


class Backend:
    """A backend of torch.compile: one for each compiled model."""

    def __init__(self, budget, kind, costs, time_limit, effort, part=1):
        self.budget, self.kind, self.costs = budget, kind, costs
        self.time_limit, self.effort, self.part = time_limit, effort, part
        self.plans, self.held = [], 0

    def __call__(self, module, examples):
        inductor = self.kind == "inductor"
        return private.aot_autograd(
            fw_compiler=self._half, bw_compiler=self._half, inference_compiler=self._inference, partition_fn=self.partition,
            decompositions=_fuse.decompositions() if inductor else {},
        )(module, examples)

    def partition(self, module, inputs, *, num_fwd_outputs, **_):
        joint = _joint.Joint(module, num_fwd_outputs, _fuse.groups if self.kind == "inductor" else None)
        (_costs.measure if self.costs == "measured" else _costs.estimate)(joint)
        device = next((t.device.type for n in joint.placeholders for t in _joint.tensors_of(n.meta.get("val"))), "cpu")
        document = _plan.Document(joint, ROUNDING.get(device, UNIT))
        facts = plan_document(document, self.budget, self.held, self.time_limit, self.effort, self.part)
        emitter = _emit.Emitter(joint, document, facts.plan)
        halves = emitter.emit()
        facts.held_bytes = emitter.held_bytes
        self.plans.append(facts)
        halves[0].meta["ebb"], halves[1].meta["ebb"] = facts.held_bytes, -facts.held_bytes
        return halves

    def _half(self, module, examples):
        run, held = _run.make_function(module), module.meta.get("ebb", 0)

        def half(args):
            self.held = max(0, self.held + held)
            return run(args)

        half._boxed_call = True
        return half

    def _inference(self, module, examples):
        """A graph without gradients holds nothing for later: nothing to plan."""
        if self.kind == "inductor":
            from torch._inductor.compile_fx import compile_fx_inner

            return compile_fx_inner(module, examples)
        return _run.make_function(module)


def plan_document(document, budget, held=0, time_limit=PLANNING_SECONDS, effort=0, part=1):
    began = time.monotonic()
    in_order = document.bytes_in_order()
    limit = budget.of(document, in_order, held, part)
    options = {"memory": "in_place", "time_limit": time_limit}
    if effort:
        options["effort"] = effort
    if limit is not None:
        if limit <= 0:
            raise OverBudget(
                f"ebb.torch: budget {budget.bytes or budget.activations} bytes: parameters, buffers and optimizer states take {budget.fixed}, "
                f"the reserve {budget.reserve}, other graphs {held} and their gradients: nothing is left for activations; raise the budget"
            )
        if limit < in_order:
            options.update(memory="budget", budget=limit)
    try:
        plan = _plan.make_plan(document.text("step"), options)
    except OverBudget as error:
        raise over_budget(error, in_order, document.kept_bytes()) from None
    return GraphPlan(document, plan, limit, time.monotonic() - began)


def over_budget(error, in_order, kept):
    """The library's line, and the smallest budget found for this graph: `least_bytes`, and as a share `least_share`."""
    found = re.search(r"smallest found needs (\d+) bytes", str(error))
    least = int(found[1]) if found else None
    share = None if least is None else min(1.0, math.ceil(1e4 * (least - kept) / max(1, in_order - kept)) / 1e4)
    text = "" if share is None else f", a share of {share}"
    made = OverBudget(f"ebb.torch: {error}{text}; PyTorch's order takes {in_order} bytes")
    made.least_bytes, made.least_share = least, share
    return made


class Compiled(torch.nn.Module):
    """A model whose steps hold the budget. `plans` has a GraphPlan for each graph that torch.compile made of it."""

    def __init__(self, model, make_backend, dynamic):
        super().__init__()
        self.model, self.make_backend, self.dynamic, self.settled, self.warned = model, make_backend, dynamic, False, False
        self.recurrent = recurrent_in_graphs(model)
        self._start(1)

    def _start(self, part):
        self.backend = self.make_backend(part)
        self.compiled = torch.compile(self.model, backend=self.backend, dynamic=self.dynamic)

    @property
    def plans(self):
        return self.backend.plans

    @property
    def planned_bytes(self):
        """The most that activations and gradients take together: graphs run one in another, in the order of their plans."""
        gradients, held, most = sum(plan.gradient_bytes for plan in self.plans), 0, 0
        for plan in self.plans:
            gradients -= plan.gradient_bytes
            most, held = max(most, held + plan.planned_bytes + gradients), held + plan.held_bytes
        return most

    def forward(self, *args, **kwargs):
        outside = private.frames_outside()
        result = self._settled_call(args, kwargs)
        if not self.warned and private.frames_outside() > outside:
            self._warn("parts of the model run outside of graphs, and the budget does not count them: TORCH_LOGS=graph_breaks says why")
        elif not self.warned and not self.backend.plans and torch.is_grad_enabled():
            self._warn("nothing in this call asks for gradients: there is nothing to plan")
        return result

    def _warn(self, text):
        warnings.warn(f"ebb.torch: {text}", stacklevel=3)
        self.warned = True

    def _settled_call(self, args, kwargs):
        if self.settled or self.backend.budget.share is not None:
            return self._call(args, kwargs)
        before = Before(self.model)
        for part in PARTS:
            try:
                result = self._call(args, kwargs)
                self.settled = bool(self.backend.plans)
                return result
            except OverBudget:
                # The graphs before it left too little: all of them keep less, from the state before the call.
                if not self.backend.plans or part == PARTS[-1]:
                    raise
            before.restore()
            self._start(part)

    def _call(self, args, kwargs):
        self.backend.held = 0
        try:
            with torch._dynamo.config.patch(optimize_ddp=False, allow_rnn=self.recurrent):
                return self.compiled(*args, **kwargs)
        except private.BackendCompilerFailed as error:
            inner = error.inner_exception
        except private.TorchRuntimeError as error:
            inner = RuntimeError(private.untraceable(error))
        raise inner


class Before:
    """Buffers and generators as they were before a call."""

    def __init__(self, model):
        self.buffers = [(b, b.detach().clone()) for b in model.buffers()] if isinstance(model, torch.nn.Module) else []
        self.cpu = torch.get_rng_state()
        self.cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []

    def restore(self):
        with torch.no_grad():
            for buffer, value in self.buffers:
                buffer.copy_(value)
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)


def recurrent_in_graphs(model):
    """Whether recurrent layers become parts of graphs. PyTorch's LSTM keeps what no graph can save, and CUDA's are untried."""
    layers = [m for m in model.modules() if isinstance(m, torch.nn.RNNBase)] if isinstance(model, torch.nn.Module) else []
    if any(isinstance(m, torch.nn.LSTM) or p.device.type != "cpu" for m in layers for p in m.parameters()):
        warnings.warn("ebb.torch: nn.LSTM, and recurrent layers on a GPU, run outside of the graphs: the budget does not count them",
                      stacklevel=3)
        return False
    return True


def refuse_parallel(model):
    for part in model.modules() if isinstance(model, torch.nn.Module) else ():
        if "FSDP" in type(part).__name__ or "FullyShardedDataParallel" in type(part).__name__:
            raise ValueError(f"ebb.torch: {type(part).__name__}: sharded parameters come and go outside of the graphs: not supported")


def compile(model, budget=None, *, activations=None, backend="eager", optimizer=None, reserve=0, costs="measured", dynamic=False,
            time_limit=PLANNING_SECONDS, effort=0):
    """The model with a budget for what a step of it takes.

    budget      "11GiB" or bytes: all that the process's tensors take, parameters, buffers and the optimizer's states (when
                `optimizer` is given) included; a float: a share of what the activations take in PyTorch's order; None: no limit
    activations bytes for activations and gradients alone, in place of budget
    reserve     bytes of the budget to leave alone
    backend     "eager": ops one by one; "inductor": groups of ops compiled by Inductor
    costs       "measured" on this device, or "roofline"
    time_limit  seconds of planning for each graph; effort as in docs/tuning.md
    """
    if not callable(model):
        raise TypeError(f"model {model!r}: a module or a function")
    refuse_parallel(model)
    if backend not in ("eager", "inductor"):
        raise ValueError(f"backend {backend!r}: \"eager\" or \"inductor\"")
    if costs not in ("measured", "roofline"):
        raise ValueError(f"costs {costs!r}: \"measured\" or \"roofline\"")
    reserve = parse_bytes(reserve) if isinstance(reserve, str) else reserve
    made = Budget(budget, 0, reserve, activations, gradients_to_come(model))
    if made.bytes is not None:
        made.fixed = fixed_bytes(model, optimizer)
    return Compiled(model, lambda part: Backend(made, backend, costs, time_limit, effort, part), dynamic)


def register():
    """torch.compile(model, backend="ebb", options={"budget": 0.5})."""

    @functools.wraps(Backend.__call__)
    def ebb(module, examples, **kwargs):
        options = dict(kwargs.get("options") or {})
        kind = options.pop("backend", "eager")
        costs, limit = options.pop("costs", "measured"), options.pop("time_limit", PLANNING_SECONDS)
        budget = Budget(options.pop("budget", None), options.pop("fixed", 0), options.pop("reserve", 0))
        if options:
            raise ValueError(f"backend \"ebb\" has no option {sorted(options)[0]!r}")
        return Backend(budget, kind, costs, limit, 0)(module, examples)

    torch._dynamo.register_backend(ebb, name="ebb")


register()
