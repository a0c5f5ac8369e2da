"""trace: calls of a function are recorded, compiled within a budget of bytes, and compared with the recording."""

import contextlib
import functools
import os
import threading
import weakref

from .. import _core, _precision, _shape
from .._errors import TraceError
from ..module import mode
from . import dump as _dump
from . import fit as _fit
from .backend import plugins, xla_is_here
from .gradients import Gradients
from .method import Bound
from .options import budget_of, level_options, memory_options
from .profile import profile_of
from .progress import Line
from .report import report as _report
from .structure import look_through, tensors_of
from .watch import Watch

_PROFILED = 100  # runs whose times a profile keeps
_FIT_EFFORT = 10000  # of each search of fit(), unless the trace says another
_undo = []  # what the program's own objects take back when the call fails
_noted = {}  # tensors, by id, whose gradients of before the call are in there
_running = []  # the trace whose call is going on, its thread, and whether anything runs; those behind it are refused


class trace:
    """A decorator: @trace, @trace(symbolic=True), or trace(function, budget="11GiB").

    The first call is recorded, while it runs, or, with symbolic, before anything has run. Later calls run the
    body too, without its ops: each is compared with the recording, and at the end the compiled program runs.
    Positional arguments are tensors, or lists, tuples and dicts of them; other arguments are parts of the program:
    numbers and strings by value, objects by identity.

    budget: bytes that the step may take ("11GiB"), or a share of what it takes in place (0.6): the least added
    time that fits. memory: "none", "in_place"
    (usual), "sublinear" or "budget". on_mismatch: a call that does something else than its recording is a TraceError
    ("raise", usual) or is recorded anew and goes on ("retrace"); what reads a value for the first time is recorded anew
    in any case. There is a recording, and a program, for each set of gradients that are there when a call begins.
    sublinear_memory_config: MegEngine's search for fewest bytes. opt_level: below 2 ops are not fused; 3: chains of
    pointwise ops are one op each. cache: a folder of plans made earlier. progress: whether stderr shows how far a
    search is (usually where it is a terminal), or a function of (aim, done, total, best, least) that is told. device:
    the file of a device's description: calls are planned for it, and refused where it has too little memory. Then, and
    with record_only, nothing runs: results have no values, and what is assigned is taken back. backend: "own", or
    "xla": programs are compiled and run by XLA, and results agree by tolerance (docs/xla.md).
    Other options of MegEngine's are accepted and change nothing that can be seen.
    """

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls) if args else functools.partial(cls, **kwargs)

    def __init__(self, function=None, symbolic=False, capture_as_const=False, without_host=False, imperative=False,
                 record_only=False, sublinear_memory_config=None, dtr_config=None, profiling=False, opt_level=None,
                 graph_opt_config=None, symbolic_shape=True, *, budget=None, memory=None, device=None,
                 on_mismatch="raise", effort=None, time_limit=None, cache=None, verify=False, progress=None,
                 backend="own"):
        functools.update_wrapper(self, function)
        if sublinear_memory_config is not None and dtr_config is not None:
            raise ValueError("trace: sublinear_memory_config or dtr_config, not both")
        if on_mismatch not in ("retrace", "raise"):
            raise ValueError(f"trace: on_mismatch {on_mismatch!r}: retrace or raise")
        if backend not in ("own", "xla"):
            raise ValueError(f"trace: backend {backend!r}: own or xla")
        self._described = _fit.description(device)
        self._runs = not (record_only or self._described)
        self._options = {"symbolic": bool(symbolic), "record_only": bool(record_only), "strict": on_mismatch == "raise",
                         "verify": bool(verify), "keep": bool(capture_as_const or record_only), "n_profiled": _PROFILED if profiling else 0,
                         "plan_only": bool(self._described) and not record_only, "xla": backend == "xla"}
        self._options.update(level_options(opt_level), **memory_options(sublinear_memory_config, dtr_config, budget, memory))
        said = {"effort": effort, "time_limit": time_limit, "cache": cache and os.fspath(cache), "device": self._described}
        self._options.update({k: v for k, v in said.items() if v is not None})
        self._line = Line(progress)
        self._options["progress"] = progress if callable(progress) else self._line
        self._symbolic_shape = symbolic_shape
        self._xla_if_here = False  # in place of the option xla, until it is known
        self._core, self._named, self._n_returned, self._has_arrays = None, {}, 0, False  # but the first of the last call that ended well
        self._watch, self._gradients = Watch(self._options), Gradients()

    def __get__(self, instance, owner=None):
        return self if instance is None else Bound(self, instance)

    def __call__(self, *args, **kwargs):
        if _inside():  # a part of the call that is going on
            return self.__wrapped__(*args, **kwargs)
        return self._traced(self.__wrapped__, "", args, kwargs)

    def _traced(self, function, kind, args, kwargs):
        """A call of the function. kind: what the recording depends on besides."""
        self._start()
        tensors, key = [], [f"{mode.now():x} {_precision.now()}{kind}"]
        look_through(args, tensors, key)
        named = {}  # where tensors are given by name
        for name, value in sorted(kwargs.items()):
            named[len(tensors)] = name
            look_through((name, value), tensors, key)
        running, symbolic = (self._core, threading.get_ident(), self._runs), _shape.is_symbolic()
        try:  # an interrupt may come at any place
            _running.append(running)
            _inside()  # another thread may have been faster
            _shape.set_symbolic(self._symbolic_shape)
            self._core.begin(self._gradients.key(key, tensors), tensors)
            with self._gradients.of_call(self._core, tensors):
                result, returned = function(*args, **kwargs), []
            tensors_of(result, returned)
            self._core.end(returned)
            self._named, self._n_returned, self._has_arrays = named, len(returned), any(part.startswith("array:") for part in key)
            if self._runs:
                _forget()
                self._watch.look(self._core)
            elif self._options["plan_only"] and self._described:
                _fit.check(self._core, self._described)
        except BaseException as error:
            if isinstance(error, TraceError) and "recorded call" in str(error):
                error.add_note('trace(on_mismatch="retrace") records a call that differs anew, and goes on')
            if _running[:1] == [running]:
                self._core.abort()
            raise
        finally:
            first = _running[:1] == [running]
            if running in _running:
                _running.remove(running)
            if first:
                self._line.clear()
                while _undo:
                    _undo.pop()()
                _forget()
                _shape.set_symbolic(symbolic)
        return result

    def _settle(self):
        if self._xla_if_here:
            self._options["xla"] = xla_is_here(type(self).__name__)
            self._xla_if_here = False

    def _start(self):
        """The core, which is made by the first call."""
        if self._core is None:
            with plugins():
                self._settle()
                self._core = _core.Trace(self._options)
        return self._core

    # ---- what came of it

    @property
    def backend(self):
        """Who runs its programs: "own" or "xla"."""
        with plugins():
            self._settle()
        return "xla" if self._options["xla"] else "own"

    def _made(self):
        if self._core is None:
            raise TraceError("nothing was called yet: there is no plan")
        return self._core

    def facts(self):
        """Recordings, calls and programs so far."""
        return self._made().facts()

    def plan(self, program=0):
        """The figures of a program's plan, a dict: bytes, steps, recomputed ones, time, and the lower bound; where XLA
        runs it, its own bytes beside them, as "xla"."""
        if self._options["record_only"] and self._core is not None:
            raise TraceError("record_only records and plans nothing: leave it out, or plan what `dump` writes")
        return self._made().plan(program)

    def fit(self, arguments, budget=None, *, most=65536, **kwargs):
        """The largest n, up to `most`, with which the step fits a budget: a dict of n (0: none does), budget_bytes, the
        figures of its plan, and tried, {n: bytes, or None where no plan fits}.

        arguments(n) gives the positional arguments of such a call, and kwargs are its others. They are planned as the
        trace saves memory, with less effort unless it says how much; nothing runs. budget: "11GiB" or bytes; usually
        the trace's own, or what its described device has."""
        given = self._options if budget is None else budget_of(budget, "fit")
        if "budget_share" in given:
            which = "the trace's budget is" if budget is None else f"budget={budget!r}:"
            raise ValueError(f'fit: {which} a share of what the step takes, whatever its size: give fit(budget="11GiB")')
        n_bytes = given.get("budget")
        if n_bytes is None and self._described is None:
            raise ValueError('fit: a budget is needed: "11GiB", or a number of bytes')
        n_bytes = _fit.room(self._described)[0] if n_bytes is None else n_bytes
        planner = object.__new__(trace)
        planner.__dict__.update(self.__dict__)
        planner._options = {"effort": _FIT_EFFORT, **self._options, "plan_only": True, "record_only": False,
                            "n_profiled": 0, "n_most": 1}
        if planner._options.get("memory") == "budget":
            planner._options["budget"] = n_bytes
            planner._options.pop("budget_share", None)
        planner._core, planner._runs, planner._described = None, False, None

        def plan_of(n):
            planner(*arguments(n), **kwargs)
            if not planner._core.facts()["n_programs"]:
                raise ValueError(f"fit: the step has no op that takes what arguments({n}) gives: give Tensors")
            return _fit.total(planner._core), planner.plan()

        return _fit.largest(plan_of, n_bytes, most)

    def save_plan(self, path, program=0):
        """Writes ebb.plan/1, which `ebb verify` and `ebb report` read."""
        self._made().plan_write(program, os.fspath(path))

    def text(self, program=0):
        """The step as text."""
        return self._made().text(program)

    def get_profile(self):
        """Times of each step of each program, with profiling=True: a dict that json can write."""
        core = self._made()
        if not self._options["n_profiled"]:
            raise TraceError("nothing was measured: trace(profiling=True) does")
        return profile_of(core)

    def dump(self, file, *, arg_names=None, output_names=None, append=False, keep_var_name=1, keep_opr_name=False,
             keep_param_name=False, keep_opr_priority=False, no_change_graph=False, strip_info_file=None,
             append_json=False, optimize_for_inference=True, dump_format=None, user_info=None, **flags):
        """Writes the last call's graph and its weights to a path or an open file: for jit.load, or as ONNX where
        dump_format="ONNX" or the path ends with .onnx. Needs
        capture_as_const=True: numbers and arrays of the body are as they were in that call. Names of values are
        always kept, and the graph is as it was recorded. Of the flags enable_io16xc32 has the file run with activations
        of 16 bits; the others are checked, and change nothing. With optimize_for_inference=False no flag does anything."""
        if not self._options["keep"]:
            raise ValueError("dump: you must specify capture_as_const=True at trace() to use it")
        for name, value in (("append", append), ("strip_info_file", strip_info_file), ("append_json", append_json),
                            ("user_info", user_info)):
            if value:
                raise ValueError(f"dump: {name}={value!r}: a file is one graph as text and its weights")
        if self._has_arrays:
            raise ValueError("dump: the call was given arrays, which the file would hold as they were: give Tensors")
        precision = _dump.precision_of(flags, file, dump_format, optimize_for_inference)
        return _dump.dump(self._made(), self._named, self._n_returned, file, arg_names, output_names, keep_param_name, dump_format,
                          precision)

    def report(self, path=None, format=None, program=0):
        """The report of a plan: to a file, by its ending .html, .json, .md or .txt, or as text."""
        return _report(self._made(), program, path, format)


