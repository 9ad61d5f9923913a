"""PyTorch binding of @FILE@, as exported by Kernelscope.

    import @NAME@_torch
    out = @NAME@_torch.@FIRST@(...)

The library is built beside this file when it is first needed. The operators are registered as torch.ops.@NAME@.*, so torch.compile leaves
them whole. report.md says what was validated, on which machine.
"""
import ctypes
import pathlib
import subprocess

import torch

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = HERE / "@LIBRARY@"
BUILD = [@BUILD@]
SOURCES = [@SOURCES@]
DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}


def _load():
    sources = [HERE / name for name in SOURCES]
    if BUILD and (not LIBRARY.exists() or any(source.stat().st_mtime > LIBRARY.stat().st_mtime for source in sources)):
        subprocess.run(BUILD, cwd=HERE, check=True)
    return ctypes.CDLL(str(LIBRARY))


_library = None


def _function(operator, device):
    global _library
    if _library is None:
        _library = _load()
    names = ["ks_" + operator] if device.type == "cuda" else ["ks_cpu_" + operator, "ks_" + operator]
    for name in names:
        if hasattr(_library, name):
            return getattr(_library, name)
    raise RuntimeError(f"@FILE@ has no {operator} for {device.type}")


def _pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def _integer(value):
    return ctypes.c_int64(value)


def _tail(tensor):
    """What every call ends with: the type, the stream."""
    stream = torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else None
    return ctypes.c_int(DTYPES[tensor.dtype]), ctypes.c_void_p(stream)


def _check(status):
    if status != 0:
        raise RuntimeError(f"@FILE@ refused the call: status {status} (kernelscope/kernels.h, ks_status)")


def _rows(tensor):
    """[..., width] as [rows, width] with elements side by side."""
    rows = tensor.reshape(-1, tensor.shape[-1])
    return rows if rows.stride(-1) == 1 else rows.contiguous()
