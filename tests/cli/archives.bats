#!/usr/bin/env bats
# archives.bats - what an archive holds beside documents, when it is rewritten

load common

# A folder with documents, an empty folder, a symbolic and a hard link.
tree() {
    mkdir -p t/sub t/empty
    echo "the first of three texts that stand in files" >t/a.txt
    echo "another one, quite different from it" >t/sub/b.txt
    cp t/a.txt t/c.txt
    ln t/sub/b.txt t/twin.txt
    ln t/c.txt t/twin-of-c.txt
    ln -s a.txt t/link
    ln -s c.txt t/link-to-c
    chmod 600 t/a.txt
    chmod 751 t/empty
    find t -exec touch -h -d '2001-02-03 04:05:06' {} +
}

listing() { # what tar says of all but the size
    tar --full-time --numeric-owner -tvf "$1" | sed -E 's/ +/ /g'
}

@test "a tar is rewritten with its folders, links, modes, times and owners" {
    tree
    tar --sort=name --owner=me:1234 --group=us:567 -cf t.tar t
    cp t.tar before.tar
    neardup dedup t.tar -q --force -o t.tar
    # The removed file goes, and the hard link to it.
    diff <(listing before.tar | grep -v 't/c.txt$\|twin-of-c.txt link to t/c.txt') <(listing t.tar)
    [ "$(tar -tvf t.tar t/a.txt | cut -d' ' -f2)" = me/us ]
    mkdir out
    tar -xf t.tar -C out --no-same-owner
    [ out/t/sub/b.txt -ef out/t/twin.txt ]
    [ "$(readlink out/t/link-to-c)" = c.txt ]
    [ "$(stat -c '%a %Y' out/t/a.txt)" = "600 $(stat -c %Y t/a.txt)" ]
    neardup dedup before.tar -q -o other.tar.zst
    cmp <(zstd -dc other.tar.zst) t.tar
    mkdir in
    cp before.tar in/x.tar
    (cd in && "$NEARDUP" dedup x.tar -q --force --output-dir .)
    cmp in/x.tar t.tar
}

@test "a zip is rewritten with its folders, modes and times" {
    tree
    find t | sort | zip -qy@ t.zip
    unzip -qo t.zip -d old
    cp t.zip before.zip
    neardup dedup t.zip -q --force -o t.zip
    unzip -qo t.zip -d new
    [ ! -e new/t/c.txt ]
    [ ! -e new/t/twin-of-c.txt ]
    [ "$(stat -c '%a %Y' new/t/a.txt)" = "$(stat -c '%a %Y' old/t/a.txt)" ]
    [ "$(stat -c %a new/t/empty)" = 751 ]
    [ "$(readlink new/t/link)" = a.txt ]
}

@test "an archive is not replaced where something in it would be lost" {
    tree
    kept() { # ARCHIVE WHAT
        cp "$1" before
        run neardup dedup "$1" -q --force -o "$1"
        [ "$status" -eq 2 ] || return 1
        [[ $output == *"$1: is not replaced, because $2 would be lost"* ]] || { echo "$output"; return 1; }
        cmp "$1" before || return 1
        neardup dedup "$1" -q -o elsewhere."${1##*.}" 2>/dev/null
    }
    mkfifo t/pipe
    tar -cf fifo.tar t
    kept fifo.tar "devices and other special files"
    rm t/pipe
    printf 'GIF89a\0\0\0\0' >t/picture.gif
    tar -cf picture.tar t
    kept picture.tar "files that are not read"
    rm t/picture.gif
    tar --pax-option='SCHILY.xattr.user.note:=x' -cf attributes.tar t
    kept attributes.tar "extended attributes"
    zip -qr c.zip t
    echo "a comment" | zip -qz c.zip
    kept c.zip "its comment"
    python3 - <<'END'
import zipfile
with zipfile.ZipFile("d.zip", "w") as z:
    info = zipfile.ZipInfo("a.txt")
    info.comment = b"of a file"
    z.writestr(info, "some words in a file")
END
    kept d.zip "the comments of files"
    gzip t/a.txt
    tar -cf packed.tar t
    kept packed.tar "the compression of files in it"
    run neardup dedup c.zip -q --force --output-dir .
    [ "$status" -eq 2 ]
    cmp c.zip <(cat c.zip)
    mkdir none
    tar -cf folders.tar none
    run neardup dedup folders.tar -q --force -o folders.tar
    [ "$status" -eq 2 ]
    tar -tf folders.tar | grep -q none/
}

@test "an archive of documents does not go where records are asked for, nor to a terminal" {
    tree
    tar -cf t.tar t
    for name in out.jsonl out.jsonlines out.json out.tab out.csv.gz out.mbox; do
        run neardup dedup t.tar -q -o $name
        [ "$status" -eq 2 ]
        [[ $output == *"$name: is named like a file of records"* ]]
        [ ! -e $name ]
    done
    run on_terminal dedup t.tar -q
    [ "$status" -eq 2 ]
    [[ $output == *"an archive is not written to a terminal: use -o"* ]]
}
