#include "core/measure/error_stats.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "core/measure/spacing.h"
#include "core/model/parallel.h"

namespace kernelscope {
namespace {

void raise(double& most, double value) { most = std::max(most, value); }

template <typename T>
ErrorStats compareRange(const Compared& t, std::int64_t begin, std::int64_t end) {
    const T* value = t.value.const_data_ptr<T>();
    const T* native = t.native.const_data_ptr<T>();
    const T* other = t.other.const_data_ptr<T>();
    const double* exact = t.exact.const_data_ptr<double>();
    const double* magnitude = t.magnitude.defined() ? t.magnitude.const_data_ptr<double>() : nullptr;
    const Spacing spacing = Spacing::of(t.value.scalar_type());
    ErrorStats s;
    for (std::int64_t i = begin; i < end; ++i) {
        const double v = static_cast<float>(value[i]), n = static_cast<float>(native[i]), o = static_cast<float>(other[i]), x = exact[i];
        if (!std::isfinite(v) || !std::isfinite(n)) {
            ++s.nonfinite;
            if (std::isnan(v) != std::isnan(n) || (!std::isnan(v) && v != n)) {
                if (s.disagree++ == 0) s.firstDisagreement = t.first + i;
            }
            continue;
        }
        ++s.elements;
        if (!std::isfinite(x)) continue;
        const double size = magnitude ? std::max(std::abs(x), magnitude[i]) : std::abs(x);
        const double perUlp = 1 / spacing.at(size);
        const double error = v - x, nativeError = n - x;
        if (std::abs(error) > s.maxAbs || s.worst < 0) {
            s.maxAbs = std::abs(error);
            s.worst = t.first + i;
        }
        raise(s.maxUlp, std::abs(error) * perUlp);
        s.signedSum += error;
        s.leanUlp += (std::abs(v) - std::abs(x)) * perUlp;
        raise(s.nativeMaxAbs, std::abs(nativeError));
        raise(s.nativeMaxUlp, std::abs(nativeError) * perUlp);
        s.nativeLeanUlp += (std::abs(n) - std::abs(x)) * perUlp;
        const double fromNative = std::abs(v - n) * perUlp;
        if (fromNative > s.maxUlpFromNative) {
            s.maxUlpFromNative = fromNative;
            s.worstFromNative = t.first + i;
        }
        s.beyondOneUlpOfNative += fromNative > 1 ? 1 : 0;
        s.differFromNative += v != n ? 1 : 0;
        s.ordersDiffer += n != o ? 1 : 0;
        s.differFromOther += v != o ? 1 : 0;
        if (!std::isfinite(o)) continue;
        const double fromOther = std::abs(v - o) * perUlp;
        raise(s.maxUlpFromOther, fromOther);
        s.beyondOneUlpOfOther += fromOther > 1 ? 1 : 0;
    }
    return s;
}

}  // namespace

void ErrorStats::add(const ErrorStats& more) {
    elements += more.elements;
    nonfinite += more.nonfinite;
    if (more.worst >= 0 && (worst < 0 || more.maxAbs > maxAbs)) worst = more.worst;
    if (more.worstFromNative >= 0 && more.maxUlpFromNative > maxUlpFromNative) worstFromNative = more.worstFromNative;
    if (more.firstDisagreement >= 0 && (firstDisagreement < 0 || more.firstDisagreement < firstDisagreement)) firstDisagreement = more.firstDisagreement;
    for (double ErrorStats::* most : {&ErrorStats::maxAbs, &ErrorStats::maxUlp, &ErrorStats::nativeMaxAbs, &ErrorStats::nativeMaxUlp,
                                      &ErrorStats::maxUlpFromNative, &ErrorStats::maxUlpFromOther}) {
        raise(this->*most, more.*most);
    }
    for (double ErrorStats::* sum : {&ErrorStats::signedSum, &ErrorStats::leanUlp, &ErrorStats::nativeLeanUlp}) this->*sum += more.*sum;
    for (std::int64_t ErrorStats::* count : {&ErrorStats::beyondOneUlpOfNative, &ErrorStats::beyondOneUlpOfOther, &ErrorStats::differFromNative,
                                             &ErrorStats::differFromOther, &ErrorStats::ordersDiffer, &ErrorStats::disagree}) {
        this->*count += more.*count;
    }
}

ErrorStats compare(const Compared& tensors) { return tensors.value.is_cuda() ? compareByTensors(tensors) : compareByLoop(tensors); }

ErrorStats compareByLoop(const Compared& t) {
    constexpr std::int64_t kGrain = 1 << 15;
    ErrorStats total;
    std::mutex adding;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, t.value.scalar_type(), "compareByLoop", [&] {
        parallelRanges(t.value.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            const ErrorStats part = compareRange<scalar_t>(t, begin, end);
            const std::lock_guard lock(adding);
            total.add(part);
        });
    });
    return total;
}

