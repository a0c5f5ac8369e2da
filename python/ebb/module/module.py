"""Module: parameters, buffers and modules inside, found among the attributes."""

from collections import OrderedDict

import numpy as np

from .. import _core
from .._tensor import Parameter, Tensor
from .mode import Mode


def _leaves(key, value):
    """Tensors and modules of an attribute, in lists, tuples and dicts too, with their names."""
    if isinstance(value, (Tensor, Module)):
        yield key, value
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _leaves(f"{key}.{i}" if key else str(i), item)
    elif isinstance(value, dict):
        for k, item in value.items():
            if isinstance(k, str):
                yield from _leaves(f"{key}.{k}" if key else k, item)


class _Handle:
    """A hook that can be removed."""

    def __init__(self, hooks, hook):
        self._hooks = hooks
        hooks[id(self)] = hook

    def remove(self):
        self._hooks.pop(id(self), None)


class Module:
    """The base of modules: attributes that are parameters, buffers or modules are found by their names."""

    def __init__(self, name=None):
        self._mode = Mode()
        self.name = name
        self._forward_hooks = OrderedDict()
        self._forward_pre_hooks = OrderedDict()

    def forward(self, *inputs, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *inputs, **kwargs):
        for hook in list(self._forward_pre_hooks.values()):
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, inputs, outputs)
            if changed is not None:
                outputs = changed
        return outputs

    def register_forward_hook(self, hook):
        """hook(module, inputs, outputs), whose answer takes the place of outputs unless it is None."""
        return _Handle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook):
        """hook(module, inputs), whose answer takes the place of inputs unless it is None."""
        return _Handle(self._forward_pre_hooks, hook)

    # ---- what is inside

    def _walk(self, recursive=True, prefix="", seen=None):
        """(name, tensor or module), each once, by the names of attributes."""
        seen = set() if seen is None else seen
        for key in sorted(vars(self)):
            for name, leaf in _leaves(key, vars(self)[key]):
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                yield prefix + name, leaf
                if recursive and isinstance(leaf, Module):
                    yield from leaf._walk(True, f"{prefix}{name}.", seen)

    def named_parameters(self, prefix=None, recursive=True):
        before = f"{prefix}." if prefix else ""
        return ((n, x) for n, x in self._walk(recursive, before) if isinstance(x, Parameter))

    def parameters(self, recursive=True):
        return (x for _, x in self.named_parameters(recursive=recursive))

    def named_buffers(self, prefix=None, recursive=True):
        before = f"{prefix}." if prefix else ""
        walk = self._walk(recursive, before)
        return ((n, x) for n, x in walk if isinstance(x, Tensor) and not isinstance(x, Parameter))

    def buffers(self, recursive=True):
        return (x for _, x in self.named_buffers(recursive=recursive))

    def named_tensors(self, prefix=None, recursive=True):
        before = f"{prefix}." if prefix else ""
        return ((n, x) for n, x in self._walk(recursive, before) if isinstance(x, Tensor))

    def tensors(self, recursive=True):
        return (x for _, x in self.named_tensors(recursive=recursive))

    def named_children(self):
        return ((n, x) for n, x in self._walk(recursive=False) if isinstance(x, Module))

    def children(self):
        return (x for _, x in self.named_children())

    def named_modules(self, prefix=None):
        yield prefix or "", self
        before = f"{prefix}." if prefix else ""
        yield from ((n, x) for n, x in self._walk(True, before, {id(self)}) if isinstance(x, Module))

    def modules(self):
        return (x for _, x in self.named_modules())

    def apply(self, fn):
        """fn(module) for this one and all inside."""
        for module in self.modules():
            fn(module)

    def zero_grad(self):
        """Gradients of parameters become zeros where there are any."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.grad.reset_zero()

    # ---- mode

    @property
    def training(self):
        return self._mode.training

    @training.setter
    def training(self, mode):
        self._mode.set(bool(mode))

    def train(self, mode=True, recursive=True):
        """In training, or in evaluation, with all modules inside."""
        for module in self.modules() if recursive else (self,):
            module.training = mode

    def eval(self):
        self.train(False)

    # ---- state

    def state_dict(self, rst=None, prefix="", keep_var=False):
        """Parameters and buffers by name: arrays, or the tensors themselves with keep_var."""
        state = OrderedDict() if rst is None else rst
        for name, tensor in self._walk(True, prefix):
            if isinstance(tensor, Tensor):
                state[name] = tensor if keep_var else tensor.numpy()
        return state

    def load_state_dict(self, state_dict, strict=True):
        """Values by name, from a dict or a function of (name, tensor) that returns an array or None.

        An array of another shape with as many elements is taken where the shapes differ in sizes 1 or in how
        groups are written, as between MegEngine's batch norm and grouped convolution and those here. With
        strict, names must be the same.
        """
        own = OrderedDict((n, t) for n, t in self._walk() if isinstance(t, Tensor))
        if callable(state_dict):
            given = {n: state_dict(n, t) for n, t in own.items()}
            given = {n: v for n, v in given.items() if v is not None}
        else:
            given = state_dict
        missing, unknown = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
        if strict and (missing or unknown):
            raise KeyError(f"load_state_dict: not given: {missing}; not in the module: {unknown}")
        ready = [(own[n], _fitting(n, v, own[n])) for n, v in given.items() if n in own]
        for tensor, value in ready:  # all of them, or none
            tensor._reset(value)

    # ---- text

    def _module_info_string(self):
        return ""

    def __repr__(self):
        lines = []
        for name, child in self.named_children():
            lines.append(f"  ({name}): " + repr(child).replace("\n", "\n  "))
        inside = self._module_info_string()
        if lines:
            inside += "\n" + "\n".join(lines) + "\n"
        return f"{type(self).__name__}({inside})"


def _fitting(name, value, tensor):
    array = value.numpy() if isinstance(value, _core.Tensor) else np.asarray(value)
    shape = tensor.shape
    same = [s for s in array.shape if s != 1] == [s for s in shape if s != 1]
    grouped = len(array.shape) == 5 and array.shape[2:] == shape[1:]
    if array.shape != shape and (array.size != tensor.size or not (same or grouped)):
        raise ValueError(f"load_state_dict: {name} has shape {shape}, and {array.shape} was given")
    return array.reshape(shape).astype(tensor.dtype)