def _inside():
    """Whether a traced call is going on in this thread."""
    if not _running:
        return False
    if _running[0][1] != threading.get_ident():
        raise TraceError("a traced call is going on in another thread: one at a time")
    return True


def on_abort(undo):
    """Has undo() called if the call that is going on, if any, fails, or runs nothing: for what is no tensor's value."""
    if _running:
        _undo.append(undo)


def _forget():
    _undo.clear()
    _noted.clear()


def give_grad(tensor, gradient):
    """tensor.grad = gradient, which a call that fails takes back: to that of before the call, the only one that is held. One
    that the call has made would be a result of its program."""
    of = _noted.get(id(tensor))
    if _running and (of is None or of() is not tensor):
        before, of = tensor.__dict__.get("grad"), weakref.ref(tensor)
        _noted[id(tensor)] = of
        _undo.append(lambda: of() is None or setattr(of(), "grad", before))
    tensor.grad = gradient


def clear_grad(tensor):
    """tensor.grad = None. Where nothing runs it is taken back; where a program does, it may have the memory."""
    if _running and not _running[0][2]:
        give_grad(tensor, None)
    else:
        tensor.grad = None


def may_differ(on):
    """While on, at most to the call's end: what the package does by itself is no other course of the function, and is
    recorded anew. Returns whether it was on."""
    return _running[0][0].may_differ(on) if _running else on


@contextlib.contextmanager
def exclude_from_trace():
    """Ops in here run at once and are not recorded; what they give is fed to what follows."""
    if not _inside():
        yield
        return
    core = _running[0][0]
    core.exclude_begin()
    try:
        yield
    finally:  # the body may catch what is raised in here, and go on
        core.exclude_end()
