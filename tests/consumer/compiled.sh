#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# compiled.sh INDEX COMPILER ARGUMENTS...: a compiler launcher. What a build has compiled
# by the same command, but for where the object goes, is copied from there; all else is
# compiled. So a project that has gnomon in it costs seconds, and one that compiles
# gnomon in another way is still seen to.
# compiled.sh --index INDEX BUILD COMPILER: makes INDEX, of the sources in src/ and
# bindings/.
set -eu
if [ "$1" = --index ]; then
    index=$2 build=$3 compiler=$4
    sed -n 's/^ *"command": "\(.*\)",$/\1/p' "$build/compile_commands.json" |
        awk -v build="$build" -v compiler="$compiler" '{
            key = object = ""
            for (i = 1; i <= NF && $i != compiler; i++)
                continue
            for (; i <= NF; i++)
                if ($i == "-o")
                    object = $++i
                else
                    key = key " " $i
            if (object != "" && key ~ / -c [^ ]*\/(src|bindings)\/[^ ]*$/)
                print key "\t" build "/" object "\t"
        }' > "$index"
    exit 0
fi
index=$1
shift
key='' object='' depend='' next=''
for word; do
    case $next in
    -o) object=$word next='' ;;
    -MF) depend=$word next='' ;;
    -MT) next='' ;;
    *) case $word in
        -o | -MF | -MT) next=$word ;;
        -MD) ;;
        *) key="$key $word" ;;
        esac ;;
    esac
done
line=$(grep -F -m 1 -e "$key	" "$index") || exec "$@"
has=${line#*	}
has=${has%	}
[ -f "$has" ] || exec "$@"
[ -z "$depend" ] || echo "$object: $has" > "$depend"
cp "$has" "$object"
