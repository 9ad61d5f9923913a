#include "core/model/parallel.h"

namespace kernelscope {

const ks_executor* torchThreads() { return nullptr; }

}  // namespace kernelscope
