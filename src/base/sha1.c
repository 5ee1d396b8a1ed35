/* sha1.c - SHA-1: the one file that knows libmd */
#include "base/sha1.h"

#ifdef ND_WITH_SHA1
#include <sys/types.h>

#include <sha1.h>

bool nd_sha1_is_built(void)
{
    return true;
}

uint64_t nd_sha1_64(const void *data, size_t len)
{
    uint8_t digest[SHA1_DIGEST_LENGTH];
    uint64_t value = 0;
    SHA1_CTX context;

    SHA1Init(&context);
    SHA1Update(&context, data, len);
    SHA1Final(digest, &context);
    for (int i = 0; i < 8; i++)
        value = value << 8 | digest[i];
    return value;
}
#else
bool nd_sha1_is_built(void)
{
    return false;
}

uint64_t nd_sha1_64(const void *data, size_t len)
{
    (void)data;
    (void)len;
    return 0;
}
#endif
