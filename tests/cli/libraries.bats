#!/usr/bin/env bats
# libraries.bats - libarchive and libxml2: opened where they are needed, and not there where they are

bats_require_minimum_version 1.5.0
load common

page() {
    echo "<p>one two three four five" >page.html
}

# The file that the command opens for a library: libxml2.so.2 for libxml2.
file_of() {
    grep -aoE "$1\.so(\.[0-9]+)+" "$NEARDUP" | head -n 1
}

opened() { # ARGUMENTS: the libraries that the dynamic linker loads, of these two
    LD_DEBUG=files neardup "$@" 2>&1 >opened.out | grep -oE 'lib(archive|xml2)\.so' | sort -u | tr '\n' ' '
}

@test "libraries: neither is opened for plain, gzip and JSON Lines input" {
    small_corpus
    gzip -k small.jsonl
    echo "plain text" >plain.txt
    LD_DEBUG=files neardup dedup -q small.jsonl --manifest m -o out 2>&1 | grep -q libc
    [ "$(opened --version)" = "" ]
    [ "$(opened dedup -q small.jsonl --manifest m --clusters c -o out)" = "" ]
    [ "$(opened sketch -q small.jsonl.gz plain.txt)" = "" ]
}

@test "libraries: each is opened where it is needed" {
    small_corpus
    page
    zstd -q small.jsonl
    tar -cf small.tar small.jsonl
    [ "$(opened sketch -q page.html)" = "libxml2.so " ]
    [ "$(opened sketch -q small.jsonl --text-format html)" = "libxml2.so " ]
    [ "$(opened sketch -q small.jsonl.zst)" = "" ]
    [[ $(opened sketch -q small.tar) == libarchive.so* ]]
    [[ $(opened sketch -q small.jsonl -o out.lz4) == libarchive.so* ]]
    for ending in gz zst xz bz2; do
        [ "$(opened sketch -q small.jsonl -o "out.$ending")" = "" ]
    done
}

@test "libraries: without libarchive what it reads is named as what cannot be read, and all else is read" {
    local missing file
    file=$(file_of libarchive)
    small_corpus
    gzip -k small.jsonl
    for kind in zstd xz bzip2; do "$kind" -qk small.jsonl; done
    lz4 -q small.jsonl small.jsonl.lz4
    tar -cf a.tar small.jsonl
    tar -czf b.tgz small.jsonl
    zip -q a.zip small.jsonl
    mkdir absent
    : >"absent/$file"
    missing="cannot be read without libarchive (Debian: libarchive13, Fedora: libarchive): "
    LD_LIBRARY_PATH=absent run neardup sketch -q small.jsonl.{gz,zst,xz,bz2,lz4} a.tar b.tgz a.zip -o out
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == "neardup: small.jsonl.lz4: lz4 data $missing"*"$file: "* ]]
    [[ ${lines[1]} == "neardup: a.tar: tar data $missing"* ]]
    [[ ${lines[2]} == "neardup: b.tgz: tar data $missing"* ]]
    [[ ${lines[3]} == "neardup: a.zip: zip data $missing"* ]]
    [ "$(wc -l <out)" -eq 20 ]
}

@test "libraries: without libarchive nothing is published where it should be compressed" {
    local file
    file=$(file_of libarchive)
    small_corpus
    mkdir absent
    : >"absent/$file"
    LD_LIBRARY_PATH=absent run neardup dedup -q small.jsonl -o out.lz4
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: lz4 cannot be written without libarchive (Debian: libarchive13, Fedora: libarchive): "*"$file: "* ]]
    [ ! -e out.lz4 ]
    LD_LIBRARY_PATH=absent run neardup dedup -q small.jsonl --manifest m.lz4 -o out --keep longest
    [ "$status" -eq 2 ]
    [ ! -e out ]
    [ ! -e m.lz4 ]
}

@test "libraries: most compressions are written by their own libraries, which are named where they are missing" {
    local file
    small_corpus
    mkdir absent
    for kind in gzip:libz:gz:zlib1g:zlib zstd:libzstd:zst:libzstd1:libzstd xz:liblzma:xz:liblzma5:xz-libs \
        bzip2:libbz2:bz2:libbz2-1.0:bzip2-libs; do
        IFS=: read -r name library ending debian fedora <<<"$kind"
        file=$(file_of "$library")
        : >"absent/$file"
        LD_LIBRARY_PATH=absent run neardup dedup -q small.jsonl -o "out.$ending"
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == "neardup: $name cannot be written without "*" (Debian: $debian, Fedora: $fedora): "*"$file: "* ]]
        [ ! -e "out.$ending" ]
        rm "absent/$file"
    done
}

@test "libraries: without libxml2 pages are named as what cannot be read, and all else is read" {
    local missing file
    file=$(file_of libxml2)
    page
    echo "one two three four five" >plain.txt
    mkdir absent
    : >"absent/$file"
    missing="HTML cannot be read without libxml2 (Debian: libxml2, Fedora: libxml2): "
    LD_LIBRARY_PATH=absent run neardup sketch -q plain.txt page.html -o out
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == "neardup: page.html: $missing"*"$file: "* ]]
    [ "$(wc -l <out)" -eq 1 ]
    small_corpus
    LD_LIBRARY_PATH=absent run neardup sketch -q small.jsonl --text-format html
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: small.jsonl: $missing"* ]]
    printf 'From: a@b.example\nContent-Type: text/html\n\n<p>one two three\n' >page.eml
    neardup sketch page.eml 2>&1 | grep -q 'built without GMime' && skip "built without GMime"
    LD_LIBRARY_PATH=absent run neardup sketch -q page.eml
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: page.eml: $missing"* ]]
}

@test "libraries: one that lacks a function is none" {
    local archive xml
    archive=$(file_of libarchive)
    xml=$(file_of libxml2)
    small_corpus
    tar cf small.tar small.jsonl
    page
    mkdir other_archive other_xml
    cc -shared -o "other_archive/$archive" -x c /dev/null
    cc -shared -o "other_xml/$xml" -x c /dev/null
    LD_LIBRARY_PATH=other_archive run neardup sketch small.tar
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: small.tar: "*"undefined symbol: archive_"* ]]
    LD_LIBRARY_PATH=other_xml run neardup sketch page.html
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: page.html: "*"undefined symbol: "*ml* ]]
}

@test "libraries: doctor finds all, or says which is missing, for what, and which package brings it" {
    local file
    neardup doctor >found || [ $? -eq 1 ]
    neardup --version | grep -qx "neardup $(awk -F'\t' '$1 == "neardup" { print $2 }' found)"
    [ "$(awk -F'\t' '$1 == "recipes" { print $2 }' found)" -eq "$(neardup recipe list | wc -l)" ]
    [ "$(awk -F'\t' 'NF != 3' found)" = "" ]
    awk -F'\t' '{ print $1, $2 }' found | grep -qx "libzstd found"
    file=$(file_of libxml2)
    mkdir absent
    : >"absent/$file"
    LD_LIBRARY_PATH=absent run -1 neardup doctor
    grep -qP "^libxml2\tmissing\tpages of HTML: .* \(Debian: libxml2, Fedora: libxml2\): .*$file: " <<<"$output"
    awk -F'\t' '{ print $1, $2 }' <<<"$output" | grep -qx "libzstd found"
}
