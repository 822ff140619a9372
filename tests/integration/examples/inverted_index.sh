#!/usr/bin/env bash
# inverted_index.sh BUILD_FOLDER CASE: the example against coreutils.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# compare PATHS FILES...
compare() {
  local paths=$1 file
  shift
  for file; do
    tr 'A-Z' 'a-z' <"$file" | tr -c 'a-z0-9' '\n' | { grep -v '^$' || true; } | sort | uniq -c |
      awk -v file="$file" '{ printf "%s\t%s\t%d\n", $2, file, $1 }'
  done | sort -t $'\t' -k1,1 -k2,2 | awk -F '\t' '
    $1 "" != word { if (NR > 1) print line; word = $1; line = word }
    { line = line "\t" $2 ":" $3 }
    END { if (NR) print line }' >expected
  succeeds expected inverted_index "$paths"
}

case $case in
  files)
    mkdir -p texts/sub
    printf 'The cat. THE dog!\n' >texts/a
    printf "cat-and-dog's 42 cats\r\n" >texts/b.txt
    printf 'no newline the end' >texts/sub/c
    : >texts/empty
    printf '.,;\n\n' >texts/signs
    printf 'z\xc3\xbcrich \xff\xfe nul\0byte\n' >texts/bytes
    printf 'hidden' >texts/.hidden
    compare texts/a texts/a
    compare texts texts/a texts/b.txt texts/sub/c texts/empty texts/signs texts/bytes
    compare 'texts/*.txt,texts/a' texts/b.txt texts/a
    compare texts/empty texts/empty
    compare texts/signs texts/signs
    mkdir many
    for i in $(seq 60); do seq "$i" 7 $((i * 20)) >"many/$i"; done
    head -c 35000 /usr/share/common-licenses/GPL-3 >many/text
    compare many many/*
    ;;
  refusals)
    refuses 1 'usage: inverted_index PATHS' inverted_index
    refuses 1 'usage: inverted_index PATHS' inverted_index one two
    refuses 7 'missing' inverted_index missing
    refuses 7 'none*' inverted_index 'none*'
    ;;
  *) fail "no case $case" ;;
esac
