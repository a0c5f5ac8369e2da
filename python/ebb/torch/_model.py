"""ebb.torch.to_model: a program of torch.export runs wholly on Ebb's kernels, with parameters that PyTorch sees where they lie."""

import math

import numpy as np
import torch

from .. import _core, _dtype
from ..jit.options import memory_options
from . import _read

OPTIONS = ("effort", "time_limit", "cache", "seed", "n_threads", "verify", "precision")
UPDATES = ("momentum", "weight_decay", "nesterov", "decay_weights", "beta1", "beta2", "adam_eps", "clip_norm")


class Model:
    """A compiled model. step(*inputs) trains it by one step; with `evaluate` it computes outputs.

    text    what it is made of (docs/ir.md)
    plan()  the figures of its plan; block_bytes: of the one block that it holds
    """

    def __init__(self, reading, options, gradients):
        self.text, self.inputs, self.outputs = "\n".join(reading.lines) + "\n", reading.inputs, reading.outputs
        self.loss, self._shared = reading.loss, []
        self._trains = bool(reading.loss and not options.get("evaluate") and any(k.trained for k in reading.kept.values()))
        fetch = [f"{k.value.name}.grad" for k in reading.kept.values() if k.trained] if gradients and self._trains else []
        self._gradients = {name: f"{k.value.name}.grad" for name, k in reading.kept.items() if k.trained} if fetch else None
        try:
            self._program = _core.Program(self.text, options, fetch)
        except ValueError as error:
            raise ValueError(reading.error(str(error))) from None
        self._kept = {name: kept for name, kept in reading.kept.items() if self._has(kept.value)}
        for name, kept in self._kept.items():
            self._feed(kept.value, kept.tensor, name)

    def _has(self, value):
        """Evaluation has no use for some states, and nothing may read a parameter."""
        try:
            self._program.tensor(value.name)
        except ValueError:
            return False
        return True

    # ---- steps ----

    def _feed(self, value, tensor, what):
        """A tensor's elements, of the dtype that Ebb has for its."""
        if not isinstance(tensor, torch.Tensor) or tuple(tensor.shape) != value.shape:
            got = f"{tuple(tensor.shape)}" if isinstance(tensor, torch.Tensor) else f"a {type(tensor).__name__}"
            raise ValueError(f"{what}: {got}, where the program has {value!r}")
        element = _dtype.DTYPES[self._program.tensor(value.name)[0]]
        there = tensor.detach().cpu()
        if element == np.int32 and there.dtype == torch.int64 and there.numel() and (
                int(there.min()) < -(1 << 31) or int(there.max()) >= 1 << 31):
            raise ValueError(f"{what}: {int(there.min())} to {int(there.max())}: Ebb's integers have 32 bits")
        if (element.kind == "f") != there.is_floating_point():
            raise ValueError(f"{what}: {str(there.dtype).removeprefix('torch.')}, where the program has {value!r}")
        self._program.feed(value.name, np.ascontiguousarray(there.contiguous().numpy(), element))

    def _fetch(self, name, dtype=None):
        element, shape = self._program.tensor(name)
        array = np.empty(shape, _dtype.DTYPES[element])
        self._program.fetch(name, array)
        found = torch.from_numpy(array)
        return found if dtype is None else found.to(dtype)

    def step(self, *inputs, labels=None, lr=None):
        """One step: the loss as a scalar, or with outputs (loss, outputs). In evaluation, outputs alone come when there is no loss.

        lr      the rate of this step's update, which the engine makes of every parameter that asks for gradients
        labels  of loss="cross_entropy": classes
        """
        given = [*inputs, *([labels] if labels is not None else [])]
        if len(given) != len(self.inputs):
            raise TypeError(f"{len(given)} inputs for {len(self.inputs)}: {', '.join(name for name, _ in self.inputs)}")
        if self._trains and lr is None:
            raise TypeError("step: lr=0.1: a step that trains has a rate")
        for (name, value), tensor in zip(self.inputs, given):
            if value is not None:
                self._feed(value, tensor, f"input {name}")
        if self._trains:
            self._program.feed("lr", np.array(lr, np.float32))
        self._program.step()
        for name, tensor in self._shared:
            tensor.copy_(self._fetch(self._kept[name].value.name))
        outputs = tuple(self._fetch(value.name, dtype) for value, dtype in self.outputs)
        if not self.loss:
            return outputs[0] if len(outputs) == 1 else outputs
        loss = self._fetch(self.loss.name)
        return (loss, outputs) if outputs else loss

    # ---- what it keeps ----

    def tensors(self):
        """{name: tensor} of parameters and buffers: what the engine reads and writes, by DLPack, no copies. Weights of rank 4 lie
        channels last, and their strides say so. Integers, which Ebb has in 32 bits, are as Ebb has them."""
        return {name: self._view(kept.value) for name, kept in self._kept.items()}

    def _view(self, value):
        element, shape = self._program.tensor(value.name)
        flat = torch.from_dlpack(np.frombuffer(self._program.view(value.name), _dtype.DTYPES[element]))
        if len(shape) != 4:
            return flat.view(shape)
        n, c, h, w = shape
        return flat.view(n, h, w, c).permute(0, 3, 1, 2)

    def share(self, module):
        """The module's parameters and buffers become the engine's own bytes: what a step makes of them the module has at once, and what
        is written into them (a checkpoint that is loaded, say) the next step reads. int64 buffers are copied after each step."""
        views = self.tensors()
        with torch.no_grad():
            for name, tensor in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]:
                if name not in views:
                    continue
                view = views[name]
                if view.shape != tensor.shape:
                    raise ValueError(f"share: {name} is {tuple(tensor.shape)}, and the model has {tuple(view.shape)}")
                if view.dtype == tensor.dtype:
                    tensor.data = view
                else:
                    self._shared.append((name, tensor))
        return module

    def gradients(self):
        """{name: tensor} of the last step, copied; to_model(..., gradients=True)."""
        if self._gradients is None:
            raise ValueError("gradients: to_model(..., gradients=True) keeps them")
        return {name: self._fetch(value) for name, value in self._gradients.items()}

    def plan(self):
        return self._program.plan()

    @property
    def block_bytes(self):
        return self._program.block_bytes()