ErrorStats compareByTensors(const Compared& t) {
    ErrorStats s;
    if (t.value.numel() == 0) return s;
    const Spacing spacing = Spacing::of(t.value.scalar_type());
    const at::Tensor v = t.value.to(at::kDouble), n = t.native.to(at::kDouble), o = t.other.to(at::kDouble), x = t.exact;
    const at::Tensor bothFinite = at::isfinite(v).logical_and(at::isfinite(n));
    const at::Tensor known = bothFinite.logical_and(at::isfinite(x));
    const at::Tensor agree = bothFinite.logical_or(at::isnan(v).logical_and(at::isnan(n))).logical_or(v == n);
    const at::Tensor size = t.magnitude.defined() ? at::maximum(x.abs(), t.magnitude) : x.abs();
    const at::Tensor exponent = (std::get<1>(at::frexp(size)) - 1).clamp_min(spacing.leastExponent) - spacing.mantissaBits;
    const at::Tensor perUlp = at::exp2(-exponent.to(at::kDouble));
    const auto counted = [&](const at::Tensor& mask) { return mask.logical_and(known).sum(at::kDouble); };
    const auto kept = [&](const at::Tensor& numbers) { return at::where(known, numbers, at::zeros_like(numbers)); };

    const at::Tensor absolute = kept((v - x).abs()), fromNative = kept((v - n).abs() * perUlp);
    const at::Tensor fromOther = at::where(at::isfinite(o), kept((v - o).abs() * perUlp), at::zeros_like(absolute));
    const at::Tensor nativeError = kept((n - x).abs());
    // One transfer for all figures. Indices below 2^53 are exact in float64.
    const at::Tensor figures = at::stack({
        bothFinite.sum(at::kDouble), absolute.max(), (absolute * perUlp).max(), kept(v - x).sum(), kept((v.abs() - x.abs()) * perUlp).sum(),
        absolute.argmax().to(at::kDouble), nativeError.max(), (nativeError * perUlp).max(), kept((n.abs() - x.abs()) * perUlp).sum(),
        fromNative.max(), fromOther.max(), counted(fromNative > 1), counted(fromOther > 1), counted(v != n), counted(v != o), counted(n != o),
        fromNative.argmax().to(at::kDouble), agree.logical_not().sum(at::kDouble), agree.logical_not().to(at::kDouble).argmax().to(at::kDouble),
        known.any().to(at::kDouble)}).cpu();
    const double* f = figures.const_data_ptr<double>();
    const auto whole = [&](int i) { return static_cast<std::int64_t>(f[i]); };
    s.elements = whole(0);
    s.nonfinite = t.value.numel() - s.elements;
    s.maxAbs = f[1];
    s.maxUlp = f[2];
    s.signedSum = f[3];
    s.leanUlp = f[4];
    if (f[19] > 0) s.worst = t.first + whole(5);
    s.nativeMaxAbs = f[6];
    s.nativeMaxUlp = f[7];
    s.nativeLeanUlp = f[8];
    s.maxUlpFromNative = f[9];
    s.maxUlpFromOther = f[10];
    s.beyondOneUlpOfNative = whole(11);
    s.beyondOneUlpOfOther = whole(12);
    s.differFromNative = whole(13);
    s.differFromOther = whole(14);
    s.ordersDiffer = whole(15);
    if (s.maxUlpFromNative > 0) s.worstFromNative = t.first + whole(16);
    s.disagree = whole(17);
    if (s.disagree > 0) s.firstDisagreement = t.first + whole(18);
    return s;
}

}  // namespace kernelscope
