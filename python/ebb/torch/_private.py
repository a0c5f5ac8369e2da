"""Every private interface of PyTorch that the bridge uses, and the releases that have them."""

import contextlib
import re

import sympy
import torch

from ._places import OWN

OLDEST, TESTED = (2, 13), "2.15"


def _release():
    return tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])


def _refuse(what):
    raise ImportError(
        f"ebb.torch: PyTorch {torch.__version__} {what}; {TESTED} is the release that is tested: install that"
    )


if _release() < OLDEST:
    _refuse("is too old")

try:
    from torch._decomp import decompositions as rnn_decompositions
    from torch._decomp import get_decompositions
    from torch._dispatch.python import no_python_dispatcher
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.exc import BackendCompilerFailed, ShortenTraceback, TorchRuntimeError
    from torch._dynamo.utils import counters
    from torch._functorch._aot_autograd.descriptors import InputMutationAOTOutput, SavedForBackwardsAOTOutput
    from torch._functorch.aot_autograd import aot_export_module
    from torch._functorch.partitioners import _extract_fwd_bwd_outputs as joint_outputs
    from torch._functorch.partitioners import _is_backward_state as is_backward_state
    from torch._functorch.partitioners import _is_bwd_seed_offset as is_backward_seed
    from torch._functorch.partitioners import _is_tangent as is_tangent
    from torch._guards import detect_fake_mode
    from torch._higher_order_ops.auto_functionalize import auto_functionalized, auto_functionalized_v2
    from torch._higher_order_ops.effects import with_effects
    from torch._inductor.custom_graph_pass import CustomKnapsackSolver
    from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import _disable_current_modes
    from torch.utils._pytree import tree_leaves
except ImportError as error:
    _refuse(f"lacks what the bridge needs ({error.name or error})")


@contextlib.contextmanager
def no_modes():
    """Ops run as outside of a compilation, as fast, too."""
    with _disable_current_modes(), no_python_dispatcher():
        yield


AUTO_FUNCTIONALIZED = (auto_functionalized, auto_functionalized_v2)


def frames_outside():
    """How many functions torch.compile has given up so far in this process: they run op by op, outside of any graph."""
    return counters["frames"]["total"] - counters["frames"]["ok"]


def complaints():
    """What torch.compile has said so far in this process of code that it left out of graphs: the first line of each reason, and how often."""
    found = {}
    for kind in ("unimplemented", "graph_break"):
        for text, n in counters[kind].items():
            line = text.splitlines()[0] if text else kind
            found[line] = found.get(line, 0) + n
    return found


def is_compiled(node):
    """Whether a node of autograd is a graph of AOTAutograd's."""
    return type(node).__name__ == "CompiledFunctionBackward"


def keeps_tensors(node):
    """Whether a node of autograd keeps a tensor of more than one element until it has run, or what hooks have made of one. Nothing is unpacked:
    a checkpoint's hook would compute it again."""
    if not node.next_functions:
        return False
    try:
        kept = tree_leaves([getattr(node, name) for name in dir(node) if name.startswith("_raw_saved_")])
        return any(saved.unpack_hook is not None or (isinstance(saved.data, torch.Tensor) and saved.data.numel() > 1) for saved in kept
                   if saved is not None)
    except RuntimeError:  # it has run
        return False


def whole_graphs(scalars):
    """What torch.compile is to take into graphs that it would break at: `autograd.grad`, and, with `scalars`, numbers that are read from tensors."""
    wanted = {"trace_autograd_ops": True, "capture_scalar_outputs": scalars}
    return {name: value for name, value in wanted.items() if hasattr(torch._dynamo.config, name)}


def sized_by_data(module):
    """Whether a graph of torch.compile has tensors whose sizes are numbers read from others."""
    return any(free_unbacked_symbols(t) for n in module.graph.nodes for t in tree_leaves(n.meta.get("example_value")) if isinstance(t, torch.Tensor))


def broken_off(module):
    """Whether a graph of torch.compile ends where its function goes on, with other graphs perhaps."""
    return getattr(getattr(module, "compile_subgraph_reason", None), "graph_break", False)


def limits(n):
    """torch.compile's limits of recompilations for n compiled models and starts: code that they share counts the entries of all."""
    config = torch._dynamo.config
    return {name: n * getattr(config, name) for name in ("recompile_limit", "accumulated_recompile_limit")}


def unwrapped(error):
    """The error as one that torch.compile hands on as it is, instead of in lines of its own; also one of the error's own kind."""
    text = str(error)  # to which torch.compile adds lines, too
    kind = type(type(error).__name__, (ShortenTraceback, type(error)), {"__module__": type(error).__module__, "__str__": lambda self: text})
    made = kind(text, first_useful_frame=None)
    made.__dict__.update(error.__dict__)
    return made


def untraceable(error):
    """One line of an op that torch.compile could not run on FakeTensors: which line of Python, and why."""
    found = re.search(r"got \w+\((['\"])(.*)\1\)$", str(error), re.MULTILINE)
    places = list(getattr(error, "real_stack", None) or [])
    places = [p for p in places if not p.filename.startswith(OWN)] or places
    place = f"{places[-1].filename}, line {places[-1].lineno}: " if places else ""
    return f"ebb.torch: {place}{found[2] if found else str(error).splitlines()[0]}"


