"""ebb.torch.compile: torch.compile with a partitioner that plans each graph within its share of the budget."""

import functools
import gc
import inspect
import warnings

import torch

from .._errors import OverBudget
from . import _autograd
from . import _private as private
from ._backend import Backend, Unsized
from ._before import Before
from ._budget import Budget, fixed_bytes, gradients_to_come, present_gradients
from ._share import Graphs, better, share_out
from ._sizes import Outgrown

PLANNING_SECONDS = 3.0
OFTEN = 4  # calls, one after another, that were compiled anew
ATTEMPTS = 4  # a new start may find other graphs than the one before it: of sizes that are symbols now


def by_key(plans):
    """{key of a graph: its plan}; of a graph that ran at several sizes, that of the largest."""
    return {g.key: plan for g, plan in sorted(plans.items(), key=lambda found: found[0].bytes_in_order)}


class Compiled(torch.nn.Module):
    """A model whose steps hold the budget. `plans` has a GraphPlan for each graph that torch.compile made of it. As with torch.compile, the model
    is the part `_orig_mod`, the prefix of names in state_dict; attributes that are not here are the model's, to read and to write."""

    n_starts_of_all = 0  # in this process

    def __init__(self, model, make_backend, options):
        super().__init__()
        self.make_backend, self.torch_options, self.settled, self.warned = make_backend, options, False, False
        self.backend = self.compiled = None
        self.planned_bytes = 0  # the most that activations and gradients take together, of the calls so far
        self.n_starts, self.n_anew, self.known_sizes = 0, 0, set()  # of calls that held the budget with these plans
        self.scalars = True  # numbers that are read from tensors are parts of graphs
        self.recurrent, self.waiting = recurrent_in_graphs(model), []
        self.training = getattr(model, "training", True)
        self._orig_mod = model
        self._start(None)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            model = self.__dict__.get("_orig_mod", self._modules.get("_orig_mod"))
            if model is None or name == "__deepcopy__":  # of the whole, not of the model
                raise
        return getattr(model, name)

    def __setattr__(self, name, value):
        made = "_orig_mod" in self.__dict__ or "_orig_mod" in self.__dict__.get("_modules", ())
        own = not made or name == "_orig_mod" or name in self.__dict__ or hasattr(type(self), name)
        super().__setattr__(name, value) if own else setattr(self._orig_mod, name, value)

    def __reduce__(self):
        return Compiled, (self._orig_mod, self.make_backend, self.torch_options)

    @property
    def model(self):
        return self._orig_mod

    def _start(self, settled):
        self.n_starts += 1
        Compiled.n_starts_of_all += 1
        if self.n_starts > 1:
            gc.collect()  # what a call that was taken back has made lies in cycles
        self.backend = self.make_backend(settled)
        self.backend.waiting = self.waiting
        self.known_sizes = set()
        run = torch.compile(self.model, backend=self.backend, **self.torch_options)
        object.__setattr__(self, "compiled", run)  # no part of its own, in which each parameter would have a second name

    @property
    def plans(self):
        return self.backend.plans

    def forward(self, *args, **kwargs):
        outside, said = private.frames_outside(), {} if self.warned else private.complaints()
        result = self._settled_call(args, kwargs)
        found = _autograd.Found(result, (args, kwargs))
        _autograd.hang(self.waiting, found.compiled)
        concern = None if self.warned else self._concern(result, found.outside or self.backend.unplanned or private.frames_outside() > outside, said)
        if concern:
            self._warn(concern)
        return result

    def _concern(self, result, outside, said):
        """What the budget does not hold in a call like this one, if anything."""
        if not self.plans and any(t.requires_grad for t in private.tree_leaves(result) if isinstance(t, torch.Tensor)):
            new = [line for line, n in private.complaints().items() if n > said.get(line, 0)]
            reason = new[0] if new else "torch.compile made no graph of it"
            if isinstance(self.model, torch.nn.parallel.DistributedDataParallel):
                reason = "wrap the compiled model, DistributedDataParallel(ebb.torch.compile(model)), not the other way round"
            return f"nothing was planned, the budget is NOT in force: {reason}; TORCH_LOGS=graph_breaks,recompiles says where"
        if outside:
            return "parts of the model run outside of graphs, and the budget does not count them: TORCH_LOGS=graph_breaks,recompiles says why"
        if not self.plans and torch.is_grad_enabled():
            return "nothing in this call asks for gradients: there is nothing to plan"
        kept = self.backend.budget.outgrown(self.planned_bytes, self.model)
        return kept and (f"gradients of {kept} bytes are kept beside those of this step, and with them it takes more than the budget: "
                         "call compile once they are there, or leave a reserve")

    def _warn(self, text):
        warnings.warn(f"ebb.torch: {text}", stacklevel=3)
        self.warned = True

    def _settled_call(self, args, kwargs):
        """The first call settles how the graphs share the budget. Where they do not hold it together, or are slower than they need to be, it is
        repeated, with a plan for each that holds with the others', from the buffers and generators as they were."""
        if self.settled:
            return self._later_call(args, kwargs)
        before, budget = Before(self.model), self.backend.budget
        try:
            result, together, holds = self._attempt(args, kwargs, before)
        except Unsized:
            self.scalars = False
            self._start(None)
            result, together, holds = self._attempt(args, kwargs, before)
        faster = better(self.backend.ran, budget.of_step(together), self.backend.options) if holds else None
        if faster:
            result = None
            before.restore()
            self._start(by_key(faster))
            result, together, holds = self._attempt(args, kwargs, before)
            if not holds:  # it found other graphs
                self._start(None)
                result, together, holds = self._attempt(args, kwargs, before)
        for _ in range(ATTEMPTS - 1):
            runs = self.backend.ran
            if holds:
                break
            shared = share_out(runs, budget.of_step(together), self.backend.options)
            together = Graphs(runs, shared)
            if not budget.holds(together):
                break
            result = None  # with what its graph keeps
            self._start(by_key(shared))
            result, together, holds = self._attempt(args, kwargs, before)
        if not holds:
            if self.backend.symbolic:  # other sizes may hold
                self._start(None)
            raise budget.refuse(together.planned, together.in_order, together.kept)
        self.settled, self.planned_bytes, self.backend.settled = bool(self.plans), max(self.planned_bytes, together.planned), None
        self.backend.n_halves = len(self.backend.ran)
        budget.grant(together)
        return result

    def _later_call(self, args, kwargs):
        """Graphs that are new to it, of other sizes say, were planned one by one: nobody may repeat it, but somebody has to be told. Where a graph of
        symbols would take too much, at sizes that no call had, the call is taken back, and everything is planned anew by its sizes."""
        n_plans, sizes = len(self.plans), private.sizes_of(args, kwargs) if self.backend.symbolic else None
        before = Before(self.model) if sizes is not None and sizes not in self.known_sizes else None
        earlier = _autograd.begin(self.waiting)
        self.backend.later, result, outgrown = before, None, False
        try:
            result = self._call(args, kwargs)
        except Outgrown:
            outgrown = True  # outside of this clause what the call has made is let go
        finally:
            self.backend.later = None
        if outgrown:
            before.restore()
            self.settled = False
            self._start(None)
            return self._settled_call(args, kwargs)
        if before:
            self.known_sizes.add(sizes)
        together = Graphs([*earlier, *self.backend.ran])
        holds = self.backend.budget.holds(together)
        self.planned_bytes = max(self.planned_bytes, together.planned)
        self.backend.budget.grant(together)
        self.n_anew = self.n_anew + 1 if len(self.plans) > n_plans else 0
        if self.n_anew == OFTEN and not self.warned:
            self._warn(f"the last {OFTEN} calls were each compiled anew, for something that is other in every call (the length of a list, a size): "
                       "TORCH_LOGS=recompiles says what; dynamic=True is for sizes")
        if earlier and not holds and not self.warned:
            self._warn(f"with what earlier calls hold for backward halves that have not run, this call takes {together.planned} bytes, more than the "
                       "budget: compile one function that makes all calls of a step")
        elif (self.backend.symbolic or len(self.plans) > n_plans) and not holds:
            self._warn(f"the graphs of this call take {together.planned} bytes together, more than the budget: make its largest call the first")
        return result

    def _attempt(self, args, kwargs, before):
        """(result, Graphs, whether they hold the budget) of a call; if they do not, it is taken back."""
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
        _autograd.begin(self.waiting)
        limits = private.limits(Compiled.n_starts_of_all)  # code that was compiled before a new start counts for good
        try:
            with torch._dynamo.config.patch(optimize_ddp=False, allow_rnn=self.recurrent, **private.whole_graphs(self.scalars), **limits):
                return self.compiled(*args, **kwargs)
        except private.BackendCompilerFailed as error:
            inner = error.inner_exception
        except private.TorchRuntimeError as error:
            inner = RuntimeError(private.untraceable(error))
        raise inner


