#!/usr/bin/env bats
# proxy.bats - the service behind nginx, as docs/howto/run-the-service.md has it: HTTP/2 and TLS

# shellcheck disable=SC2154 # url and pid are those of service.bash
load common
load service

teardown() {
    [ -z "${proxy:-}" ] || kill "$proxy" || true
    [ -z "${pid:-}" ] || kill -KILL "$pid" || true
}

free_port() {
    python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# The page's configuration, with this service, this certificate and a free port.
configuration() { # PORT
    cat <<END
$([ "$(id -u)" -ne 0 ] || echo "user root;")
worker_processes 1;
daemon off;
pid $PWD/nginx.pid;
error_log stderr;
events {}
http {
access_log off;
client_body_temp_path $PWD/body;
proxy_temp_path $PWD/proxy;
fastcgi_temp_path $PWD/fastcgi;
uwsgi_temp_path $PWD/uwsgi;
scgi_temp_path $PWD/scgi;
END
    sed -n '/^```nginx/,/^```$/{/^```/d;p}' "$BATS_TEST_DIRNAME/../../docs/howto/run-the-service.md" |
        sed "s|127.0.0.1:8080|${url#http://}|; s|listen 443|listen 127.0.0.1:$1|
            s|/etc/ssl/certs/docs.example.org.pem|$PWD/cert.pem|; s|/etc/ssl/private/docs.example.org.key|$PWD/key.pem|"
    echo "}"
}

@test "proxy: nginx in front, HTTP/2 and TLS" {
    nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null) || skip "no nginx"
    needs_server_program
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=docs.example.org \
        -addext "subjectAltName=DNS:docs.example.org" 2>/dev/null
    key=$(neardup serve --new-key me --security press --keys keys)
    start "$NEARDUP" serve --listen 127.0.0.1:0 --keys keys --host docs.example.org store
    port=$(free_port)
    configuration "$port" >nginx.conf
    "$nginx" -e stderr -p "$PWD" -c "$PWD/nginx.conf" 2>nginx.err 3>&- &
    proxy=$!
    front="https://docs.example.org:$port"
    ask() { # PATH [CURL OPTION…]: "status version"
        local path=$1
        shift
        curl -s --noproxy '*' --cacert cert.pem --resolve "docs.example.org:$port:127.0.0.1" -o answer -w '%{http_code} %{http_version}' "$@" "$front$path"
    }
    until [ "$(ask /healthz || true)" = "200 2" ]; do
        kill -0 "$proxy" || { cat nginx.err; return 1; }
    done
    [ "$(ask /v1/stats)" = "401 2" ]
    [ "$(ask /v1/stats -H "Authorization: Bearer $key")" = "200 2" ]
    [ "$(ask /v1/stats -H "Authorization: Bearer $key" -H "Origin: $front")" = "200 2" ]
    [ "$(ask /v1/stats -H "Authorization: Bearer $key" -H "Origin: https://other.example.org")" = "403 2" ]
    [ "$(ask /v1/stats --http1.1 -H "Host: other.example.org" -H "Authorization: Bearer $key")" = "421 1.1" ]
    [ "$(ask '/v1/documents?id=a' -H "Authorization: Bearer $key" -H 'Content-Type: text/plain' --data-binary 'one two three four')" = "201 2" ]
    # A batch of which the proxy is not told the length.
    for i in $(seq 300); do echo "{\"id\":\"d$i\",\"text\":\"text number $i of some\"}"; done >docs.jsonl
    [ "$(ask /v1/documents -H "Authorization: Bearer $key" -H 'Content-Type: application/x-ndjson' -X POST -T - <docs.jsonl)" = "200 2" ]
    [ "$(wc -l <answer)" -eq 300 ]
    grep -q '"verdict"' answer
    kill "$proxy"
    wait "$proxy" || true
    proxy=
    stop
}
