"""Sequential, Identity."""

from collections import OrderedDict

from .module import Module


class Identity(Module):
    def forward(self, x):
        return x


class Sequential(Module):
    """Modules one after the other; an OrderedDict gives them names."""

    def __init__(self, *args, **kwargs):
        super().__init__(**kwargs)
        self.layer_keys = []
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for key, module in named:
            setattr(self, key, module)
            self.layer_keys.append(key)

    @property
    def layer_values(self):
        return [getattr(self, key) for key in self.layer_keys]

    def __getitem__(self, i):
        if isinstance(i, slice):
            return Sequential(OrderedDict((k, getattr(self, k)) for k in self.layer_keys[i]))
        return getattr(self, self.layer_keys[i])

    def __setitem__(self, i, module):
        keys = self.layer_keys[i] if isinstance(i, slice) else [self.layer_keys[i]]
        for key, one in zip(keys, module if isinstance(i, slice) else [module]):
            setattr(self, key, one)

    def __delitem__(self, i):
        keys = self.layer_keys[i] if isinstance(i, slice) else [self.layer_keys[i]]
        for key in keys:
            delattr(self, key)
        self.layer_keys = [k for k in self.layer_keys if k not in keys]

    def __len__(self):
        return len(self.layer_keys)

    def __iter__(self):
        return iter(self.layer_values)

    def forward(self, inp):
        for module in self.layer_values:
            inp = module(inp)
        return inp
