#!/usr/bin/env bash
# check-layers.sh - each layer includes only what it may, and each library stays in its folder
set -euo pipefail
cd "$(dirname "$0")/.."

# This table of docs/architecture.md says what may be included, by layer.  For the layers above it, base
# is one with its rooms.
declare -A may=(
    [base]="base base/number base/system"
    [base/number]="base/number base/system"
    [base/system]="base/system"
    [base/file]="base/file base/thread base base/system"
    [base/thread]="base/thread base base/system"
    [simd]="simd base"
    [simd/elias_fano]="simd/elias_fano simd base"
    [simd/filter]="simd/filter simd base"
    [simd/hamming]="simd/hamming simd base"
    [simd/json]="simd/json simd base"
    [simd/signature]="simd/signature simd/sketch simd base"
    [simd/sketch]="simd/sketch simd base"
    [simd/text]="simd/text simd base"
    [input/library]="input/library base"
    [input/formats]="input/formats input/library simd/json base"
    [input/streams]="input/streams input/formats input/library base"
    [input]="input input/streams input/formats input/library base"
    [text]="text simd/text base"
    [feature/word]="feature/word text base"
    [feature]="feature feature/word text simd/sketch base"
    [sketch]="sketch text simd/signature simd/sketch base"
    [match]="match text feature sketch base"
    [hamming/plan]="hamming/plan base"
    [hamming/join]="hamming/join hamming/plan simd/hamming base"
    [hamming/memory]="hamming/memory hamming/join hamming/plan simd/filter simd/hamming base"
    [hamming/file]="hamming/file hamming/memory hamming/join hamming/plan simd/elias_fano simd/hamming base"
    [index]="index simd simd/filter simd/hamming simd/sketch base"
    [recipe]="recipe match feature feature/word sketch text base"
    [record]="record recipe match sketch simd/elias_fano base"
    [engine/document]="engine/document record recipe sketch index match base"
    [engine]="engine engine/document record recipe text feature sketch index match base"
    [candidates]="candidates engine engine/document record recipe index match base"
    [evidence]="evidence engine engine/document recipe text base"
    [loads]="loads candidates engine recipe base"
    [sketches]="sketches loads record engine input input/streams input/formats input/library recipe base"
    [reading]="reading sketches loads record evidence engine input input/streams input/formats input/library recipe feature base"
    [report]="report reading sketches loads record evidence engine input input/streams input/formats input/library recipe text base"
    [old]="old reading sketches loads candidates record evidence engine input input/streams input/formats input/library recipe base"
    [run]="run report old reading sketches loads record evidence engine input input/streams input/formats input/library recipe base"
    [uses]="uses run report old reading sketches loads record evidence engine engine/document input input/streams input/formats input/library recipe base"
    [uses/audit]="uses/audit uses/judging uses/eval uses report run reading loads evidence recipe sketch input/formats base"
    [uses/eval]="uses/eval uses run evidence recipe input/formats base"
    [uses/judging]="uses/judging uses/eval uses report run evidence input/formats base"
    [uses/repeats]="uses/repeats uses run report reading evidence input/streams input/formats feature/word text base"
    [uses/plan]="uses/plan run reading loads evidence engine input/streams base"
    [uses/sources]="uses/sources uses run report reading evidence recipe match sketch text base"
    [store]="store"
    [store/segments]="store/segments base"
    [store/catalog]="store/catalog store/segments store index base"
    [store/search]="store/search store/catalog store candidates record engine/document recipe match index base"
    [store/read]="store/read store/search store/catalog store/segments store record index base"
    [store/write]="store/write store/read store/search store index base"
    [store/upkeep]="store/upkeep store/write store/read store/search store/catalog store/segments store recipe index base"
    [server/wire]="server/wire store base"
    [server/connections]="server/connections server/wire store base"
    [server]="server server/connections server/wire store evidence engine recipe match input input/streams input/formats input/library text index base"
    [cli/service]="server store base"
    [python/native]="uses/repeats loads sketches evidence candidates record engine engine/document recipe match feature sketch text index hamming/plan hamming/join
        hamming/memory hamming/file base"
)

