/* tls.h - the certificate that the server shows, read again without stopping */
#ifndef ND_SERVER_CONNECTIONS_TLS_H
#define ND_SERVER_CONNECTIONS_TLS_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include <neardup/error.h>

/* A chain of certificates and its key.  It does not change, and stays until the server ends, since
 * a handshake may be under way with it. */
struct nd_certificate {
    gnutls_pcert_st *chain;
    unsigned n;
    gnutls_privkey_t key;
    struct nd_certificate *older;
};

/* Read both files, and check that they belong together.  NULL: ND_EIO, ND_EINPUT, ND_ENOMEM. */
struct nd_certificate *nd_certificate_read(const char *chain_file, const char *key_file,
                                           struct nd_error *err);
/* With those that are older. */
void nd_certificate_free(struct nd_certificate *certificate);

#endif
