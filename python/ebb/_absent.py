"""Names and modules of MegEngine's that are not there. To import one is no error, so that a file of which a part can be
run is run; to use it is one, in one line."""

import importlib
import sys
import types

_OURS = "MegEngine's own graph and ops are not there"

# Of modules that are there: where, names, why not.
_NAMES = (
    ("functional functional.math", "matinv svd", "matrices are not decomposed"),
    ("functional functional.nn", "multi_head_attention rnn_cell lstm_cell rnn lstm", "the modules of ebb.module do it"),
    ("functional functional.nn", "conv_bias_activation batch_conv_bias_activation", "nothing is quantized"),
    ("functional functional.nn", "deformable_conv2d deformable_psroi_pooling region_restricted_conv general_norm",
     "no op does it"),
    ("functional functional.nn functional.vision", "correlation nvof", "no op does it"),
    ("module", "DeformableConv2d DeformablePSROIPooling RegionRestrictedConv GeneralNorm BatchMatMulActivation",
     "no op does it"),
    ("module", "QuantStub DequantStub", "nothing is quantized"),
    ("optimizer", "LAMBFp16", "LAMB's states are float32"),
    ("random", "multinomial", "nothing draws it"),
    ("amp", "convert_module convert_module_format convert_tensor_format", "the layout is channels last on every device"),
    ("device", "get_cuda_compute_capability get_cuda_version get_cudnn_version", "ebb doctor tells what a device is"),
    ("device", "get_max_reserved_memory", "get_max_allocated_memory tells the most of values, a plan its block"),
    ("hub", "help import_module list load load_serialized_obj_from_url", "nothing is downloaded"),
    ("logger", "set_log_file", "logging's own handlers do it"),
    ("data.dataset", "CIFAR10 CIFAR100 COCO Cityscapes ImageFolder ImageNet MNIST Objects365 PascalVOC",
     "data sets are not read: ArrayDataset takes arrays, and ebb run --data files"),
    ("core", "Grad", _OURS),
    ("jit", "is_tracing", "what is traced runs as what is not"),
    ("utils.comp_graph_tools", "load_model", _OURS),
)

# Modules, and why not.
_MODULES = (
    ("core.ops core.ops.builtin core.ops.special core.tensor.dtype", _OURS),
    ("core._imperative_rt core._imperative_rt.common core._imperative_rt.core2 core._imperative_rt.imperative", _OURS),
    ("core._imperative_rt.ops core._imperative_rt.utils core._wrap core.tensor.array_method", _OURS),
    ("functional.debug_param functional.external functional.inplace utils.network utils.network_node", _OURS),
    ("functional.quantized module.qat module.quantized quantization quantization.quantize", "nothing is quantized"),
    ("functional.distributed", "a process has one device"),
    ("data.dataset.vision", "data sets are not read: ArrayDataset takes arrays"),
    ("dtr", 'jit.trace(budget="5GB") keeps to so many bytes'),
    ("traced_module utils.module_utils", "jit.trace(capture_as_const=True) and dump keep a network"),
    ("utils.module_stats utils.profiler", "jit.trace(profiling=True) and report tell times and bytes"),
    ("utils.persistent_cache", "jit.trace(cache=FOLDER) keeps plans"),
    ("xla", "jit.xla_trace does it"),
    ("experimental utils.deprecation utils.hook utils.max_recursion_limit", "it is MegEngine's own"),
)


class Absent:
    """What stands for such a name."""

    def __init__(self, name, why):
        self.__name__, self._why = name, why

    def _refuse(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__}: {self._why}")

    __call__ = __enter__ = __exit__ = __getitem__ = __iter__ = __mro_entries__ = _refuse

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}", self._why)

    def __instancecheck__(self, instance):
        return False

    def __subclasscheck__(self, cls):
        return False

    def __repr__(self):
        return f"<{self.__name__}: not there>"


class _Module(types.ModuleType):
    """A module of which every name is absent."""

    def __init__(self, name, why):
        super().__init__(name, f"Not there: {why}.")
        self._why = why

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}", self._why)


def name_all(package):
    """Gives the modules of the package these names."""
    for rooms, names, why in _NAMES:
        for room in rooms.split():
            module = importlib.import_module(f"{package}.{room}")
            for name in names.split():
                setattr(module, name, Absent(f"{package}.{room}.{name}", why))
    for names, why in _MODULES:
        for name in names.split():
            known_as(package, name, _Module(f"{package}.{name}", why))


def known_as(package, path, module):
    """import package.path gives the module; a name that its parent has already stays what it is there."""
    sys.modules[f"{package}.{path}"] = module
    above, _, last = f"{package}.{path}".rpartition(".")
    if last not in vars(sys.modules[above]):
        setattr(sys.modules[above], last, module)
