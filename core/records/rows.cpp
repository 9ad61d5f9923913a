#include "core/records/rows.h"

namespace kernelscope {

std::span<const RowType> rowTypes() {
    static const std::array types{rowTypeOf<ProfileRow>(), rowTypeOf<TokenRow>(), rowTypeOf<SampleRow>()};
    return types;
}

const RowType* findRowType(std::string_view name) {
    for (const RowType& type : rowTypes())
        if (type.name == name) return &type;
    return nullptr;
}

}  // namespace kernelscope
