

@torch.library.custom_op("@NAME@::silu_mul", mutates_args=())
def silu_mul(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    first, second, out = _rows(gate), _rows(up), torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    flat = out.view(-1, gate.shape[-1])
    _check(_function("silu_mul", gate.device)(_pointer(flat), _pointer(first), _pointer(second), _integer(first.shape[0]), _integer(first.shape[1]), _integer(first.stride(0)),
                                              _integer(second.stride(0)), _integer(flat.stride(0)), *_tail(gate)))
    return out


@silu_mul.register_fake
def _(gate, up):
    return torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
