"""Modules by the paths that they have in MegEngine, where those are others."""

import importlib

from ._absent import known_as

_PATHS = {
    "_tensor": "tensor",
    "core": "core.tensor core.autodiff core.autodiff.grad core._trace_option core.tensor.utils",
    "data.transform": "data.transform.vision data.transform.vision.transform",
    "utils.comp_graph_tools": "core.tensor.megbrain_graph",
    "distributed": "distributed.group distributed.helper distributed.launcher",
    "jit.config": "jit.dtr_config jit.graph_opt_config jit.sublinear_memory_config",
    "jit.partial": "jit.partial_tracing",
    "jit.trace": "jit.tracing",
    "module.elemwise": "module.concat",
    "module.fused": "module.conv_bn module.conv_transpose_bn module.linear_bn",
    "module.linear": "module.dropout module.embedding",
    "module.pooling": "module.adaptive_pooling",
    "module.rnn": "module.multiheadattn",
    "module.sequential": "module.identity",
    "module.windows": "module.lrn module.pixel_shuffle module.sliding_window",
    "optimizer.adam": "optimizer.adamw",
    "optimizer.lr_scheduler": "optimizer.multi_step_lr",
    "random": "random.rng",
}


def name_all(package):
    for own, paths in _PATHS.items():
        module = importlib.import_module(f"{package}.{own}")
        for path in paths.split():
            known_as(package, path, module)
