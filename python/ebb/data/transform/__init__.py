"""What is done to samples before they become batches."""

from . import base, colours, places, sizes
from .base import *
from .colours import *
from .places import *
from .sizes import *

__all__ = base.__all__ + colours.__all__ + places.__all__ + sizes.__all__
