/* sketch_kernels.c - the choice of a table of sketch kernels */
#include "simd/sketch_kernels.h"

const struct nd_sketch_kernels *nd_sketch_kernels_of(enum nd_isa isa)
{
    return isa == ND_ISA_SCALAR ? &nd_sketch_scalar : NULL;
}

const struct nd_sketch_kernels *nd_sketch_kernels(void)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels_of(nd_isa());

    return kernels ? kernels : &nd_sketch_scalar;
}
