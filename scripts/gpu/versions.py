"""Versions of CUDA's libraries, asked of themselves: no device is needed.

    versions.py [cudnn=FILE] [cublaslt=FILE] [cudart=FILE] [cupti=FILE]      prints one JSON document
"""
import ctypes
import json
import sys


def returned(function):
    function.restype = ctypes.c_size_t
    return function()


def filled(function):
    """None of 0, too: the runtime tells it of a driver that is not there."""
    out = ctypes.c_int(0)
    return (out.value or None) if function(ctypes.byref(out)) == 0 else None


# library: [(key, function, how it tells)]
ASKED = {"cudnn": [("cudnn", "cudnnGetVersion", returned)], "cublaslt": [("cublaslt", "cublasLtGetVersion", returned)],
         "cudart": [("cuda_runtime", "cudaRuntimeGetVersion", filled), ("cuda_driver", "cudaDriverGetVersion", filled)],
         "cupti": [("cupti", "cuptiGetVersion", filled)]}


def main():
    files, told = dict(word.partition("=")[::2] for word in sys.argv[1:]), {}
    for library, asked in ASKED.items():
        for key, name, how in asked:
            try:
                told[key] = how(getattr(ctypes.CDLL(files[library]), name)) if library in files else None
            except (OSError, AttributeError):
                told[key] = None
    print(json.dumps(told))


if __name__ == "__main__":
    main()
