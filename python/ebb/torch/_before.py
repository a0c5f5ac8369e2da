"""What a first call changes, kept, so that the call can be repeated."""

import random

import numpy as np
import torch


class Before:
    """Buffers, whatever else graphs change, and generators as they were before a call."""

    def __init__(self, model):
        self.kept = {}
        self.keep(model.buffers() if isinstance(model, torch.nn.Module) else ())
        self.cpu = torch.get_rng_state()
        self.cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        self.python, self.numpy = random.getstate(), np.random.get_state()  # which layers are left out, or what is masked

    def keep(self, tensors):
        for tensor in tensors:
            if isinstance(tensor, torch.Tensor) and id(tensor) not in self.kept:
                self.kept[id(tensor)] = (tensor, tensor.detach().clone())

    def restore(self):
        with torch.no_grad():
            for tensor, value in self.kept.values():
                tensor.copy_(value)
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)
        random.setstate(self.python)
        np.random.set_state(self.numpy)
