"""GraphInference: runs a file of trace.dump."""

from ..jit.dump import load

__all__ = ["GraphInference"]


class GraphInference:
    """run(*inputs, inp_dict={name: value}) gives an OrderedDict of arrays by output name; outputs: the names of
    those that are wanted."""

    def __init__(self, file, outputs=None, profiling=False, optimize_for_inference=False, **kwargs):
        if profiling or kwargs:
            raise ValueError(f"GraphInference: {', '.join(['profiling'] * bool(profiling) + sorted(kwargs))}: not there")
        self._loaded = load(file)
        self._outputs = self._loaded.outputs if outputs is None else list(outputs)
        missing = [name for name in self._outputs if name not in self._loaded.outputs]
        if missing:
            raise ValueError(f"no output {missing[0]!r}: there are {', '.join(self._loaded.outputs)}")

    def run(self, *inp_args, inp_dict=None):
        found = self._loaded.run(inp_args, inp_dict or {})
        return type(found)((name, found[name]) for name in self._outputs)
