"""Gradients that are scaled up on their way."""

import math

from ..functional.creation import full_like
from ..functional.tensor import stack
from ..jit.trace import give_grad, may_differ, on_abort


class GradScaler:
    """Multiplies what backward begins with by scale_factor, and divides the gradients by it.

    Gradients that are not finite become None, so that the optimizer leaves its parameters alone, and the scale is
    multiplied by backoff_factor; after growth_interval steps without any, by growth_factor. growth_interval 0: the
    scale stays what it is.
    """

    def __init__(self, init_scale=2.0**4, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        self.scale_factor = float(init_scale)
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval = growth_interval
        self._growth_tracker = 0
        self._found_non_finite = False

    def backward(self, gm, y=None, dy=None, *, unscale_grad=True, update_scale="if_unscale_grad"):
        """gm.backward(y, dy), scaled. unscale_grad=False: unscale(tensors) and update() are called later."""
        ys = [] if y is None else list(y) if isinstance(y, (list, tuple)) else [y]
        dys = [None] * len(ys) if dy is None else list(dy) if isinstance(dy, (list, tuple)) else [dy]
        if len(ys) != len(dys):
            raise ValueError(f"backward: {len(ys)} tensors and {len(dys)} gradients of them")
        dys = [(full_like(one, 1) if d is None else d) * self.scale_factor for one, d in zip(ys, dys)]
        gm.backward(ys, dys)
        if unscale_grad:
            self.unscale(gm.attached_tensors())
        if update_scale is True or (update_scale == "if_unscale_grad" and unscale_grad):
            self.update()

    def unscale(self, grad_tensors):
        """Divides the gradients of tensors by the scale; reads whether all of them are finite."""
        tensors = [t for t in grad_tensors if t is not None and t.grad is not None]
        if tensors and not self._finite([t.grad for t in tensors]):
            self._keep()
            self._found_non_finite = True
        may_differ(True)  # whether the step counts is said by this call's numbers
        for tensor in tensors:
            give_grad(tensor, None if self._found_non_finite else tensor.grad * (1.0 / self.scale_factor))
        return self

    @staticmethod
    def _finite(gradients):
        """0 times a number is 0, or not a number."""
        sums = [(g.astype("float32") * 0.0).sum() for g in gradients]
        return not math.isnan((stack(sums).sum() if len(sums) > 1 else sums[0]).item())

    def _keep(self):
        """What a traced call that fails takes back."""
        on_abort(lambda state=self.state_dict(), found=self._found_non_finite: (
            self.load_state_dict(state), setattr(self, "_found_non_finite", found)))

    def update(self, new_scale=None):
        """The scale of the next step: by the rule, or the one that is given."""
        if self.growth_interval == 0 and new_scale is None:
            return
        self._keep()
        if new_scale is not None:
            self.scale_factor = float(new_scale)
        elif self._found_non_finite:
            self.scale_factor *= self.backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker >= self.growth_interval:
                self.scale_factor *= self.growth_factor
                self._growth_tracker = 0
        self._found_non_finite = False

    def state_dict(self):
        names = ("scale_factor", "growth_factor", "backoff_factor", "growth_interval")
        return {**{name: getattr(self, name) for name in names}, "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name, value)
