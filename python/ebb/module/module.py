"""Module: parameters, buffers and modules inside, found among the attributes."""

import warnings
from collections import OrderedDict

import numpy as np

from .. import _core
from .._tensor import Parameter, Tensor
from .mode import Mode


def _leaves(key, value, kinds):
    """What is of some classes in an attribute, in lists, tuples and dicts too, with their names."""
    if isinstance(value, kinds):
        yield key, value
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _leaves(f"{key}.{i}" if key else str(i), item, kinds)
    elif isinstance(value, dict):
        for k, item in value.items():
            if isinstance(k, str):
                yield from _leaves(f"{key}.{k}" if key else k, item, kinds)
            elif isinstance(item, kinds):
                raise AssertionError(f"keys for Tensor and Module must be str, error key: {k}")


def _is_module(x):
    return isinstance(x, Module)


def _is_tensor(x):
    return isinstance(x, Tensor)


def _is_parameter(x):
    return isinstance(x, Parameter)


def whole(what, least, **sizes):
    """Sizes, or tuples of them, are whole numbers of at least so much."""
    for name, size in sizes.items():
        for n in size if isinstance(size, (tuple, list)) else (size,):
            if not isinstance(n, (int, np.integer)) or n < least:
                raise ValueError(f"{what}: {name} {size!r}: whole numbers from {least}")


def positive(what, **sizes):
    whole(what, 1, **sizes)


def _is_buffer(x):
    return isinstance(x, Tensor) and not isinstance(x, Parameter)


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

    def __getattr__(self, name):
        if "_mode" not in vars(self):
            raise AttributeError(f"{type(self).__name__}: super().__init__() is called first in __init__: there is no {name} yet")
        return object.__getattribute__(self, name)  # says what is missing

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

    def _flatten(self, *, recursive=True, with_key=True, with_parent=False, prefix=None,
                 predicate=lambda _: True, seen=None):
        """Tensors and modules, each once, by the names of attributes: with_key (name, x), with_parent the module
        that has x, too."""
        before, seen = f"{prefix}." if prefix else "", set() if seen is None else seen
        for key in sorted(vars(self)):
            for name, leaf in _leaves(key, vars(self)[key], (Tensor, Module)):
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                if predicate(leaf):
                    told = ((before + name,) if with_key else ()) + (leaf,) + ((self,) if with_parent else ())
                    yield told if len(told) > 1 else leaf
                if recursive and isinstance(leaf, Module):
                    yield from leaf._flatten(with_key=with_key, with_parent=with_parent, prefix=before + name,
                                             predicate=predicate, seen=seen)

    def _found(self, kind, with_key, recursive, prefix=None, **kwargs):
        if kwargs.pop("requires_grad", None) is not None:
            warnings.warn("a tensor has no requires_grad: the argument is ignored", stacklevel=3)
        return self._flatten(recursive=recursive, with_key=with_key, prefix=prefix,
                             predicate=kind, **kwargs)

    def named_parameters(self, prefix=None, recursive=True, **kwargs):
        return self._found(_is_parameter, True, recursive, prefix, **kwargs)

    def parameters(self, recursive=True, **kwargs):
        return self._found(_is_parameter, False, recursive, **kwargs)

    def named_buffers(self, prefix=None, recursive=True, **kwargs):
        return self._found(_is_buffer, True, recursive, prefix, **kwargs)

    def buffers(self, recursive=True, **kwargs):
        return self._found(_is_buffer, False, recursive, **kwargs)

    def named_tensors(self, prefix=None, recursive=True, **kwargs):
        return self._found(_is_tensor, True, recursive, prefix, **kwargs)

    def tensors(self, recursive=True, **kwargs):
        return self._found(_is_tensor, False, recursive, **kwargs)

    def named_children(self, **kwargs):
        return self._found(_is_module, True, False, **kwargs)

    def children(self, **kwargs):
        return self._found(_is_module, False, False, **kwargs)

    def named_modules(self, prefix=None, with_parent=False):
        yield (prefix or "", self, None) if with_parent else (prefix or "", self)
        yield from self._found(_is_module, True, True, prefix, with_parent=with_parent, seen={id(self)})

    def modules(self, with_parent=False):
        return (told[1:] if with_parent else told[1] for told in self.named_modules(with_parent=with_parent))

    def replace_param(self, params, start_pos, seen=None):
        """Other parameters, by their number among the attributes and those of modules inside, where params, a
        dict, has one; the first number is start_pos. Returns how many there are."""
        seen, at = {id(self)} if seen is None else seen, start_pos
        for key in sorted(vars(self)):
            own = vars(self)[key]
            if id(own) in seen or not isinstance(own, (Parameter, Module)):
                continue
            seen.add(id(own))
            if isinstance(own, Module):
                at += own.replace_param(params, at, seen)
                continue
            other = params.get(at, own)
            if other.shape != own.shape:
                raise ValueError(f"replace_param: {key} has shape {own.shape}, and {other.shape} was given")
            setattr(self, key, other)
            at += 1
        return at - start_pos

    def apply(self, fn):
        """fn(module) for this one and all inside."""
        for module in self.modules():
            fn(module)

    def disable_quantize(self, value=True):
        """Accepted: nothing is quantized."""
        self.quantize_disabled = value

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
        for name, tensor in self.named_tensors():
            state[prefix + name] = tensor if keep_var else tensor.numpy()
        return state

    def load_state_dict(self, state_dict, strict=True):
        """Values by name, from a dict or a function of (name, tensor) that returns an array or None.

        An array of another shape with as many elements is taken where the shapes differ in sizes 1 or in how
        groups are written, as between MegEngine's batch norm and grouped convolution and those here. With
        strict, names must be the same.
        """
        own = OrderedDict(self.named_tensors())
        if callable(state_dict):
            given = {n: state_dict(n, t) for n, t in own.items()}
            given = {n: v for n, v in given.items() if v is not None}
        else:
            given = state_dict
        missing, unknown = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
        if strict and (missing or unknown):
            told = [f"{what}: {names}" for what, names in (("not given", missing), ("not in the module", unknown)) if names]
            raise KeyError(f"load_state_dict: {'; '.join(told)}")
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
    less, more = sorted((array.shape, shape), key=len)
    grouped = len(more) == len(less) + 1 >= 4 and more[2:] == less[1:]
    if array.shape != shape and (array.size != tensor.size or not (same or grouped)):
        raise ValueError(f"load_state_dict: {name} has shape {shape}, and {array.shape} was given")
    return array.reshape(shape).astype(tensor.dtype)
