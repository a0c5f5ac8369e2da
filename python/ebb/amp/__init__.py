"""Mixed precision by MegEngine's names. Ops compute in float32: what would need another precision is refused in one
line, and with enabled=False, or a GradScaler of 1, programs run as they are."""

import contextlib

__all__ = ["GradScaler", "autocast", "enabled"]

enabled = False


class autocast(contextlib.ContextDecorator):
    """with autocast(enabled=False): computes as without it; enabled=True is refused."""

    def __init__(self, enabled=True, low_prec_dtype="float16", high_prec_dtype="float32"):
        if enabled:
            raise ValueError(f"autocast: {low_prec_dtype} is not supported, ops compute in float32: enabled=False")
        self.enabled = enabled

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class GradScaler:
    """Gradients of float32 need no scale: init_scale is 1, and growth_interval 0."""

    def __init__(self, init_scale=1.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=0):
        if init_scale != 1 or growth_interval:
            raise ValueError(
                f"GradScaler: init_scale {init_scale}, growth_interval {growth_interval}: gradients are of float32 "
                "and are not scaled: 1 and 0"
            )
        self.scale_factor = 1.0

    def backward(self, gm, y=None, dy=None, *, unscale_grad=True, update_scale="if_unscale_grad"):
        gm.backward(y, dy)

    def unscale(self, grad_tensors):
        return self

    def update(self, new_scale=None):
        if new_scale not in (None, 1):
            raise ValueError(f"GradScaler: a scale of {new_scale}: gradients are of float32 and are not scaled")
