/* error.c - status names and filling the caller's error */
#include <neardup/error.h>
#include <neardup/version.h>

#include <stdarg.h>
#include <stdio.h>

const char *nd_version(void)
{
    return ND_VERSION;
}

const char *nd_status_name(enum nd_status status)
{
    switch (status) {
    case ND_OK: return "ND_OK";
    case ND_ENOMEM: return "ND_ENOMEM";
    case ND_EINVAL: return "ND_EINVAL";
    case ND_EINPUT: return "ND_EINPUT";
    case ND_EIO: return "ND_EIO";
    case ND_ECHANGED: return "ND_ECHANGED";
    case ND_ECANCELLED: return "ND_ECANCELLED";
    case ND_EUNSUPPORTED: return "ND_EUNSUPPORTED";
    }
    return "ND_UNKNOWN";
}

enum nd_status nd_fail(struct nd_error *err, enum nd_status status, const char *format, ...)
{
    va_list args;

    if (!err)
        return status;
    err->status = status;
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}
