"""Tensor: a handle on a value. Operators are in the extension; what is here is written by them and by ops."""

import os

import numpy as np

from . import _core, _dtype, _errors, _shape, _special
from .device import check_device, is_host

on_grad = []  # the last is told, before it happens, of each look at a gradient, and that there is another from now on
_READ_ONLY_DLPACK = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class Tensor(_core.Tensor):
    """A tensor on the process's device, made of a number, a nested list, an array or another tensor.

    int64 becomes int32 and float64 float32 on entry, unless ``dtype`` says otherwise. An assignment in place
    (``x += y``, ``x[0] = y``) gives the tensor another value: no other tensor changes with it.
    """

    __array_priority__ = 1000  # array + tensor is a tensor

    def __init__(self, data, dtype=None, device=None, is_const=False, no_cache=False, name="", format="default"):
        if device is not None:
            check_device(device)
        if name:
            self.name = name
        if isinstance(data, _core.Tensor):
            self._share(_shape.another(data, as_tensor(data, dtype)))
            return
        if not self._look_at(data, dtype):
            self._fill(_dtype.array_of(data, dtype))

    def _look_at(self, data, dtype):
        """Whether the value is the array's memory itself: nobody can write to that, and it lies as values do."""
        return (isinstance(data, np.ndarray) and not data.flags.writeable and data.size > 0 and _dtype.stays(data.dtype)
                and (dtype is None or data.dtype == np.dtype(dtype)) and _is_fixed(data) and is_host()
                and self._borrow(_dtype.buffer_of(data), _dtype.element_of(data.dtype)))

    def _fill(self, array):
        """The value of a new tensor, of a row-major array."""
        element = _dtype.element_of(array.dtype)
        if array.size:
            self._create(_dtype.buffer_of(array), element, array.shape)
        else:
            self._without(element, array.shape)

    name = ""

    @property
    def grad(self):
        """The gradient that a backward gave it, or None."""
        gradient = self.__dict__.get("grad")
        if on_grad:
            on_grad[-1](self, gradient, True)
        return gradient

    @grad.setter
    def grad(self, gradient):
        if on_grad:
            on_grad[-1](self, gradient, False)
        self.__dict__["grad"] = gradient

    @property
    def device(self):
        """A logical device's name, as MegEngine prints it: there is one device in a process."""
        return "xpux:0"

    @property
    def _tuple_shape(self):
        return self.shape

    # ---- data out

    def numpy(self):
        array = np.empty(self.shape, self.dtype)
        self._read(_dtype.buffer_of(array))
        return array

    def tolist(self):
        return self.numpy().tolist()

    def _look(self):
        """An array of the value itself, which may not be written to; a copy where a device has its own memory."""
        if is_host() and self.size:
            array = np.asarray(self._view())
            return array if array.dtype == self.dtype else array.view(self.dtype)
        return self.numpy()

    def __array__(self, dtype=None, copy=None):
        array = self.numpy() if copy else self._look()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Who asks for version 1 can be told that the value may not be written to; others get a copy."""
        versioned = max_version is not None and max_version[0] >= 1
        if copy or not versioned or not _READ_ONLY_DLPACK:
            if copy is False:
                raise BufferError("a tensor's value may not be written to, which DLPack tells from version 1 on")
            return self.numpy().__dlpack__()
        return self._look().__dlpack__(max_version=max_version)

    def __dlpack_device__(self):
        return 1, 0  # host memory

    def __repr__(self):
        with np.printoptions(precision=4, suppress=True):
            text = str(self.numpy())
        dtype = "" if self.dtype == np.float32 else f", dtype={self.dtype.name}"
        return f"{type(self).__name__}({text}{dtype}, device={self.device})"

    def __format__(self, spec):
        return format(self.item(), spec) if spec and self.size == 1 else format(str(self), spec)

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def __reduce__(self):
        own = {k: v for k, v in self.__dict__.items() if k != "grad"}
        return _rebuild, (type(self), self.numpy(), own)

    def __deepcopy__(self, memo):
        copy = type(self).__new__(type(self))
        copy._share(self.detach())  # values never change: sharing one is a copy
        copy.__dict__.update({k: v for k, v in self.__dict__.items() if k != "grad"})
        memo[id(self)] = copy
        return copy

    # ---- other values

    def __getitem__(self, key):
        return _shape.another(self, _index.get(self, key))

    def __setitem__(self, key, value):
        _index.set(self, key, value)

    def __matmul__(self, other):
        return _math.matmul(self, other)

    def __rmatmul__(self, other):
        return _math.matmul(tensor(other), self)

    def __lshift__(self, other):
        return _elemwise.left_shift(self, other)

    def __rlshift__(self, other):
        return _elemwise.left_shift(other, self)

    def __ilshift__(self, other):
        self._replace(self << other)
        return self

    def __rshift__(self, other):
        return _elemwise.right_shift(self, other)

    def __rrshift__(self, other):
        return _elemwise.right_shift(other, self)

    def __irshift__(self, other):
        self._replace(self >> other)
        return self

    def __round__(self, n_digits=None):
        if n_digits:
            raise ValueError(f"round: {n_digits} digits of a tensor: whole numbers only")
        return _elemwise.round(self)

    def astype(self, dtype):
        return _shape.another(self, _shape.astype(self, dtype))

    def to(self, device, *, _borrow=False):
        check_device(device)
        return _shape.share(self)

    def detach(self):
        return _shape.detach(self)

    def reshape(self, *shape):
        return _shape.another(self, _shape.reshape(self, _shape.sizes(shape)))

    def _broadcast(self, shape):
        return _shape.another(self, _shape.broadcast_to(self, _shape.sizes((shape,))))

    def flatten(self):
        return _shape.another(self, _shape.reshape(self, (-1,)))

    def transpose(self, *order):
        return _shape.another(self, _shape.transpose(self, _shape.sizes(order) if order else None))

    @property
    def T(self):
        return _shape.another(self, _shape.transpose(self, None))

    def sum(self, axis=None, keepdims=False):
        return _math.sum(self, axis, keepdims)

    def mean(self, axis=None, keepdims=False):
        return _math.mean(self, axis, keepdims)

    def prod(self, axis=None, keepdims=False):
        return _math.prod(self, axis, keepdims)

    def max(self, axis=None, keepdims=False):
        return _math.max(self, axis, keepdims)

    def min(self, axis=None, keepdims=False):
        return _math.min(self, axis, keepdims)

    def set_value(self, value):
        """Gives the tensor another value, of any shape and dtype."""
        self._replace(tensor(value))

    def reset_zero(self):
        self._reset(np.zeros(self.shape, self.dtype))

    def _reset(self, value):
        value = tensor(value, dtype=self.dtype)
        if value.shape != self.shape:
            raise ValueError(f"a value of shape {value.shape} for a tensor of shape {self.shape}")
        self._replace(value)


def _is_fixed(array):
    """Whether the array's memory stays as it is: the array and all that it is a view of, down to the object that has the
    memory, are read-only. An array that has its own memory can be made writable again; so that object must be no array."""
    lent, lender = None, array
    while lent is not lender:
        lent = lender
        if isinstance(lent, np.ndarray):
            readonly, lender = not lent.flags.writeable, lent.base
        else:
            try:
                view = memoryview(lent)
            except TypeError:
                return False
            readonly, lender = view.readonly, view.obj
        if not readonly:
            return False
    return True


class Parameter(Tensor):
    """A tensor that optimizers update: what ``Module.parameters`` finds."""


def tensor(data, dtype=None, device=None, is_const=False, no_cache=False, name=""):
    """A new Tensor; see there."""
    return Tensor(data, dtype, device, is_const, no_cache, name)


def as_tensor(x, dtype=None):
    """x itself if it is a tensor of the dtype."""
    if isinstance(x, _core.Tensor):
        return x if dtype is None or x.dtype == np.dtype(dtype) else _shape.astype(x, dtype)
    return Tensor(x, dtype)


def _convert(x):
    """Of an operand that is neither tensor nor number; None: operators do not know it."""
    if isinstance(x, (np.ndarray, np.generic, list, tuple)):
        return Tensor(x)
    return None


def _rebuild(kind, array, own):
    made = kind.__new__(kind)
    made._fill(np.ascontiguousarray(array).reshape(array.shape))
    made.__dict__.update(own)
    return made


_core.setup(
    Tensor,
    _shape.Shape,
    _dtype.DTYPES,
    _convert,
    _special.special,
    _errors.InputError,
    _errors.TraceError,
    _errors.OverBudget,
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
)

from . import _index  # noqa: E402  they make tensors
from .functional import elemwise as _elemwise, math as _math  # noqa: E402
