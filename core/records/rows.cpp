#include "core/records/rows.h"

#include "core/records/context_rows.h"
#include "core/records/kernel_detail_rows.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {

std::span<const RowType> rowTypes() {
    static const std::array types{rowTypeOf<ProfileRow>(), rowTypeOf<TokenRow>(), rowTypeOf<SampleRow>(), rowTypeOf<ProfileModuleRow>(),
                                  rowTypeOf<ProfileEventRow>(), rowTypeOf<CrossCheckRow>(),
                                  rowTypeOf<ValidateRow>(), rowTypeOf<SweepRow>(), rowTypeOf<EndToEndRow>(), rowTypeOf<ErrorMapRow>(), rowTypeOf<RooflineRow>(),
                                  rowTypeOf<ContextRow>(), rowTypeOf<ContextShareRow>(), rowTypeOf<TuneRow>()};
    return types;
}

const RowType* findRowType(std::string_view name) {
    for (const RowType& type : rowTypes())
        if (type.name == name) return &type;
    return nullptr;
}

}  // namespace kernelscope
