#!/usr/bin/env bats
# mail_quotes.bats - the key mail_quotes: what a mail quotes is not compared

load common

bats_require_minimum_version 1.5.0

FIRST='Monday\nShall we meet on Monday at the usual place? I bring the maps and you bring the tea.'
QUOTED='On Tue, 2 Jan 2024, Ada wrote:\n> Shall we meet on Monday at the usual place?\n> I bring the maps and you bring the tea.'
REPLY="Re: Monday\nI cannot be there before eleven, as my train is late on Mondays.\n\n$QUOTED"
OTHER="Re: Monday\nNot me: all of us are ill here, the cat and the dog as well.\n\n$QUOTED"
FOOTER='\n-- \nAda\n_______________________________________________\nx mailing list\nhttp://x/mailman/listinfo/x\n'

# json ID TEXT: a record; the text has the escapes of JSON.
json() {
    printf '{"id":"%s","text":"%s"}\n' "$1" "${2//\\/\\}"
}

a_thread() {
    {
        json first "$FIRST"
        json reply "$REPLY"
        json other "$OTHER"
        json again "$REPLY$FOOTER"
    } >in.jsonl
}

@test "mail_quotes: replies to one message are no pairs, copies with a footer are, for texts in JSON Lines" {
    a_thread
    neardup pairs -q -t 0.3 in.jsonl >by_all
    [ "$(wc -l <by_all)" -eq 6 ]
    neardup pairs -q -t 0.3 --recipe mail in.jsonl >by_own
    [ "$(cut -f 1-3 by_own)" = $'reply\tagain\t1' ]
    neardup dedup -q --recipe mail -t 0.3 in.jsonl --manifest m.jsonl >kept
    [ "$(grep -c . kept)" -eq 3 ]
    grep -q '"removed":"again","kept":"reply"' m.jsonl
    grep -q '"identical":"tokens"' m.jsonl
}

@test "mail_quotes: mails are compared without what they quote" {
    printf 'From: a@b\nMessage-ID: <1@x>\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nSubject: Re: Monday\n\n' >header
    { cat header && printf '%b\n' "${REPLY#*\\n}"; } >1.eml
    { cat header && printf '%b\n' "${OTHER#*\\n}"; } >2.eml
    { cat header && printf '%b' "${REPLY#*\\n}$FOOTER"; } >3.eml
    neardup sketch 1.eml 2>&1 | grep -q 'built without GMime' && skip "built without GMime"
    neardup dedup -q --recipe mail -t 0.3 1.eml 2.eml 3.eml --format mail --manifest m.jsonl -o out 2>/dev/null
    [ "$(grep -c '"removed_at":"3.eml","kept_at":"1.eml"' m.jsonl)" -eq 1 ]
    [ "$(cat out)" = $'1.eml\n2.eml' ]
}

@test "mail_quotes: a signature has a key of its own, and df tables count what is compared" {
    a_thread
    printf '[signature s]\nkind = features\nunit = shingles\n[decide]\ncandidates = match\nverify = none\n' >r.ini
    printf 'match = resemblance(s) >= 0.3\n' >>r.ini
    [ "$(neardup pairs -q --recipe r.ini in.jsonl | wc -l)" -eq 6 ]
    [ "$(neardup pairs -q --recipe r.ini --set s.mail_quotes=drop in.jsonl | wc -l)" -eq 1 ]
    neardup df build -q --recipe kolcz-2004-mail in.jsonl -o all.df
    neardup df build -q --recipe kolcz-2004-mail --set imatch.mail_quotes=drop in.jsonl -o own.df
    run neardup pairs -q --recipe kolcz-2004-mail --set imatch.mail_quotes=drop --df own.df in.jsonl
    [ "$status" -le 1 ]
    run -2 neardup pairs -q --recipe kolcz-2004-mail --set imatch.mail_quotes=drop --df all.df in.jsonl
    [[ $output == *mail_quotes* ]]
    run -2 neardup pairs -q --recipe r.ini --set s.unit=characters --set s.mail_quotes=drop in.jsonl
    [[ $output == *mail_quotes* ]]
}

@test "mail_quotes: the key is in the canonical form only if it is drop, and sketches with it are others" {
    a_thread
    run neardup recipe show --canonical default
    [[ $output != *mail_quotes* ]]
    neardup recipe show --canonical mail | grep -qx 'mail_quotes = drop'
    printf '[sketch]\nmail_quotes = keep\n' >keep.ini
    [ "$(neardup recipe check keep.ini)" = "keep.ini: a recipe, fingerprint e35e8ae03b9ccdfb" ]
    run neardup recipe diff default mail
    [[ $output == *mail_quotes* ]]
    neardup sketch -q in.jsonl -o all.sketch
    neardup sketch -q --recipe mail in.jsonl -o own.sketch
    run -2 neardup pairs -q --recipe mail all.sketch
    [[ $output == *mail_quotes* ]]
    [ "$(neardup pairs -q --recipe mail -t 0.3 own.sketch | cut -f 1,2)" = $'reply\tagain' ]
    run -2 neardup recipe check <(printf '[sketch]\nmail_quotes = yes\n')
    [[ $output == *mail_quotes* ]]
}
