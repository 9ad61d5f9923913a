#include "core/engine/job_patch.h"

#include <algorithm>

#include "core/engine/patch_proof.h"
#include "core/ops/test_variants.h"

namespace kernelscope {
namespace {

// A prompt of thousands of tokens is validated by its first ones: rows are alike.
constexpr std::int64_t kMostRows = 1024;

}  // namespace

Result<JobPatch> JobPatch::read(const std::string& text, const ModelSetup& setup, const JobKernel& kernel) {
    JobPatch patch;
    patch.m_operators = std::make_shared<OperatorTable>(builtinOperators());
    addTestVariants(*patch.m_operators);
    kernel.addTo(*patch.m_operators);
    Result<Patch> made = makePatchTable(text, *patch.m_operators, setup.device.torch);
    if (!made) return made.error();
    patch.m_patch = std::move(*made);
    return patch;
}

Result<void> JobPatch::prove(const ModelSetup& setup, const std::vector<std::int64_t>& rowCounts, JobContext& context) {
    if (empty()) return {};
    std::vector<std::int64_t> few;
    for (const std::int64_t rows : rowCounts) few.push_back(std::min(rows, kMostRows));
    const Result<std::vector<PatchVerdict>> verdicts = validatePatch(*this, setup, few, context);
    if (!verdicts) return verdicts.error();
    std::vector<std::string> notes;
    const Result<std::vector<PatchChoice>> right = rightChoices(*verdicts, /*named=*/true, notes);
    if (!right) return right.error();
    remember(*verdicts);
    context.kernel = inForce();
    context.progress({"First pass with the patch", 0, 0, std::nullopt, {}});  // no longer single calls: a pass may take its time
    return {};
}

std::string JobPatch::inForce() const {
    std::vector<PatchChoice> replaced;
    for (const PatchChoice& choice : choices()) {
        if (choice.variant != "native") replaced.push_back(choice);
    }
    return patchText(replaced);
}

void JobPatch::remember(const std::vector<PatchVerdict>& verdicts) {
    for (const PatchVerdict& verdict : verdicts) m_findings[verdict.choice.text()] = {verdict.status, verdict.reason};
}

void JobPatch::describe(nlohmann::json& result) const {
    for (const PatchChoice& choice : m_patch.choices) {
        const auto finding = m_findings.find(choice.text());
        const Finding said = finding == m_findings.end() ? Finding{} : finding->second;
        result["patch"].push_back({{"op", choice.op}, {"variant", choice.variant}, {"status", said.status}, {"reason", said.reason}, {"launches", m_patch.counts->of(choice.op, choice.variant)}});
    }
}

}  // namespace kernelscope
