"""Learning rates by epoch."""

from bisect import bisect_right

from .optimizer import Optimizer


class LRScheduler:
    """Sets lr of the optimizer's groups, in each step() one epoch on."""

    def __init__(self, optimizer, current_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"a scheduler takes an Optimizer, not {type(optimizer).__name__}")
        self.optimizer = optimizer
        self.current_epoch = current_epoch
        for i, group in enumerate(optimizer.param_groups):
            if current_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"initial_lr is not in group {i}, which it must be to go on from an epoch")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def state_dict(self):
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    def get_lr(self):
        """lr of each group at current_epoch."""
        raise NotImplementedError

    def step(self, epoch=None):
        self.current_epoch = self.current_epoch + 1 if epoch is None else epoch
        for group, lr in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = lr


class MultiStepLR(LRScheduler):
    """lr is multiplied by gamma at each of the milestones, which ascend."""

    def __init__(self, optimizer, milestones, gamma=0.1, current_epoch=-1):
        if list(milestones) != sorted(milestones):
            raise ValueError(f"MultiStepLR: milestones {milestones} do not ascend")
        self.milestones, self.gamma = milestones, gamma
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        factor = self.gamma ** bisect_right(self.milestones, self.current_epoch)
        return [lr * factor for lr in self.base_lrs]
