"""ebb.torch.compile: torch.compile with a partitioner that plans each graph within its share of the budget."""

import functools
import re
import time
import warnings

import torch

from .._errors import OverBudget
from . import _costs, _emit, _fuse, _joint, _plan, _run
from . import _private as private
from ._before import Before
from ._budget import Budget, Graphs, fixed_bytes, gradients_to_come, parse_bytes
from ._places import place_of
from ._plan import BORDER, STATE

ROUNDING = {"cuda": 512}  # PyTorch's caching allocator; elsewhere the planner's own unit
UNIT = 64
LEAST_TRIES = 3  # a search cut off by the clock may miss what the one before it has found
PLANNING_SECONDS = 3.0
PARTS = (0.8, 0.65, 0.5, 0.35, 0.2, 0)  # of what a graph could keep, tried in this order


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
        self.gradient_bytes, self.held_bytes, self.held_in_order = document.gradient_bytes(), 0, document.held_in_order()
        self.kept_bytes, self.starved = document.kept_bytes(), False


class Backend:
    """A backend of torch.compile: one for each compiled model."""

    def __init__(self, budget, kind, costs, time_limit, effort, part=1):
        self.budget, self.kind, self.costs = budget, kind, costs
        self.time_limit, self.effort, self.part = time_limit, effort, part
        self.plans, self.held = [], 0
        self.ran = []  # plans of the forward halves that this call has run, in their order: a graph may run several times
        self.before = None  # set while graphs share the budget out: one that can not go below its least is given that

    def __call__(self, module, examples):
        inductor = self.kind == "inductor"
        return private.aot_autograd(
            fw_compiler=self._half, bw_compiler=self._half, inference_compiler=self._inference, partition_fn=self.partition,
            decompositions=_fuse.decompositions() if inductor else {}, keep_inference_input_mutations=True,
        )(module, examples)

    def partition(self, module, inputs, *, num_fwd_outputs, **_):
        joint = _joint.Joint(module, num_fwd_outputs, _fuse.groups if self.kind == "inductor" else None)
        (_costs.measure if self.costs == "measured" else _costs.estimate)(joint)
        device = next((t.device.type for n in joint.placeholders for t in _joint.tensors_of(n.meta.get("val"))), "cpu")
        document = _plan.Document(joint, ROUNDING.get(device, UNIT))
        facts = plan_document(document, self.budget, self.held, self.time_limit, self.effort, self.part, self.before is not None)
        emitter = _emit.Emitter(joint, document, facts.plan)
        halves = emitter.emit()
        facts.held_bytes = emitter.held_bytes
        self.plans.append(facts)
        halves[0].meta["ebb"], halves[1].meta["ebb"] = facts.held_bytes, -facts.held_bytes
        halves[0].meta["ebb.plan"] = facts
        halves[0].meta["ebb.changed"] = [i for i, node in enumerate(joint.primals) if node in joint.mutated]
        return halves

    def _half(self, module, examples):
        run, held, changed = _run.make_function(module), module.meta.get("ebb", 0), module.meta.get("ebb.changed", ())
        plan = module.meta.get("ebb.plan")

        def half(args):
            if plan is not None:
                self.ran.append(plan)
            if self.before is not None:
                self.before.keep(args[i] for i in changed)
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


def plan_document(document, budget, held=0, time_limit=PLANNING_SECONDS, effort=0, part=1, whole=False):
    """Within its part of the budget. With `whole`, a graph that can not go as low gets its least: others may go lower for it."""
    began = time.monotonic()
    in_order, kept = document.bytes_in_order(), document.kept_bytes()
    limit = budget.of(document, in_order, held, part)
    options = {"memory": "in_place", "time_limit": time_limit}
    if effort:
        options["effort"] = effort
    if limit is not None and limit < in_order:
        options.update(memory="budget", budget=max(1, limit))
    starved, text = False, document.text("step")
    for again in range(LEAST_TRIES + 1):
        try:
            plan = _plan.make_plan(text, options)
            break
        except OverBudget as error:
            found = re.search(r"smallest found needs (\d+) bytes", str(error))
            least = int(found[1]) if found else 0
            if not whole or not least or again == LEAST_TRIES:
                raise budget.refuse(least + held, in_order + held, kept + held) from None
            starved, options["budget"] = True, least
    facts = GraphPlan(document, plan, limit, time.monotonic() - began)
    facts.starved = starved
    return facts


