/* tls.c - PEM files to what GnuTLS shows */
#include "server/connections/tls.h"

#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { CHAIN_MAX = 16 };

static enum nd_status read_chain(struct nd_certificate *c, const char *file, gnutls_datum_t pem,
                                 struct nd_error *err)
{
    int code;

    c->n = CHAIN_MAX;
    c->chain = calloc(CHAIN_MAX, sizeof *c->chain);
    if (!c->chain)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    code = gnutls_pcert_list_import_x509_raw(c->chain, &c->n, &pem, GNUTLS_X509_FMT_PEM,
                                             GNUTLS_X509_CRT_LIST_SORT);
    if (code >= 0 && c->n > 0)
        return ND_OK;
    c->n = 0;
    return nd_fail(err, ND_EINPUT, "%s: no chain of certificates in PEM: %s", file,
                   gnutls_strerror(code));
}

static enum nd_status read_key(struct nd_certificate *c, const char *file, gnutls_datum_t pem,
                               struct nd_error *err)
{
    int code = gnutls_privkey_init(&c->key);

    if (code == 0)
        code = gnutls_privkey_import_x509_raw(c->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    return code == 0 ? ND_OK
                     : nd_fail(err, ND_EINPUT, "%s: no private key in PEM: %s", file,
                               gnutls_strerror(code));
}

/* Check that the first certificate verifies what the key signs. */
static bool belong_together(const struct nd_certificate *c)
{
    const gnutls_datum_t data = {(unsigned char *)(uintptr_t) "neardup", 7};
    gnutls_datum_t signature = {NULL, 0};
    gnutls_sign_algorithm_t algorithm;
    bool ok;

    algorithm = gnutls_pk_to_sign(
        (gnutls_pk_algorithm_t)gnutls_privkey_get_pk_algorithm(c->key, NULL), GNUTLS_DIG_SHA256);
    if (algorithm == GNUTLS_SIGN_UNKNOWN) /* of algorithms with a digest of their own */
        return true;
    if (gnutls_privkey_sign_data(c->key, GNUTLS_DIG_SHA256, 0, &data, &signature) != 0)
        return false;
    ok = gnutls_pubkey_verify_data2(c->chain[0].pubkey, algorithm, 0, &data, &signature) >= 0;
    gnutls_free(signature.data);
    return ok;
}

static enum nd_status read_file(const char *file, gnutls_datum_t *out, struct nd_error *err)
{
    int code = gnutls_load_file(file, out);

    return code == 0 ? ND_OK
                     : nd_fail(err, ND_EIO, "%s: cannot be read: %s", file, gnutls_strerror(code));
}

struct nd_certificate *nd_certificate_read(const char *chain_file, const char *key_file,
                                           struct nd_error *err)
{
    struct nd_certificate *c = calloc(1, sizeof *c);
    gnutls_datum_t chain = {NULL, 0}, key = {NULL, 0};
    enum nd_status status = ND_ENOMEM;

    if (!c)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if ((status = read_file(chain_file, &chain, err)) == ND_OK &&
             (status = read_file(key_file, &key, err)) == ND_OK &&
             (status = read_chain(c, chain_file, chain, err)) == ND_OK &&
             (status = read_key(c, key_file, key, err)) == ND_OK && !belong_together(c))
        status = nd_fail(err, ND_EINPUT, "%s: is not the key of %s", key_file, chain_file);
    gnutls_free(chain.data);
    if (key.data)
        gnutls_memset(key.data, 0, key.size);
    gnutls_free(key.data);
    if (status == ND_OK)
        return c;
    nd_certificate_free(c);
    return NULL;
}

void nd_certificate_free(struct nd_certificate *certificate)
{
    while (certificate) {
        struct nd_certificate *older = certificate->older;

        for (unsigned i = 0; i < certificate->n; i++)
            gnutls_pcert_deinit(&certificate->chain[i]);
        free(certificate->chain);
        if (certificate->key)
            gnutls_privkey_deinit(certificate->key);
        free(certificate);
        certificate = older;
    }
}
