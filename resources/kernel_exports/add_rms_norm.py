

@torch.library.custom_op("@NAME@::add_rms_norm", mutates_args=())
def add_rms_norm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (norm of the sum, the sum)."""
    rows, added, scale = _rows(x), _rows(residual), weight.contiguous()
    out, total = torch.empty(x.shape, dtype=x.dtype, device=x.device), torch.empty(x.shape, dtype=x.dtype, device=x.device)
    flat, flat_total = out.view(-1, x.shape[-1]), total.view(-1, x.shape[-1])
    _check(_function("add_rms_norm", x.device)(_pointer(flat), _pointer(flat_total), _pointer(rows), _pointer(added), _pointer(scale), _integer(rows.shape[0]), _integer(rows.shape[1]),
                                               _integer(rows.stride(0)), _integer(added.stride(0)), _integer(flat.stride(0)), _integer(flat_total.stride(0)),
                                               ctypes.c_float(eps), *_tail(x)))
    return out, total


@add_rms_norm.register_fake
def _(x, residual, weight, eps):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device), torch.empty(x.shape, dtype=x.dtype, device=x.device)
