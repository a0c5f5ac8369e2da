"""A model, its step, and the means that make a step take less: Ebb's budgets, PyTorch's own, checkpoints."""

import copy
import functools
import hashlib
import time

import torch
from models import MODELS
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
from zoo import ZOO

import ebb.torch

PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "convolution", "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math"}
MANY = 1 << 10  # each means of a process is code of its own for the same lines


class WithLoss(torch.nn.Module):
    """The loss is a part of what is compiled."""

    def __init__(self, model):
        super().__init__()
        self.inner = model

    def forward(self, *args):
        found = [t for t in tree_leaves(self.inner(*args)) if isinstance(t, torch.Tensor) and t.requires_grad]
        return sum((t.abs() if t.is_complex() else t).float().square().mean() for t in found)


class Case:
    """With `autocast` the forward half computes in bfloat16; `n` steps add their gradients up."""

    def __init__(self, name, autocast=False, n=1):
        torch.manual_seed(0)
        model, x, self.blocks = {**MODELS, **ZOO}[name]()
        self.args = x if isinstance(x, tuple) else (x,)
        self.model = WithLoss(model).train()
        self.before = copy.deepcopy(self.model.state_dict())
        self.autocast, self.n = autocast, n

    def loss(self, run):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.autocast):
            return run(*self.args)

    def result(self, run):
        """What a step leaves: loss, gradients, buffers, the generator's state."""
        self.model.load_state_dict(self.before)
        self.model.zero_grad()
        torch.manual_seed(7)
        for _ in range(self.n):
            loss = self.loss(run)
            loss.backward()
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        return [loss.detach(), *gradients, *self.model.buffers(), torch.get_rng_state()]

    def step(self, run):
        self.model.zero_grad()
        self.loss(run).backward()

    def peak(self, run):
        self.model.zero_grad()
        return ebb.torch.peak_bytes(lambda: self.step(run))

    def seconds(self, run):
        """Of processor time, which is that of a step on one thread however many share the machine. Its gradients do not lie beside others' steps."""
        began = time.process_time()
        self.step(run)
        spent = time.process_time() - began
        self.model.zero_grad()
        return spent


def digest(tensors):
    """The same for the same bits."""
    made = hashlib.sha256()
    for t in tensors:
        made.update(repr((t.dtype, tuple(t.shape))).encode())
        made.update(torch.view_as_real(t).contiguous().numpy().tobytes() if t.is_complex() else t.detach().contiguous().view(-1).view(
            torch.uint8).numpy().tobytes())
    return made.hexdigest()[:16]


def products_are_saved(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op._schema.name.split("::")[1] in PRODUCTS else CheckpointPolicy.PREFER_RECOMPUTE


def checkpointed(case, selective):
    """Each block runs again in backward; selectively: all of it but products."""
    more = {"context_fn": functools.partial(create_selective_checkpoint_contexts, products_are_saved)} if selective else {}
    for block in case.blocks:
        block.forward = (lambda inner: lambda *a, **k: checkpoint(inner, *a, use_reentrant=False, **more, **k))(block.forward)
    return case.model


def own(backend, partitions):
    """PyTorch's own backend, as a function of its own: what another means has compiled is not taken for it."""
    if backend == "inductor":
        from torch._inductor.compile_fx import compile_fx

        return lambda module, examples: compile_fx(module, examples)
    found = torch._dynamo.lookup_backend("aot_eager_decomp_partition" if partitions else "aot_eager")
    return lambda module, examples: found(module, examples)


def others(case, backend, means):
    """(run, its result after the first step) of "plain", "blocks", "selective", or "torch" and PyTorch's own budget."""
    kind, _, share = means.partition(" ")
    with torch._dynamo.config.patch(recompile_limit=MANY, accumulated_recompile_limit=MANY), \
            torch._functorch.config.patch(activation_memory_budget=float(share or 1)):
        run = checkpointed(case, kind == "selective") if kind in ("blocks", "selective") else case.model
        if share or backend == "inductor":
            run = torch.compile(run, backend=own(backend, bool(share)))
        return run, case.result(run)


def within(case, backend, **options):
    """(what is to be said of it, run, its result after the first step) of Ebb within a budget; a share below the least is that least."""
    found = ""
    while True:
        with torch._dynamo.config.patch(recompile_limit=MANY, accumulated_recompile_limit=MANY):
            run = ebb.torch.compile(case.model, backend=backend, **options)
            try:
                return found, run, case.result(run)
            except ebb.torch.OverBudget as error:
                share = options.get("budget")
                if not isinstance(share, float) or share == 1:
                    raise
                options["budget"] = min(1.0, 1.01 * max(share, error.least_share))
                found = f" (the smallest found: {options['budget']:.2f})"


def facts(run):
    """Of the plans of a compiled model."""
    plans = run.plans
    return {
        "planned": run.planned_bytes, "graphs": len(plans), "ops": sum(len(p.ops) for p in plans),
        "recomputed": sum(p.n_recomputed for p in plans), "planning_s": round(sum(p.planning_seconds for p in plans), 2),
        "predicted": sum(p.plan["time_ns"] for p in plans) / max(1, sum(op["time_ns"] for p in plans for op in p.ops)) - 1,
    }
