"""The backend of torch.compile that plans each joint graph, and runs its halves in the plan's order."""

import torch

from . import _autograd, _costs, _emit, _fuse, _graphs, _heap, _joint, _plan, _recurrent, _run
from . import _private as private
from ._share import Graphs
from ._sizes import Outgrown, Sizes

ROUNDING = {"cuda": 512}  # PyTorch's caching allocator; elsewhere the planner's own unit


class Unsized(Exception):
    """A graph has sizes that are read from tensors: no plan holds for all of them."""


class Backend:
    """A backend of torch.compile: one for each compiled model."""

    def __init__(self, budget, kind, costs, time_limit, effort, settled=None):
        self.budget, self.kind, self.costs = budget, kind, costs
        self.options = {"time_limit": time_limit, **({"effort": effort} if effort else {})}
        self.settled = settled  # {key of a graph: its plan among those of a step}
        self.plans, self.held = [], 0
        self.leaves, self.alone = [], True  # of the graph that is compiled: which inputs keep their gradients; whether the call has no other
        self.ran = []  # plans of the forward halves that this call has run, in their order: a graph may run several times
        self.n_halves, self.later = 0, None  # forward halves of a settled call; what one of symbols needs to be taken back
        self.symbolic, self.waiting = False, None  # graphs whose backward halves have not run, where calls are told apart
        self.unplanned = False  # a graph of a later call had sizes that are read from tensors
        self.before = None  # set while graphs share the budget out: one that can not go below its least is given that

    def __call__(self, module, examples):
        if private.sized_by_data(module):
            if self.before is not None:
                raise Unsized
            self.unplanned = True
            return module.forward
        inductor = self.kind == "inductor"
        self.alone = not self.plans and not private.broken_off(module)
        self.leaves = [isinstance(t, torch.Tensor) and t.requires_grad and t.is_leaf for t in examples]
        with _recurrent.in_graphs():
            return private.aot_autograd(
                fw_compiler=self._half, bw_compiler=self._half, inference_compiler=self._inference, partition_fn=self.partition,
                decompositions=_fuse.decompositions() if inductor else {}, keep_inference_input_mutations=True,
            )(module, examples)

    def partition(self, module, inputs, *, num_fwd_outputs, **_):
        joint = _joint.Joint(module, num_fwd_outputs, _fuse.groups if self.kind == "inductor" else None, self.leaves)
        _costs.measure(joint, self.costs)
        device = next((t.device.type for n in joint.placeholders for t in _joint.tensors_of(n.meta.get("val"))), "cpu")
        document = _plan.Document(joint, ROUNDING.get(device, _plan.UNIT))
        document.leaves = self.leaves
        facts = _graphs.plan_document(document, self.budget, self.held, self.options, self.settled, self.before is not None, self.alone)
        halves = _emit.Emitter(joint, document, facts.plan).emit()
        self.plans.append(facts)
        if device == "cpu":
            _heap.keep(sum(plan.bytes_in_order for plan in self.plans))
        halves[0].meta["ebb"], halves[1].meta["ebb"] = facts.held_bytes, -facts.held_bytes
        halves[0].meta["ebb.plan"], halves[1].meta["ebb.key"] = facts, facts.key
        sizes = Sizes(document, facts)
        if sizes.places:
            self.symbolic, halves[0].meta["ebb.sizes"] = True, sizes
        halves[0].meta["ebb.saved"] = _autograd.saved_place(halves[0].graph, num_fwd_outputs)
        halves[0].meta["ebb.changed"] = [i for i, node in enumerate(joint.primals) if node in joint.mutated]
        return halves

    def _half(self, module, examples):
        run, held, changed = _run.make_function(module), module.meta.get("ebb", 0), module.meta.get("ebb.changed", ())
        plan, sizes, key, saved = (module.meta.get(name) for name in ("ebb.plan", "ebb.sizes", "ebb.key", "ebb.saved"))

        def half(args):
            entry = self._count(plan, sizes, args) if plan is not None and self.waiting is not None else None
            if key is not None and self.waiting is not None:
                _autograd.close(self.waiting, key)
            for kept in (self.before, self.later):
                if kept is not None:
                    kept.keep(args[i] for i in changed)
            self.held = max(0, self.held + held)
            made = run(args)
            if entry is not None and saved is not None:
                entry.saved = private.weak_storage(made[saved])
            return made

        half._boxed_call = True
        return half

    def _count(self, plan, sizes, args):
        """A forward half is about to run. Of a share only whole steps are known to hold it."""
        self.ran.append(sizes.at(args) if sizes else plan)
        entry = _autograd.Waiting(self.ran[-1])
        self.waiting.append(entry)
        if self.later is None or sizes is None:
            return entry
        if (self.budget.share is None or len(self.ran) >= self.n_halves) and not self.budget.holds(Graphs(self.ran)):
            raise Outgrown
        return entry

    def _inference(self, module, examples):
        """A graph without gradients holds nothing for later: nothing to plan."""
        if self.kind == "inductor":
            return private.compile_alone(module, examples)
        return _run.make_function(module)
