/* json_kernels.c - chooses the kernels that read JSON */
#include "simd/json/json_kernels.h"

#include "simd/instruction_set.h"

const uint8_t nd_json_escape[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

const struct nd_json_kernels *nd_json_kernels(void)
{
#if defined(__x86_64__)
    if (nd_isa_has_vbmi2())
        return &nd_json_vbmi2;
#endif
    return &nd_json_scalar;
}