def storage_key(tensor):
    """The same for tensors that share a storage; None for those without one."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None


def weak_storage(tensor):
    """A reference that has `expired()` when the tensor's bytes are gone; None for one without a storage."""
    return StorageWeakRef(tensor.untyped_storage()) if storage_key(tensor) is not None else None


def storage_bytes(tensor):
    """Of a FakeTensor, too; symbolic sizes count by their hints."""
    try:
        return hint(tensor.untyped_storage().nbytes())
    except (NotImplementedError, RuntimeError):
        return hint(tensor.numel()) * tensor.element_size()


def hint(size):
    """A number that sizes may decide, as it is for those that were traced; symbols stay symbols."""
    if isinstance(size, (int, float)):
        return size
    node = size.node
    return int(node.hint if node.hint is not None else node.shape_env.size_hint(node.expr))


def number(value):
    """A number like a symbolic one; of one that is read from a tensor, which has none yet, what tensors are made up of: indices are zeros."""
    if isinstance(value, torch.SymFloat):
        return 0.5 if value.node.hint is None else float(value.node.hint)
    return 0 if free_unbacked_symbols(value) else hint(value)


def symbols_of(value):
    """(symbol, dimension or None, hint) of a tensor's sizes, or of a size."""
    sizes = enumerate(value.shape) if isinstance(value, torch.Tensor) else [(None, value)]
    return [(n.node.expr, i, hint(n)) for i, n in sizes if isinstance(n, torch.SymInt) and n.node.expr.is_Symbol]


def sizes_of(args, kwargs):
    """The shapes of the tensors among a call's arguments, and its whole numbers."""
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    return tuple(tuple(x.shape) if isinstance(x, torch.Tensor) else x if isinstance(x, int) else None for x in leaves)


def symbolic_bytes(value):
    """(expression, hint) of a tensor's bytes; None: they are a number."""
    n_bytes = value.untyped_storage().nbytes() if storage_key(value) is not None else value.numel()
    return (n_bytes.node.expr, hint(n_bytes)) if isinstance(n_bytes, torch.SymInt) else None


def growth(expression, hinted, numbers):
    """By how much an expression grows from its hint when its symbols are these numbers."""
    found = expression.xreplace({symbol: sympy.Integer(n) for symbol, n in numbers.items()})
    return int(found) / max(1, hinted) if found.is_number else 1


def is_random(node):
    """An op that draws: its next run gives something else."""
    tags = getattr(node.target, "tags", ())
    if torch.Tag.nondeterministic_seeded not in tags:
        return False
    for i, argument in enumerate(node.target._schema.arguments):
        if argument.name == "dropout_p":
            given = node.kwargs.get("dropout_p", node.args[i] if i < len(node.args) else argument.default_value)
            return bool(given)
    return True


def random_state_example(like):
    """The FakeTensor of a generator's state, in the mode of `like`."""
    state = torch.cuda.get_rng_state() if like.device.type == "cuda" else torch.get_rng_state()
    return like.fake_mode.from_tensor(state)


def random_state_bytes(node):
    """What the state of a node's generator takes on its device: that of CUDA lies in the host's memory."""
    devices = {t.device.type for t in tree_leaves(node.meta.get("val")) if isinstance(t, torch.Tensor)}
    return torch.get_rng_state().numel() if devices == {"cpu"} else 0


def saved_marks(node):
    """(must be saved, must be recomputed) by torch.utils.checkpoint's policies."""
    from torch.utils.checkpoint import CheckpointPolicy

    mark = node.meta.get("recompute")
    return mark is CheckpointPolicy.MUST_SAVE, mark is CheckpointPolicy.MUST_RECOMPUTE


def compile_fused(module, examples):
    """Inductor's code for one group of ops: results have the strides that their FakeTensors say."""
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx_inner
    from torch._inductor.decomposition import select_decomp_table
    from torch.fx.experimental.proxy_tensor import make_fx

    strides = [node.meta["val"].stride() for node in module.graph.output_node().args[0]]
    # Not the mode of the compilation that goes on: the group may be an earlier one's, whose code could not be made then.
    mode = next((t.fake_mode for t in examples if isinstance(t, FakeTensor)), None) or FakeTensorMode()
    with mode, torch.no_grad():
        module = make_fx(module, decomposition_table=select_decomp_table(), tracing_mode="real")(*examples)
    output = module.graph.output_node()
    output.meta["user_visible_output_idxs"] = list(range(len(strides)))
    output.meta["original_output_strides"] = strides
    with config.patch(keep_output_stride=True, fallback_random=True), torch._guards.tracing(torch._guards.TracingContext(mode)):
        return compile_fx_inner(module, examples)


def compile_alone(module, examples):
    """Inductor's code for a graph without gradients, whose draws are those of the ops one by one."""
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx_inner
    from torch._inductor.decomposition import select_decomp_table
    from torch.fx.experimental.proxy_tensor import make_fx

    mode = detect_fake_mode(examples) or FakeTensorMode()
    with config.patch(fallback_random=True):
        with mode, torch.no_grad():
            module = make_fx(module, decomposition_table=select_decomp_table(), tracing_mode="real")(*examples)
        return compile_fx_inner(module, examples)
