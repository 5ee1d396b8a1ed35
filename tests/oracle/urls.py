#!/usr/bin/env python3
"""urls.py - docs/format/urls.md in Python, and what the library makes of random addresses

    tests/oracle/urls.py URL_DUMP

Holds what the program URL_DUMP (tests/url_dump.c) says against this page's rule, on random addresses
made of pieces that the rule knows, and on the addresses in web archives where they are.  Shares no
code with the library.
"""
import glob
import gzip
import os
import random
import re
import subprocess
import sys

NIGHTLY = "NEARDUP_NIGHTLY" in os.environ
UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
PLAIN = UNRESERVED + b"!$&'()*+,;=:@/"
DEFAULTS = {b"http": b"80", b"https": b"443", b"ftp": b"21", b"ws": b"80", b"wss": b"443"}
TRACKING = set("fbclid gclid gclsrc dclid gbraid wbraid msclkid twclid ttclid yclid ysclid igshid igsh mc_cid mc_eid "
               "_ga _gl _hsenc _hsmi mkt_tok vero_id vero_conv oly_anon_id oly_enc_id s_cid wickedid li_fat_id "
               "srsltid".encode().split())


def encode(text, more=b""):
    """The encoding of a path or a query made the same."""
    def one(match):
        piece, plain = match[0], PLAIN + more
        if len(piece) == 3:
            piece, plain = bytes.fromhex(piece[1:].decode()), UNRESERVED
        return piece if piece in plain else b"%%%02X" % piece[0]

    return re.sub(rb"(?s)%[0-9A-Fa-f]{2}|.", one, text)


def remove_dots(path):
    """RFC 3986, section 5.2.4, as it is written there."""
    out = b""
    while path:
        if path.startswith(b"/./"):
            path = path[2:]
        elif path == b"/.":
            path = b"/"
        elif path.startswith(b"/../") or path == b"/..":
            path = b"/" + path[4:]
            out = out[:out.rfind(b"/")] if b"/" in out else b""
        else:
            end = path.find(b"/", 1)
            end = len(path) if end < 0 else end
            out, path = out + path[:end], path[end:]
    return out


def lower(text):
    return re.sub(rb"[A-Z]+", lambda m: m[0].lower(), text)


def is_tracking(name):
    return lower(name) in TRACKING or (lower(name).startswith(b"utm_") and len(name) > 4)


def canonical(url):
    url = re.sub(rb"[\t\r\n]", b"", url.strip(bytes(range(33))))
    match = re.fullmatch(rb"(?s)([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", url)
    if not match:
        return url
    scheme, server, path, query = lower(match[1]), match[2], match[3], match[4] or b""
    user, at, host = server.rpartition(b"@")
    port = re.search(rb"\A(?:.*\])?[^:\]]*(:([0-9]*))\Z", host, re.S)
    host = lower(host[:port.start(1)] if port else host)
    port = re.sub(rb"^0+(?=.)", b"", port[2]) if port else b""
    port = b":" + port if port and DEFAULTS.get(scheme) != port else b""
    parts = [encode(part, b"?") for part in query.split(b"&") if part]
    parts = sorted((p for p in parts if not is_tracking(p.split(b"=")[0])), key=lambda p: p.split(b"=")[0])
    return (scheme + b"://" + user + at + host + port + remove_dots(encode(path or b"/")) +
            (b"?" if parts else b"") + b"&".join(parts))


PIECES = ["/", "/", "?", "#", "&", "&", "=", "=", ".", "..", "/.", "/..", "/./", "/../", "//", "a", "B", "c=1", "a=2",
          "%7e", "%7E", "%2f", "%2F", "%2e", "%25", "%", "%4", "%zz", "%C3%a9", "é", "日本", " ", "\t", "\n", "+", ";", "@",
          ":", ":80", ":080", ":443", ":8080", "utm_source=x", "UTM_a", "utm_", "fbclid=1", "_GA=2", "srsltid", "[", "]",
          "|", "\\", '"', "<", ">", "'", "!", "\0", "\x7f", "index.html", "www.", "xn--", "Example.ORG", "user:pw@"]
BEGINNINGS = ["http://", "HTTP://", "https://", "https://A.org", "ftp://f.org", "ws://w", "wss://", "file://", "x+y.z-1://",
              "://", "1http://", "mailto:", "", " http://a.org", "//a.org", "http:/", "http://a.org/?", "http://a.org/"]


def made(r):
    return (r.choice(BEGINNINGS) + "".join(r.choice(PIECES) for _ in range(r.randint(0, 14)))).encode()


def of_archives():
    """Addresses in the fixtures of web archives, if they are there."""
    found = set()
    folder = os.path.join(os.environ.get("NEARDUP_TEST_DATA", "/nonexistent"), "warc-fixtures")
    for path in glob.glob(os.path.join(folder, "*.warc.gz")):
        try:
            with gzip.open(path) as f:
                found.update(re.findall(rb"WARC-Target-URI: ([^\r\n]*)", f.read()))
        except EOFError:
            pass
    return sorted(found)


def main():
    r = random.Random(7)
    urls = [made(r) for _ in range(200000 if NIGHTLY else 20000)]
    urls += [bytes(r.randrange(256) for _ in range(r.randint(0, 30))) for _ in range(2000)]
    urls += of_archives()
    data = "".join(url.hex() + "\n" for url in urls).encode()
    out = subprocess.run([sys.argv[1]], input=data, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[:-1]
    assert len(out) == len(urls), (len(out), len(urls))
    for url, line in zip(urls, out):
        expected, found = canonical(url), bytes.fromhex(line)
        assert found == expected, (url, found, expected)
        assert canonical(expected) == expected, (url, expected)
    changed = sum(bytes.fromhex(line) != url for url, line in zip(urls, out))
    assert 0 < changed < len(urls)
    print(f"{len(urls)} addresses, {changed} of which are not canonical")


if __name__ == "__main__":
    main()
