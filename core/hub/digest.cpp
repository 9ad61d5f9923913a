#include "core/hub/digest.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kernelscope {

namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRoots{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using std::rotl;
using std::rotr;

}  // namespace

Digest::Digest(Kind kind) : m_kind(kind) {
    if (kind == Kind::sha1) m_state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0, 0, 0, 0};
    else m_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
}

void Digest::add(std::string_view bytes) {
    m_bytes += bytes.size();
    auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t left = bytes.size();
    if (m_held > 0) {
        const std::size_t taken = std::min(left, m_rest.size() - m_held);
        std::memcpy(m_rest.data() + m_held, at, taken);
        m_held += taken;
        at += taken;
        left -= taken;
        if (m_held < m_rest.size()) return;
        block(m_rest.data());
        m_held = 0;
    }
    for (; left >= m_rest.size(); at += m_rest.size(), left -= m_rest.size()) block(at);
    if (left > 0) std::memcpy(m_rest.data(), at, left);
    m_held = left;
}

std::string Digest::finish() {
    const std::uint64_t bits = m_bytes * 8;
    // One bit, zeros up to eight bytes before a block's end, then the length.
    std::string padding(1 + (119 - m_bytes % 64) % 64, '\0');
    padding[0] = static_cast<char>(0x80);
    for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift);
    add(padding);
    std::string text;
    constexpr char kDigits[] = "0123456789abcdef";
    for (std::size_t word = 0; word < (m_kind == Kind::sha1 ? 5U : 8U); ++word)
        for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(m_state[word] >> shift) & 15];
    return text;
}

void Digest::block(const unsigned char* bytes) {
    std::array<std::uint32_t, 16> words;
    for (std::size_t i = 0; i < 16; ++i, bytes += 4)
        words[i] = std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
    m_kind == Kind::sha1 ? block1(words) : block256(words);
}

void Digest::block1(const std::array<std::uint32_t, 16>& words) {
    std::array<std::uint32_t, 80> w;
    std::copy(words.begin(), words.end(), w.begin());
    for (std::size_t i = 16; i < 80; ++i) w[i] = rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e, f, g, h] = m_state;
    for (std::size_t i = 0; i < 80; ++i) {
        std::uint32_t mix, constant;
        if (i < 20) { mix = (b & c) | (~b & d); constant = 0x5a827999; }
        else if (i < 40) { mix = b ^ c ^ d; constant = 0x6ed9eba1; }
        else if (i < 60) { mix = (b & c) | (b & d) | (c & d); constant = 0x8f1bbcdc; }
        else { mix = b ^ c ^ d; constant = 0xca62c1d6; }
        const std::uint32_t next = rotl(a, 5) + mix + e + constant + w[i];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = next;
    }
    m_state = {m_state[0] + a, m_state[1] + b, m_state[2] + c, m_state[3] + d, m_state[4] + e, f, g, h};
}

void Digest::block256(const std::array<std::uint32_t, 16>& words) {
    std::array<std::uint32_t, 64> w;
    std::copy(words.begin(), words.end(), w.begin());
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = m_state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRoots[i] + w[i];
        const std::uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> sum{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < sum.size(); ++i) m_state[i] += sum[i];
}

}  // namespace kernelscope