# Headers that stay in some places, as "pattern=where…", each where being a prefix of a file's path.
only=(
    'pthread\.h|sched\.h|threads\.h=src/base/system/'
    'libstemmer\.h=src/feature/word/stemmer.c'
    'xxhash\.h=src/base/hash.c'
    'simdjson\.h=src/input/'
    'archive(_entry)?\.h|isa-l.*|igzip_lib\.h|crc\.h=src/input/'
    'libxml/.*=src/input/'
    'lzma\.h|bzlib\.h|zlib\.h=src/input/library/codecs_load.h'
    'zstd\.h=src/input/library/codecs_load.h src/store/segments/'
    'lmdb\.h=src/store/catalog/catalog'
    'microhttpd\.h|gnutls/.*=src/server/'
    'curl/.*=cli/service/http.c'
    'gmime/.*=src/input/formats/mail_gmime src/input/library/mail_gmime'
    'dlfcn\.h=src/base/system/'
    '[a-z0-9]*intrin\.h|arm_neon\.h|arm_acle\.h=src/simd/'
)

status=0
complain() {
    echo "$1" >&2
    status=1
}

# The names that each file includes.
declare -A included
while IFS=: read -r file name; do
    included[$file]+="$name "
done < <(tools/list-files.sh '*.c' '*.h' '*.cpp' |
    xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' |
    sed -nE 's/^([^:]+):[^<"]*[<"]([^>"]+)[>"].*/\1:\2/p')
# No rule of `only` is about other names, which are most.
any=$(IFS='|' && echo "${only[*]%%=*}")

check_layer() { # FILE LAYER
    local name folder
    for name in ${included[$1]:-}; do
        folder=${name%/*}
        case $2,$folder in base*,*) ;; *,base/*) folder=base ;; esac
        case $name in
        neardup.h | neardup/*) continue ;;
        */*) ;;
        *) continue ;;
        esac
        [ -d "src/$folder" ] || continue
        case " ${may[$2]} " in
        *" $folder "*) ;;
        *) complain "$1: includes $name, but $2 may include: ${may[$2]}" ;;
        esac
    done
}

check_outside() { # FILE: sees public headers only, what stands beside it, and in the command the system
    local name
    for name in ${included[$1]:-}; do
        case $1,$name in cli/*,base/system/*) continue ;; esac
        if [ -e "src/$name" ]; then complain "$1: includes the private header $name"; fi
    done
}

check_only() { # FILE
    local rule pattern where name place stays
    for name in ${included[$1]:-}; do
        [[ $name =~ ^($any)$ ]] || continue
        for rule in "${only[@]}"; do
            pattern=${rule%=*}
            where=${rule#*=}
            stays=
            for place in $where; do
                case $1 in "$place"*) stays=1 ;; esac
            done
            if [ -z "$stays" ] && [[ $name =~ ^($pattern)$ ]]; then
                complain "$1: includes <$name>, which stays in $where"
            fi
        done
    done
}

while IFS= read -r file; do
    case $file in
    src/*/*)
        layer=${file#src/}
        layer=${layer%/*}
        if [ -n "${may[$layer]:-}" ]; then check_layer "$file" "$layer"; else
            complain "$file: $layer is no layer of this table"
        fi
        check_only "$file"
        ;;
    include/*)
        check_outside "$file"
        check_only "$file"
        ;;
    python/native/*)
        check_layer "$file" python/native
        check_only "$file"
        ;;
    cli/service/*)
        check_layer "$file" cli/service
        check_only "$file"
        ;;
    cli/*)
        check_outside "$file"
        check_only "$file"
        ;;
    esac
done < <(tools/list-files.sh '*.c' '*.h' '*.cpp')

# C++ only where simdjson is spoken to, and inline assembly or vector types only in src/simd.
while IFS= read -r file; do
    case $file in
    src/input/*.cpp | tests/* | bench/*) ;;
    *) complain "$file: C++ stays in src/input" ;;
    esac
done < <(tools/list-files.sh '*.cpp')
vectors='\b(__m(128|256|512)i?|_mm(256|512)?_[a-z0-9_]+|vld1q?_[a-z0-9]+|__asm__|target\("[a-z])'
if tools/list-files.sh '*.c' '*.h' '*.cpp' | grep -E '^(src|cli|python)/' | grep -v '^src/simd/' |
    xargs grep -nE "$vectors" >&2; then
    complain "instructions of one processor stay in src/simd"
fi

# Documents reach an engine by a driver (src/loads), by one_pass.c, whose batches threads prepare, by the
# live index of Python, and where a pair is explained.
pushes='\bnd_dedup_(push[a-z_]*|query|judge)\('
drivers='^(src/engine/|src/loads/streamed\.c|src/run/one_pass\.c|src/evidence/explanation\.c|python/native/objects/live_texts\.c)'
if tools/list-files.sh '*.c' | grep -E '^(src|cli|python)/' | grep -vE "$drivers" |
    xargs grep -nE "$pushes" >&2; then
    complain "documents are pushed into an engine by src/loads/streamed.h or staged.h"
fi
exit $status
