/* The version of the C interface in kernels.h. A library of your own may export ks_abi_version(), returning KS_ABI_VERSION, so that it is refused in
 * words where the interface has changed meanwhile. */
#ifndef KERNELSCOPE_ABI_H
#define KERNELSCOPE_ABI_H

#include "kernelscope/kernels.h"

#define KS_ABI_VERSION 1

#ifdef __cplusplus
extern "C"
#endif
KS_API int ks_abi_version(void);

#endif
