

@torch.library.custom_op("@NAME@::rope", mutates_args=("q", "k"))
def rope(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor) -> None:
    """In place. q [tokens, heads, head_dim], k [tokens, kv_heads, head_dim], the heads of a token side by side; cos, sin float32 [max_position, head_dim]; positions int64."""
    for tensor in (q, k):
        if tensor.stride(2) != 1 or tensor.stride(1) != tensor.shape[2]:
            raise ValueError("the heads of a token must lie side by side")
    cosines, sines, places = cos.float().contiguous(), sin.float().contiguous(), positions.long().contiguous()
    _check(_function("rope", q.device)(_pointer(q), _pointer(k), _pointer(cosines), _pointer(sines), _pointer(places), _integer(q.shape[0]), _integer(q.shape[1]), _integer(k.shape[1]),
                                       _integer(q.shape[2]), _integer(q.stride(0)), _integer(k.stride(0)), *_tail(q)))


@rope.register_fake
def _(q, k, cos, sin, positions):
    return None
