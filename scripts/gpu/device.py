"""What only a device can answer, asked of its libraries directly: cuDNN's own description of it, and how fast it copies.

    device.py CUDNN_LIBRARY CUDNN_HEADER CUDART_LIBRARY ORDINAL   prints one JSON document; a part that fails is {"error": ...}
"""
import ctypes
import json
import sys

MIB = 1 << 20


def cudnn_types(header):
    """Values of CUDNN_TYPE_INT32 and CUDNN_TYPE_CHAR: by the header, whose numbers are part of the interface."""
    values = {}
    for line in open(header, encoding="utf-8", errors="replace"):
        words = line.replace("=", " ").replace(",", " ").split()
        of_device = words and words[0].startswith(("CUDNN_TYPE_", "CUDNN_ATTR_DEVICEPROP_", "CUDNN_BACKEND_DEVICEPROP_"))
        if of_device and len(words) >= 2 and words[-1].isdigit():
            values[words[0]] = int(words[-1])
    return values


def checked(status, what):
    if status != 0:
        raise RuntimeError(f"{what}: status {status}")


def description(library, header, number):
    cudnn, values = ctypes.CDLL(library), cudnn_types(header)
    descriptor, ordinal, n = ctypes.c_void_p(), ctypes.c_int32(number), ctypes.c_int64(0)
    checked(cudnn.cudnnBackendCreateDescriptor(values["CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR"], ctypes.byref(descriptor)), "create")
    checked(cudnn.cudnnBackendSetAttribute(descriptor, values["CUDNN_ATTR_DEVICEPROP_DEVICE_ID"], values["CUDNN_TYPE_INT32"],
                                           ctypes.c_int64(1), ctypes.byref(ordinal)), "device id")
    checked(cudnn.cudnnBackendFinalize(descriptor), "finalize")
    attribute, kind = values["CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION"], values["CUDNN_TYPE_CHAR"]
    checked(cudnn.cudnnBackendGetAttribute(descriptor, attribute, kind, ctypes.c_int64(0), ctypes.byref(n), None), "size")
    text = ctypes.create_string_buffer(n.value + 1)
    checked(cudnn.cudnnBackendGetAttribute(descriptor, attribute, kind, n, ctypes.byref(n), text), "text")
    return json.loads(text.value.decode())


class Runtime:
    def __init__(self, library):
        self.cudart = ctypes.CDLL(library)

    def call(self, name, *args):
        checked(getattr(self.cudart, name)(*args), name)

    def pointer(self, name, *args):
        at = ctypes.c_void_p()
        self.call(name, ctypes.byref(at), *args)
        return at

    def seconds(self, work):
        begin, end, ms = self.pointer("cudaEventCreate"), self.pointer("cudaEventCreate"), ctypes.c_float()
        self.call("cudaEventRecord", begin, None)
        work()
        self.call("cudaEventRecord", end, None)
        self.call("cudaEventSynchronize", end)
        self.call("cudaEventElapsedTime", ctypes.byref(ms), begin, end)
        return ms.value / 1e3


def copies(library, number):
    """GB/s between pinned host memory and the device, and on the device (read and written)."""
    cuda, n = Runtime(library), ctypes.c_size_t(256 * MIB)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    cuda.call("cudaSetDevice", number)
    cuda.call("cudaFree", None)  # the context
    cuda.call("cudaMemGetInfo", ctypes.byref(free), ctypes.byref(total))
    found = {"total_bytes": total.value, "free_after_context_bytes": free.value}
    host, a, b = cuda.pointer("cudaMallocHost", n), cuda.pointer("cudaMalloc", n), cuda.pointer("cudaMalloc", n)
    for key, to, source, kind, times in (("to_device_gb_s", a, host, 1, 1), ("to_host_gb_s", host, a, 2, 1),
                                         ("on_device_gb_s", b, a, 3, 2)):
        def copy():
            cuda.call("cudaMemcpyAsync", to, source, n, kind, None)
        copy()
        best = min(cuda.seconds(copy) for _ in range(5))
        found[key] = round(times * n.value / best / 1e9, 2)
    return found


def main():
    _, cudnn, header, cudart, number = sys.argv
    told, number = {}, int(number)
    for key, ask, args in (("deviceprop", description, (cudnn, header, number)), ("copies", copies, (cudart, number))):
        try:
            told[key] = ask(*args)
        except (OSError, RuntimeError, KeyError, ValueError) as fault:
            told[key] = {"error": str(fault)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