def recurrent_in_graphs(model):
    """Whether recurrent layers become parts of graphs: those of CUDA are untried."""
    layers = [m for m in model.modules() if isinstance(m, torch.nn.RNNBase)] if isinstance(model, torch.nn.Module) else []
    if any(p.device.type != "cpu" for m in layers for p in m.parameters()):
        warnings.warn("ebb.torch: recurrent layers on a GPU run outside of the graphs: the budget does not count them", stacklevel=3)
        return False
    return True


def refuse_parts(model):
    for part in model.modules() if isinstance(model, torch.nn.Module) else ():
        if isinstance(part, Compiled):
            raise ValueError("ebb.torch: the model, or a part of it, is compiled by ebb.torch already: compile the module that was given then")
        if "FSDP" in type(part).__name__ or "FullyShardedDataParallel" in type(part).__name__:
            raise ValueError(f"ebb.torch: {type(part).__name__}: parameters come and go around the whole model's graphs: compile its blocks, "
                             "and then shard them")


def compile(model=None, budget=None, *, activations=None, backend="eager", optimizer=None, reserve=0, costs="measured", dynamic=False,
            fullgraph=False, time_limit=PLANNING_SECONDS, effort=0, **others):
    """The model with a budget for what a step of it takes.

    budget      "11GiB" or bytes: all that the process's tensors take, parameters, buffers and the optimizer's states (when
                `optimizer` is given) included; a float: a share of what the activations take in PyTorch's order; None: no limit
    activations bytes for activations and gradients alone, in place of budget
    reserve     bytes of the budget to leave alone
    backend     "eager": ops one by one; "inductor": groups of ops compiled by Inductor
    costs       where ops' times are from: "measured" on this device, or "roofline"; what they allocate is measured
    dynamic, fullgraph as those of torch.compile
    time_limit  seconds of planning for a graph, or for all that share, after quick searches (short graphs take less); effort as in docs/tuning.md

    Without a model, as in @ebb.torch.compile(budget="1GiB"): a decorator.
    """
    if others:
        known = [name for name in inspect.signature(compile).parameters if name != "others"]
        raise TypeError(f"ebb.torch.compile has no {sorted(others)[0]}=: it takes {', '.join(known)}")
    if model is None:
        return functools.partial(
            compile, budget=budget, activations=activations, backend=backend, optimizer=optimizer, reserve=reserve, costs=costs, dynamic=dynamic,
            fullgraph=fullgraph, time_limit=time_limit, effort=effort)
    if not callable(model):
        raise TypeError(f"model {model!r}: a module or a function")
    refuse_parts(model)
    check(backend, costs)
    made = Budget(budget, 0, reserve, activations, gradients_to_come(model))
    if made.bytes is not None:
        made.fixed, made.present = fixed_bytes(model, optimizer), present_gradients(model)
    make_backend = functools.partial(Backend, made, backend, costs, time_limit, effort)
    return Compiled(model, make_backend, {"dynamic": dynamic, "fullgraph": fullgraph})


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
        kind, costs, limit = (options.pop(*of) for of in (("backend", "eager"), ("costs", "measured"), ("time_limit", PLANNING_SECONDS)))
        budget = Budget(options.pop("budget", None), options.pop("fixed", 0), options.pop("reserve", 0))
        if options:
            raise ValueError(f"backend \"ebb\" has no option {sorted(options)[0]!r}")
        check(kind, costs)
        made = (planner := Backend(budget, kind, costs, limit, 0))(module, examples)
        if planner.unplanned:
            warnings.warn("ebb.torch: a graph has sizes that are read from tensors: it is not planned, and the budget is NOT in force there", stacklevel=2)
        return made

    @functools.wraps(ebb)
    def in_one_line(module, examples, **kwargs):
        try:
            return ebb(module, examples, **kwargs)
        except (OverBudget, TypeError, ValueError) as error:
            raise private.unwrapped(error) from None

    torch._dynamo.register_backend(in_one_line, name="ebb")


register()
