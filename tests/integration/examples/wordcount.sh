#!/usr/bin/env bash
# wordcount.sh BUILD_FOLDER CASE: the example against coreutils.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# All words of the files as "count<TAB>word", most frequent first, then by bytes.
counts() {
  local file
  for file; do
    cat -- "$file"
    echo
  done | tr ' \t\v\f\r' '\n' | { grep -av '^$' || true; } | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1\t/' | sort -t $'\t' -k1,1nr -k2,2
}

# expect FILE...: writes what the example prints for all words of these files, and for the first ten.
expect() {
  counts "$@" >counts
  {
    printf 'total\t%s\n' "$(awk -F '\t' '{ n += $1 } END { printf "%d", n }' counts)"
    printf 'distinct\t%s\n' "$(wc -l <counts)"
  } >sums
  cat sums counts >all
  { cat sums; head -n 10 counts; } >top
}

# compare PATHS_GIVEN... -- FILES...
compare() {
  local given=()
  while [ "$1" != -- ]; do
    given+=("$1")
    shift
  done
  shift
  expect "$@"
  succeeds top wordcount "${given[@]}"
  succeeds all wordcount --top 1000000 "${given[@]}"
}

text() { head -c "$1" /usr/share/common-licenses/GPL-3; }

case $case in
  text)
    text 35000 >plain
    printf 'no newline at the end' >no_newline
    printf 'a b\r\nb c\r\n\r\nc\r\n' >crlf
    printf 'v\vf\fr\rt\tn\ns  \n\n \t\v\f\r\n' >blanks
    printf 'nul \0 in\0side \x1c \x85 \xa0 not blanks\n' >control
    printf 'z\xc3\xbc ok \xff\xfe \xc3( \xff\xfe z\xc3\xbc \x80\n' >invalid_utf8
    : >empty
    printf '\n' >newline
    for file in plain no_newline crlf blanks control invalid_utf8 empty newline; do compare "$file" -- "$file"; done
    compare plain no_newline empty crlf -- plain no_newline empty crlf
    ;;
  empty_folder)
    mkdir folder
    compare folder -- /dev/null
    mkdir folder/sub
    : >folder/sub/empty
    compare folder -- /dev/null
    ;;
  split_borders)
    # Two tasks share a file, the border is in its middle: let it come to lie in each place of a line that ends in \r\n.
    for size in $(seq 400 430); do
      first "$size" seq -f 'word%.0f two' 60 | sed 's/$/\r/' >"cut$size"
      expect "cut$size"
      succeeds all wordcount --top 1000000 "cut$size"
    done
    # Over the largest split: three tasks at least.
    seq -f 'line %.0f of a file that is cut in several places' 1 20000 >lines
    first 83886080 repeat lines >large
    compare large -- large
    ;;
  long_line)
    seq -f 'a-rather-long-word-of-the-only-line-%05.0f' 1 2000 | tr '\n' ' ' >words
    first 100000000 repeat words >line
    compare line -- line
    ;;
  many_files)
    mkdir folder
    for i in $(seq 10000); do printf 'file %s of ten thousand\n' "$((i % 100))" >"folder/$i.txt"; done
    cat folder/*.txt >together
    compare folder -- together
    compare 'folder/*.txt' -- together
    ;;
  paths)
    mkdir -p folder/sub folder/_logs folder/.git
    echo one >folder/1.txt
    echo two two >folder/sub/2.txt
    echo three >folder/3.log
    echo hidden | tee folder/.hidden folder/_SUCCESS folder/_logs/x folder/.git/x >/dev/null
    compare folder -- folder/1.txt folder/sub/2.txt folder/3.log
    compare 'folder/*' -- folder/1.txt folder/sub/2.txt folder/3.log
    compare 'folder/*.txt' -- folder/1.txt
    compare 'folder/{1,3}.*' -- folder/1.txt folder/3.log
    compare 'folder/[13].???' folder/sub -- folder/1.txt folder/3.log folder/sub/2.txt
    compare folder/.hidden -- folder/.hidden
    compare 'folder/_*' -- folder/_SUCCESS folder/_logs/x
    echo in a comma >'x,y.txt'
    compare 'x,y.txt' folder/1.txt -- 'x,y.txt' folder/1.txt
    echo stars >'*.txt'
    echo other >other.txt
    compare '*.txt' -- '*.txt'
    ln -s .. folder/sub/up
    compare folder -- folder/1.txt folder/sub/2.txt folder/3.log
    ;;
  output)
    text 35000 >plain
    expect plain
    for master in "${masters[@]}"; do
      run "$master" wordcount --output "out-$master" plain
      [ "$status" -eq 0 ] || fail "ended with $status: $(cat "$err")"
      cmp top "$out"
      parts_of "out-$master" | sed 's/^(\(.*\),\([0-9]*\))$/\2\t\1/' | sort -t $'\t' -k1,1nr -k2,2 | cmp - counts
      run "$master" wordcount --output "out-$master" plain  # it exists now
      [ "$status" -eq 7 ] && [ ! -s "$out" ] && grep -qF "out-$master" "$err" || fail "existing output: $status, $(cat "$err")"
      parts_of "out-$master" >/dev/null
    done
    ;;
  full_disk)
    # A small file system of its own for the output; where none can be mounted, a limit on the size of files.
    seq -f 'word%.0f' 100000 >words
    mkdir disk
    confined=(unshare -m)
    "${confined[@]}" true 2>/dev/null || confined=(unshare -Urm)
    confine='mount -t tmpfs -o size=512k tenon-test disk' why='No space left on device'
    if ! "${confined[@]}" sh -c "$confine" 2>/dev/null; then
      confined=(env) confine='trap "" XFSZ; ulimit -f 512' why='File too large'
    fi
    for master in "${masters[@]}"; do
      status=0
      TENON_MASTER=$master "${confined[@]}" bash -c "$confine"'
        "$0" --output disk/out words
        code=$?
        ls -A disk >left
        exit $code' "$build/bin/examples/wordcount" >out 2>err || status=$?
      [ "$status" -eq 1 ] || fail "full disk on $master: ended with $status: $(cat err)"
      grep -q "output disk/out/_temporary/part-0000[0-9] cannot be written: $why" err || fail "$(cat err)"
      [ ! -s left ] || fail "left on the full disk: $(cat left)"
    done
    ;;
  refusals)
    echo text >here
    for arguments in '' '--top' '--top x here' '--top -1 here' '--top 3' '--output' '--color here'; do
      # shellcheck disable=SC2086
      refuses 1 'usage: wordcount [--top N] [--output DIR] PATH...' wordcount $arguments
    done
    refuses 7 'no/such/file' wordcount no/such/file
    refuses 7 'missing' wordcount here missing
    refuses 7 'none*.txt' wordcount 'none*.txt'
    refuses 7 '/dev/null' wordcount /dev/null
    mkdir bad && ln -s nowhere bad/link
    refuses 7 'bad/link' wordcount bad
    printf 'total\t1\ndistinct\t1\n' >none
    succeeds none wordcount --top 0 here
    for master in "${masters[@]}"; do  # a full disk
      status=0
      TENON_MASTER=$master "$build/bin/examples/wordcount" here >/dev/full 2>err || status=$?
      [ "$status" -eq 1 ] || fail "full stdout: ended with $status"
    done
    ;;
  *) fail "no case $case" ;;
esac