def to_model(program, *, loss=None, budget=None, memory=None, optimizer="sgd", outputs=False, gradients=False, evaluate=False,
             momentum=0.0, weight_decay=0.0, **options):
    """A Model of a torch.export program, on Ebb's device (ebb.set_default_device), with the program's parameters.

    program   what torch.export.export(model, args) gives, of fixed sizes, in training mode or not
    loss      None: the program's first result is it, a scalar; "cross_entropy": of the first result, [n, classes, ...] or
              [n, t, classes] of a language model, with step(..., labels=); or False: there is none
    budget    "11GiB", bytes: parameters, states, activations and gradients, all in one block; memory as that of ebb.jit.trace
    optimizer "sgd" or "adamw": momentum, nesterov, beta1, beta2, adam_eps, weight_decay, decay_weights, clip_norm
    outputs   results are kept and come with the loss; gradients: so are parameters' gradients, for Model.gradients
    evaluate  forward only: batch norms by their running statistics, no dropout
    Others: effort, time_limit, cache, seed, n_threads, verify, precision ("bf16").

    ValueError, in one line, names every node without a place in a model of Ebb's: its op, and the line of Python.
    """
    if not isinstance(program, torch.export.ExportedProgram):
        raise TypeError(f"program {type(program).__name__}: what torch.export.export(model, args) gives")
    for name in options:
        if name not in (*OPTIONS, *UPDATES):
            raise TypeError(f"to_model has no option {name!r}")
    if loss not in (None, False, "cross_entropy"):
        raise ValueError(f"loss {loss!r}: None, False or \"cross_entropy\"")
    for name, value in (("momentum", momentum), ("weight_decay", weight_decay)):
        if not math.isfinite(value) or value < 0:
            raise ValueError(f"{name} {value!r}: 0 or more")
    reading = _read.Reading(program, loss, outputs or loss is False)
    chosen = {"optimizer": optimizer, "weight_decay": weight_decay, "evaluate": evaluate, **memory_options(None, None, budget, memory, "to_model"), **options}
    if optimizer == "sgd":
        chosen["momentum"] = momentum
    return Model(reading, chosen, gradients)
