#pragma once
// Whether this program is built with a sanitizer: it is then several times slower and asks for address space of its own.

namespace kernelscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// What a bound on time is multiplied by: address and undefined behaviour sanitizers together cost two to five times.
inline constexpr int kSlowdown = kSanitized ? 5 : 1;

}  // namespace kernelscope::test
