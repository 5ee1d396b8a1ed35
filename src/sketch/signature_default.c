/* signature_default.c - what a signature is where its section says nothing */
#include <neardup/signature.h>

#include <string.h>

struct nd_signature_params nd_signature_params_default(void)
{
    struct nd_signature_params params;

    memset(&params, 0, sizeof params); /* padding too, so that equal parameters are equal bytes */
    params.kind = ND_SIGNATURE_SIMHASH;
    params.hash = ND_HASH_TOKEN;
    params.rabin_polynomial = 0x1b; /* x^64 + x^4 + x^3 + x + 1 */
    params.bits = 64;               /* 002 s. 2 */
    params.minima = 128;
    params.groups = 6; /* of 84 minima (003) */
    params.width = 2;
    params.modulus = 25; /* Broder 1997 */
    params.window = 4;
    params.lexicon_low = 0.2; /* 004 s. 6.6 */
    params.lexicon_high = 0.8;
    params.drop = 0.33; /* 004 s. 6.8 */
    params.quantum = 0.01;
    return params;
}
