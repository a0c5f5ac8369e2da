"""Optimizers, named as in megengine.optimizer."""

from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .clip_grad import clip_grad_norm, clip_grad_value
from .lamb import LAMB
from .lr_scheduler import LRScheduler, MultiStepLR
from .optimizer import Optimizer
from .sgd import SGD
