"""Optimizer: groups of parameters, their settings and states."""

from collections.abc import Iterable, Mapping

import numpy as np

from .._tensor import Parameter, Tensor, as_tensor
from ..jit.trace import clear_grad, on_abort

required = object()  # a setting that has no default


class Optimizer:
    """params: parameters, or dicts {"params": ..., settings} for groups that differ from the defaults."""

    def __init__(self, params, defaults):
        self._defaults = defaults
        self._state = {}  # of a parameter: its states by name
        self.param_groups = []
        if isinstance(params, (Parameter, dict)):
            params = [params]
        elif not isinstance(params, Iterable):
            raise TypeError(f"an optimizer takes parameters, or dicts of them, not {type(params).__name__}")
        params = list(params)
        if not params:
            raise ValueError("an optimizer was given no parameters")
        if not isinstance(params[0], dict):
            params = [{"params": params}]
        for group in params:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"a group is a dict, not {type(param_group).__name__}")
        group = dict(param_group)
        params = group["params"]
        group["params"] = [params] if isinstance(params, Tensor) else list(params)
        for param in group["params"]:
            if not isinstance(param, Parameter):
                raise TypeError(f"optimizers update Parameters, not {type(param).__name__}")
        for name, default in self._defaults.items():
            if default is required and name not in group:
                raise ValueError(f"a group of parameters needs {name}")
            group.setdefault(name, default)
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in known for p in group["params"]):
            raise ValueError("a parameter is in two groups")
        self.param_groups.append(group)
        self._create_state(group)

    # What an optimizer is: _first_state and _update of each parameter; or, as in MegEngine, _create_state and
    # _updates of a group.

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._state[param] = self._first_state(param, param_group)

    def _first_state(self, param, group):
        """States of a parameter by name: tensors, and `step`, the number of updates."""
        return {}

    def _add_state(self, param, state_name, initializer=None):
        """A state: zeros, or what is given, with the parameter's shape."""
        made = zeros_of(param) if initializer is None else Tensor(initializer)
        self._state.setdefault(param, {})[state_name] = made

    def _updates(self, param_group):
        # A tensor that is fed, not a part of the program: schedules make no traced call another one.
        lr = Tensor(np.float32(param_group["lr"]))
        self._counts = {}
        for param in param_group["params"]:
            if param.grad is not None:
                self._update(param, param_group, self._state[param], as_tensor(lr, param.dtype))

    def _update(self, param, group, state, lr):
        raise NotImplementedError(f"{type(self).__name__} has no _update() and no _updates()")

    def step(self):
        """Updates each parameter that has a gradient. Returns the optimizer."""
        for group in self.param_groups:
            if any(p.grad is not None for p in group["params"]):
                self._updates(group)
        return self

    def _count(self, state):
        """The number of this update as a tensor, one for all parameters that are as far."""
        n = state["step"] + 1
        state["step"] = n
        on_abort(lambda: state.update(step=n - 1))
        if n not in self._counts:
            self._counts[n] = Tensor(np.float32(n))
        return self._counts[n]

    def clear_grad(self):
        """Forgets the gradients. Returns the optimizer."""
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param)
        return self

    zero_grad = clear_grad

    def state_dict(self, keep_var=False):
        """Settings and states, parameters by number; a number of steps is a tensor like the others, as in MegEngine."""
        numbers, state, groups = {}, {}, []
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = len(numbers)
                own = {k: Tensor(np.float32(v)) if k == "step" else v for k, v in self._state[param].items()}
                state[numbers[id(param)]] = {
                    k: v.numpy() if isinstance(v, Tensor) and not keep_var else v for k, v in own.items()
                }
            settings = {k: v for k, v in group.items() if k != "params"}
            groups.append({**settings, "params": [numbers[id(p)] for p in group["params"]]})
        return {"param_groups": groups, "state": state}

    def load_state_dict(self, state):
        """What state_dict gave, of an optimizer with as many parameters in as many groups."""
        lacks = [k for k in ("param_groups", "state") if not isinstance(state, Mapping) or k not in state]
        if lacks or not all("params" in g for g in state["param_groups"]):
            raise ValueError(f"load_state_dict: no {' and no '.join(lacks or ['params of a group'])}: what state_dict() gave is needed")
        sizes = [len(g["params"]) for g in self.param_groups]
        given = [len(g["params"]) for g in state["param_groups"]]
        if sizes != given:
            raise ValueError(f"load_state_dict: groups of {given} parameters for those of {sizes}")
        for group, saved in zip(self.param_groups, state["param_groups"]):  # before any is changed
            lacks, more = sorted(group.keys() - saved.keys()), sorted(saved.keys() - group.keys())
            if lacks and more:  # one alone is of another version
                raise ValueError(f"load_state_dict: the state of another optimizer: it has {', '.join(more)} and no {', '.join(lacks)}")
        for group, saved in zip(self.param_groups, state["param_groups"]):
            group.update({k: v for k, v in saved.items() if k != "params"})
            for param, number in zip(group["params"], saved["params"]):
                own = self._state[param]
                for name, value in state["state"].get(number, {}).items():
                    if name == "step":
                        own[name] = int(np.asarray(value).reshape(()))
                    elif name in own:
                        own[name]._reset(np.asarray(value).reshape(own[name].shape))
                    else:  # as of a momentum that this one was not made with
                        own[name] = Tensor(np.asarray(value), dtype=param.dtype)


def zeros_of(param):
    return Tensor(np.zeros(param.shape, param.dtype))


def check(least, **settings):
    """Settings are numbers of at least so much."""
    for name, value in settings.items():
        if isinstance(value, str):
            raise TypeError(f"{name} {value!r}: a number is needed")
        if value < least:
            raise ValueError(f"{name} {value} is below {least}")
