// Grouped-query attention over the static cache.

#include <ATen/ATen.h>

#include "core/model/qwen2.h"
#include "core/model/qwen2_weights.h"

namespace kernelscope {
namespace {

// Over more keys than this, torch's kernel shares them out among multiprocessors when it lays out the queries itself.
constexpr std::int64_t kOneBlockOfKeys = 256;

}  // namespace

at::Tensor Qwen2Model::attention(std::size_t layer, const Pass& pass, const at::Tensor& x) {
    const DecoderLayer& weights = m_weights->layers[layer];
    const LayerModules& modules = m_weights->modules.layers[layer];
    return m_hooks.call(m_modules[modules.attention], [&] {
        // [batch x n, heads x head_dim] seen as [batch, heads, n, head_dim]
        const auto byHead = [&](const at::Tensor& rows, std::int64_t heads) {
            return rows.view({pass.batch, pass.n, heads, m_config.headDim}).transpose(1, 2);
        };
        const std::int64_t queries = m_config.heads * m_config.headDim, width = m_config.kvHeads * m_config.headDim;
        at::Tensor all;  // of a step in a graph; the first of its modules then stands for the product
        if (pass.slot.defined()) all = m_hooks.call(m_modules[modules.q], [&] { return weights.qkv(x); });
        const auto part = [&](std::size_t module, const Linear& projection, std::int64_t first, std::int64_t size) {
            return m_hooks.call(m_modules[module], [&] { return all.defined() ? all.narrow(1, first, size) : projection(x); });
        };
        const at::Tensor q = byHead(all.defined() ? all.narrow(1, 0, queries) : part(modules.q, weights.q, 0, queries), m_config.heads);
        const at::Tensor k = byHead(part(modules.k, weights.k, queries, width), m_config.kvHeads);
        const at::Tensor v = byHead(part(modules.v, weights.v, queries + width, width), m_config.kvHeads);
        const auto [rotatedQ, rotatedK] = m_table.rope(q, k, pass.cos, pass.sin);

        const auto index = static_cast<std::int64_t>(layer);
        at::Tensor& keys = pass.cache->keys(index);
        at::Tensor& values = pass.cache->values(index);
        if (all.defined() && rotatedK.const_data_ptr() == k.const_data_ptr()) {
            // Rotated in place, k still lies beside v: one copy writes both.
            const at::Tensor row = all.narrow(1, queries, 2 * width).view({pass.batch, 1, 2, m_config.kvHeads, m_config.headDim});
            pass.cache->both(index).index_copy_(1, pass.slot, row);
        } else if (pass.slot.defined()) {
            keys.index_copy_(2, pass.slot, rotatedK);
            values.index_copy_(2, pass.slot, v);
        } else {
            keys.narrow(2, pass.past, pass.n).copy_(rotatedK);
            values.narrow(2, pass.past, pass.n).copy_(v);
        }
        const at::Tensor attended = attend(layer, pass, rotatedQ);
        return m_hooks.call(m_modules[modules.o], [&] { return weights.o(attended); });
    });
}

// q [batch, heads, n, head_dim] -> [batch x n, heads x head_dim].
at::Tensor Qwen2Model::attend(std::size_t layer, const Pass& pass, const at::Tensor& q) {
    const auto index = static_cast<std::int64_t>(layer);
    KvCache& cache = *pass.cache;
    const std::int64_t rows = pass.batch * pass.n;
    const std::int64_t features = m_config.heads * m_config.headDim;

    if (m_weights->route == AttentionRoute::flash && pass.slot.defined()) {
        // All batch rows' keys end to end; how many of each are real stands on the device.
        const auto flat = [&](const at::Tensor& t) {
            return t.transpose(1, 2).view({pass.batch * cache.capacity(), m_config.kvHeads, m_config.headDim});
        };
        const auto flash = [&](const at::Tensor& queries, const at::Tensor& starts, std::int64_t most) {
            return std::get<0>(at::_flash_attention_forward(
                queries, flat(cache.keys(index)), flat(cache.values(index)), starts, cache.keyStarts(), /*max_q=*/most,
                /*max_k=*/cache.capacity(), /*dropout_p=*/0.0, /*is_causal=*/false, /*return_debug_mask=*/false, /*scale=*/std::nullopt,
                /*window_size_left=*/std::nullopt, /*window_size_right=*/std::nullopt, /*seqused_k=*/pass.visible));
        };
        const std::int64_t group = m_config.heads / m_config.kvHeads;
        if (pass.batch == 1 && group > 1 && cache.capacity() <= kOneBlockOfKeys) {
            // The kernel wants the query heads of a key head as so many queries, and copies q there and the result back; in one
            // row of text strides say the same.
            const at::Tensor grouped = q.reshape({m_config.kvHeads, group, m_config.headDim}).transpose(0, 1);
            return flash(grouped, cache.groupStarts(), group).transpose(0, 1).reshape({rows, features});
        }
        return flash(q.reshape({pass.batch, m_config.heads, m_config.headDim}), cache.queryStarts(), 1).reshape({rows, features});
    }

    const std::int64_t length = pass.slot.defined() ? cache.capacity() : pass.past + pass.n;
    const at::Tensor keys = cache.keys(index).narrow(2, 0, length);
    const at::Tensor values = cache.values(index).narrow(2, 0, length);
    const bool causal = pass.n > 1;
    if (m_weights->route == AttentionRoute::flash) {
        const at::Tensor out = std::get<0>(at::_scaled_dot_product_flash_attention(q, keys, values, /*dropout_p=*/0.0, causal));
        return out.transpose(1, 2).reshape({rows, features});
    }
    const std::optional<at::Tensor> mask = pass.mask.defined() ? std::optional(pass.mask) : std::nullopt;
    if (pass.n == 1) {
        // One token: the query heads that share a key head are just more queries. No expansion, and each key is read once.
        const std::int64_t group = m_config.heads / m_config.kvHeads;
        const at::Tensor grouped = q.reshape({pass.batch, m_config.kvHeads, group, m_config.headDim});
        return at::scaled_dot_product_attention(grouped, keys, values, mask).reshape({rows, features});
    }
    const at::Tensor out = at::scaled_dot_product_attention(q, keys, values, mask, /*dropout_p=*/0.0, causal && !mask,
                                                            /*scale=*/std::nullopt, /*enable_gqa=*/true);
    return out.transpose(1, 2).reshape({rows, features});
}

}  // namespace kernelscope