class Compiled(torch.nn.Module):
    """A model whose steps hold the budget. `plans` has a GraphPlan for each graph that torch.compile made of it."""

    def __init__(self, model, make_backend, dynamic):
        super().__init__()
        self.model, self.make_backend, self.dynamic, self.settled, self.warned = model, make_backend, dynamic, False, False
        self.planned_bytes = 0  # the most that activations and gradients take together, of the calls so far
        self.n_starts = 0
        self.recurrent = recurrent_in_graphs(model)
        self._start(1)

    def _start(self, part):
        self.n_starts += 1
        self.backend = self.make_backend(part)
        run = torch.compile(self.model, backend=self.backend, dynamic=self.dynamic)
        object.__setattr__(self, "compiled", run)  # no part of its own, in which each parameter would have a second name

    @property
    def plans(self):
        return self.backend.plans

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
        """The first call settles how the graphs share the budget. Where they do not hold it together, it is repeated, with less for each,
        from the buffers and generators as they were."""
        if self.settled:
            return self._later_call(args, kwargs)
        before = Before(self.model)
        result, together, holds = self._attempt(args, kwargs, 1, before)
        if not holds and not all(plan.starved for plan in self.plans):
            result, together, holds = self._attempt(args, kwargs, 0, before)  # the least of each: can it be held at all?
            if holds:
                for part in PARTS:
                    result, together, holds = self._attempt(args, kwargs, part, before)
                    if holds:
                        break
        if not holds:
            raise self.backend.budget.refuse(together.planned, together.in_order, together.kept)
        self.settled, self.planned_bytes = bool(self.plans), together.planned
        return result

    def _later_call(self, args, kwargs):
        """Graphs that are new to it, of other sizes say, were planned one by one: nobody may repeat it, but somebody has to be told."""
        n_plans = len(self.plans)
        result = self._call(args, kwargs)
        together = Graphs(self.backend.ran)
        self.planned_bytes = max(self.planned_bytes, together.planned)
        if len(self.plans) > n_plans and not self.backend.budget.holds(together):
            self._warn(f"the graphs of this call take {together.planned} bytes together, more than the budget: make its largest call the first")
        return result

    def _attempt(self, args, kwargs, part, before):
        """(result, Graphs, whether they hold the budget) of a call in which each graph has that part; if they do not, it is taken back."""
        if part != self.backend.part:
            self._start(part)
        self.backend.before, holds = before, False
        try:
            result = self._call(args, kwargs)
            together = Graphs(self.backend.ran)
            holds = self.backend.budget.holds(together)
            return result, together, holds
        finally:
            self.backend.before = None
            if not holds:
                before.restore()

    def _call(self, args, kwargs):
        self.backend.held, self.backend.ran = 0, []
        limit = self.n_starts * torch._dynamo.config.recompile_limit  # code that was compiled before a new start counts for good
        try:
            with torch._dynamo.config.patch(optimize_ddp=False, allow_rnn=self.recurrent, recompile_limit=limit):
                return self.compiled(*args, **kwargs)
        except private.BackendCompilerFailed as error:
            inner = error.inner_exception
        except private.TorchRuntimeError as error:
            inner = RuntimeError(private.untraceable(error))
        raise inner


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
            raise ValueError(f"ebb.torch: {type(part).__name__}: parameters come and go around the whole model's graphs: compile its blocks, "
                             "and then shard them")


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
    check(backend, costs)
    reserve = parse_bytes(reserve) if isinstance(reserve, str) else reserve
    made = Budget(budget, 0, reserve, activations, gradients_to_come(model))
    if made.bytes is not None:
        made.fixed = fixed_bytes(model, optimizer)
    return Compiled(model, lambda part: Backend(made, backend, costs, time_limit, effort, part), dynamic)


def check(backend, costs):
    if backend not in ("eager", "inductor"):
        raise ValueError(f"backend {backend!r}: \"eager\" or \"inductor\"")
    if costs not in ("measured", "roofline"):
        raise ValueError(f"costs {costs!r}: \"measured\" or \"roofline\"")


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
        check(kind, costs)
        return Backend(budget, kind, costs, limit, 0)(module, examples)

    @functools.wraps(ebb)
    def in_one_line(module, examples, **kwargs):
        try:
            return ebb(module, examples, **kwargs)
        except (OverBudget, TypeError, ValueError) as error:
            raise private.unwrapped(error) from None

    torch._dynamo.register_backend(in_one_line, name="ebb")


register()
