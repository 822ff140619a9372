#!/usr/bin/env bash
# tool_test.sh GROUP: runs the built command and holds exit code, stdout and stderr against what they must be.
# TENON_TOOL, PROBE and SOURCE_DIR come from CTest.
set -uo pipefail
tenon=$TENON_TOOL
probe=$PROBE
source_dir=$SOURCE_DIR
for name in $(compgen -v TENON_); do unset "$name"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/conf"
export TENON_CONF_DIR=$work/conf
cd "$work" || exit 1
failures=0

# expect CODE STDOUT STDERR COMMAND...: both texts exactly; a text that begins with ~ need only be found in the output.
expect() {
  local code=$1 out=$2 err=$3 got_code got_out got_err
  shift 3
  { "$@" >"$work/out" 2>"$work/err" </dev/null; } 2>"$work/shell"  # what bash says of a signal goes nowhere
  got_code=$?
  got_out=$(cat "$work/out")
  got_err=$(cat "$work/err")
  [ "$got_code" = "$code" ] && matches "$got_out" "$out" && matches "$got_err" "$err" && return
  failures=$((failures + 1))
  printf 'FAILED: %s\n  exit code %s, expected %s\n  stdout: %s\n  expected: %s\n  stderr: %s\n  expected: %s\n' \
    "$*" "$got_code" "$code" "$got_out" "$out" "$got_err" "$err"
}

matches() {
  case $2 in
    "~"*) [[ $1 == *"${2#\~}"* ]] ;;
    *) [ "$1" = "$2" ] ;;
  esac
}

# refused STDERR COMMAND...: a usage error and nothing on stdout.
refused() { local err=$1; shift; expect 2 "" "$err" "$@"; }

help() {
  local command
  expect 0 "tenon 0.1.0" "" "$tenon" version
  expect 0 "tenon 0.1.0" "" "$tenon" --version
  expect 0 "~Usage: tenon COMMAND" "" "$tenon" help
  expect 0 "~Usage: tenon COMMAND" "" "$tenon" --help
  for command in submit run config plugin version; do
    expect 0 "~Usage: tenon $command" "" "$tenon" help $command
    expect 0 "~Usage: tenon $command" "" "$tenon" $command --help
  done
  expect 0 "~128+n  the program was ended by signal n" "" "$tenon" help exit-codes
  [ "$("$tenon" help | wc -l)" -le 24 ] || { echo "FAILED: help is more than one screen"; failures=$((failures + 1)); }
  refused "tenon: which command? See 'tenon help'" "$tenon"
  refused "tenon: unknown command 'sumbit'; did you mean submit?" "$tenon" sumbit
  refused "tenon: unknown command 'xyzzy'" "$tenon" xyzzy
  refused "tenon: unknown option '--verison'; did you mean --version?" "$tenon" --verison
  refused "tenon: unknown help topic 'exit-code'; did you mean exit-codes?" "$tenon" help exit-code
  refused "tenon: version: unexpected argument 'x'" "$tenon" version x
}

submit_options() {
  refused "tenon: submit: which program? See 'tenon submit --help'" "$tenon" submit
  refused "tenon: submit: which program? See 'tenon submit --help'" "$tenon" submit --master 'local[2]'
  refused "tenon: submit: --master: 1 required URL missing" "$tenon" submit --master
  refused "tenon: unknown option '--mster'; did you mean --master?" "$tenon" submit --mster x "$probe"
  refused "tenon: unknown option '--properties-fil'; did you mean --properties-file?" \
    "$tenon" submit --properties-fil=x "$probe"
  refused "tenon: unknown option '-x'" "$tenon" submit -x "$probe"
  refused "tenon: --conf 'novalue': it must be KEY=VALUE" "$tenon" submit --conf novalue "$probe"
  refused "tenon: --conf '=1': it must be KEY=VALUE" "$tenon" submit -c =1 "$probe"
  refused "tenon: --conf 'a b=1': a blank in the key" "$tenon" submit --conf 'a b=1' "$probe"
  refused "tenon: --verbose and --quiet exclude each other" "$tenon" submit -v -q "$probe"
  refused "tenon: cannot read the settings file /no/such: No such file or directory" \
    "$tenon" submit --properties-file /no/such "$probe"
  printf 'a 1\nb\n' >bad.conf
  refused "tenon: bad.conf:2: 'b' has no value; a line is 'key value'" \
    "$tenon" submit --properties-file bad.conf "$probe"
  # both forms of an option; all of a program's arguments reach it as they are
  expect 0 "tenon.master=x:1 (command line --master)" "" "$tenon" submit --master x:1 "$probe" tenon.master
  expect 0 "tenon.master=x:1 (command line --master)" "" "$tenon" submit --master=x:1 "$probe" tenon.master
  expect 0 "a=1=2 (command line --conf)" "" "$tenon" submit -c a=1=2 -- "$probe" a
  expect 0 "--master x -- --help @file  " "" "$tenon" submit /bin/echo --master x -- --help @file '' ''
  expect 0 "a=3 (command line --conf)" "" "$tenon" submit -c a=1 --conf=a=2 --conf a=3 "$probe" a
  expect 0 "tenon.master=x:2 (command line --master)" "" \
    "$tenon" submit --master x:1 --master x:2 --conf tenon.master=x:3 "$probe" tenon.master
  expect 0 "tenon.log.level=info (command line --verbose)" "" "$tenon" submit -v "$probe" tenon.log.level
  expect 0 "tenon.log.level=debug (command line --log-level)" "" \
    "$tenon" submit -v --log-level debug "$probe" tenon.log.level
  expect 0 "tenon.log.level=error (command line --quiet)
tenon.ui.showConsoleProgress=false (command line --quiet)" "" \
    "$tenon" submit -q "$probe" tenon.log.level tenon.ui.showConsoleProgress
  expect 0 "tenon.app.name=My name (command line --name)" "" "$tenon" submit --name "My name" "$probe" tenon.app.name
  expect 0 "tenon.app.name=settings_probe (default )" "" "$tenon" submit "$probe" tenon.app.name
}

# An empty URL is never taken for the default.
empty_master() {
  local rule="a master URL must not be empty; leave it out for the default, local[*]"
  refused "setting tenon.master has '' (--master): $rule" "$tenon" submit --master '' "$probe" tenon.master
  refused "setting tenon.master has '' (--master): $rule" "$tenon" submit --master '  ' "$probe" tenon.master
  refused "setting tenon.master has '' (--master): $rule" "$tenon" submit -v --name= --master= "$probe" tenon.master
  refused "tenon: cannot read the settings file : No such file or directory" "$tenon" submit --properties-file= "$probe"
  expect 0 "tenon.app.name=settings_probe (default )" "" "$tenon" submit --master='local[1]' "$probe" tenon.app.name
  refused "setting tenon.master has '' (--conf): $rule" "$tenon" submit --conf tenon.master= "$probe" tenon.master
  refused "setting tenon.master has '' (TENON_MASTER): $rule" env TENON_MASTER= "$tenon" submit "$probe" tenon.master
  refused "setting tenon.master has '' (TENON_MASTER): $rule" env TENON_MASTER= "$probe" tenon.master
  refused "setting tenon.master has '' (TENON_MASTER): $rule" env TENON_MASTER= "$tenon" submit --master x:1 "$probe"
  refused "tenon: setting tenon.master has '' (--master): $rule" "$tenon" config show --master ''
  refused "tenon: cannot read the settings file : No such file or directory" \
    "$tenon" submit --properties-file '' "$probe"
  refused "~setting tenon.log.level has '' (--log-level)" "$tenon" submit --log-level '' "$probe"
  # Other variables count as not set when they are empty.
  expect 0 "tenon.log.level=warn (default )" "" env TENON_LOG= TENON_LOCAL_DIRS= "$probe" tenon.log.level
}

submit_program() {
  local code
  refused "tenon: cannot run '/no/such/program': No such file or directory" "$tenon" submit /no/such/program
  refused "tenon: cannot run '/tmp': it is a folder" "$tenon" submit /tmp
  echo "not a program" >plain
  refused "tenon: cannot run 'plain': it is not executable; try chmod +x" "$tenon" submit plain
  chmod +x plain
  refused "tenon: cannot run './plain': Exec format error" "$tenon" submit plain
  refused "tenon: cannot run 'no\x0asuch': No such file or directory" "$tenon" submit $'no\nsuch'
  refused "tenon: cannot run 'echo': No such file or directory" "$tenon" submit echo  # PATH is not searched
  printf '#!/bin/sh\necho here "$@"\n' >script
  chmod +x script
  expect 0 "here a b" "" "$tenon" submit script a b
  for code in 0 1 2 7 42 255; do
    expect $code "" "" "$tenon" submit --conf a=1 "$probe" --exit $code
  done
}

# A plugin with two executors of 1 and 2 cores and no resource of any kind.
no_resources() {
  local waits=(--master myclusterManager --conf tenon.scheduler.maxWait=700ms --conf tenon.starvation.timeout=200ms)
  export TENON_PLUGIN_PATH=$PLUGINS
  expect 5 "" "~No resources within tenon.scheduler.maxWait (0.7 s), 2 tasks wait and none runs: a task needs 4 cores (tenon.task.cpus) and the largest of 2 executors offered 2" \
    "$tenon" submit "${waits[@]}" --conf tenon.task.cpus=4 "$PI" 2
  expect 5 "" "~sufficient resources: no executor offered what a task needs: gpu=1 (tenon.task.resource.gpu.amount; nobody has any)" \
    "$tenon" submit "${waits[@]}" --conf tenon.task.resource.gpu.amount=1 "$PI" 2
  expect 5 "" "~kind: no_resources" "$tenon" submit "${waits[@]}" --conf tenon.task.resource.gpu.amount=1 "$PI" 2
  unset TENON_PLUGIN_PATH
  # In one process nothing else will come: no wait.
  expect 5 "" "~no executor offered what a task needs: gpu=1" \
    timeout 20 "$tenon" submit --master 'local[2]' --conf tenon.task.resource.gpu.amount=1 "$PI" 2
  expect 2 "" "~tenon.task.cpus=4 (--conf) is more than the 2 cores of tenon.master=local[2]: no executor could run a task" \
    timeout 20 "$tenon" submit --master 'local[2]' --conf tenon.task.cpus=4 "$PI" 2
}

submit_signals() {
  local signal
  for signal in TERM:143 KILL:137 INT:130 SEGV:139; do
    expect "${signal#*:}" "" "" "$tenon" submit --conf a=1 /bin/sh -c "kill -${signal%:*} \$\$"
  done
  # A signal to the command's process is the program's.
  printf '#!/bin/sh\ntrap "echo got it; exit 5" TERM\necho ready >"$1"\nwhile :; do sleep 0.05; done\n' >waits
  chmod +x waits
  mkfifo ready
  "$tenon" submit --conf a=1 waits ready >out &
  local pid=$!
  read -r _ <ready
  kill -TERM $pid
  wait $pid
  local code=$?
  expect 0 "got it 5" "" echo "$(cat out)" $code
}

precedence() {
  local show=("$probe" tenon.master)
  echo "tenon.master file:1" >conf/tenon.conf
  echo "tenon.master = properties:1" >p.conf
  expect 0 "tenon.master=code:1 (set in code Conf::set)" "" env TENON_MASTER=env:1 \
    "$tenon" submit --master option:1 --properties-file p.conf "$probe" --set tenon.master=code:1 \
    --default tenon.master=program:1 tenon.master
  expect 0 "tenon.master=option:1 (command line --master)" "" env TENON_MASTER=env:1 \
    "$tenon" submit --master option:1 --properties-file p.conf "$probe" --default tenon.master=program:1 tenon.master
  expect 0 "tenon.master=env:1 (environment TENON_MASTER)" "" env TENON_MASTER=env:1 \
    "$tenon" submit --properties-file p.conf "$probe" --default tenon.master=program:1 tenon.master
  expect 0 "tenon.master=properties:1 (file p.conf:1)" "" \
    "$tenon" submit --properties-file p.conf "$probe" --default tenon.master=program:1 tenon.master
  expect 0 "tenon.master=file:1 (file $work/conf/tenon.conf:1)" "" \
    "$tenon" submit "$probe" --default tenon.master=program:1 tenon.master
  expect 0 "tenon.master=file:1 (file $work/conf/tenon.conf:1)" "" "${show[@]}"
  rm conf/tenon.conf
  expect 0 "tenon.master=program:1 (program's default the program's defaults)" "" \
    "$tenon" submit "$probe" --default tenon.master=program:1 tenon.master
  expect 0 "tenon.master=local[*] (default )" "" "$tenon" submit "$probe" tenon.master
  # --properties-file stands in place of tenon.conf; --load-defaults reads it below
  echo "tenon.task.cpus 3" >conf/tenon.conf
  expect 0 "tenon.task.cpus=1 (default )" "" "$tenon" submit --properties-file p.conf "$probe" tenon.task.cpus
  expect 0 "tenon.task.cpus=3 (file $work/conf/tenon.conf:1)" "" \
    "$tenon" submit --properties-file p.conf --load-defaults "$probe" tenon.task.cpus
  # a pipe can be a properties file: the command reads it, not the program
  expect 0 "tenon.task.cpus=2 (file /dev/fd/0:1)" "" \
    bash -c 'echo tenon.task.cpus 2 | "$@"' - "$tenon" submit --properties-file /dev/fd/0 "$probe" tenon.task.cpus
  # whatever stands wrong is found in the program, with its origin
  refused "unknown setting 'tenon.executor.core' (--conf); did you mean tenon.executor.cores? 'tenon config list' shows all settings" \
    "$tenon" submit --conf tenon.executor.core=4 "$probe"
  refused "setting tenon.task.cpus has 'four' (--conf): it must be a whole number, 1 or more" \
    "$tenon" submit --conf tenon.task.cpus=four "$probe"
  echo "tenon.executor.core 3" >conf/tenon.conf
  refused "unknown setting 'tenon.executor.core' ($work/conf/tenon.conf:1); did you mean tenon.executor.cores? 'tenon config list' shows all settings" "$probe"
  refused "TENON_CONF_DIR is /no/such, which is not a folder" env TENON_CONF_DIR=/no/such "$probe"
}

secrets() {
  # The value is in no argument and in no variable of the program.
  expect 0 "" "" "$tenon" submit --conf my.secret=hunter2 /bin/sh -c 'tr "\0" "\n" </proc/$$/environ | grep hunter2; true'
  expect 0 "" "" "$tenon" submit --conf my.secret=hunter2 /bin/sh -c 'tr "\0" "\n" </proc/self/cmdline | grep hunter2x; true'
  expect 0 "my.secret=hunter2 (command line --conf)" "" "$tenon" submit --conf my.secret=hunter2 "$probe" my.secret
  # It goes through a script that starts the program ...
  expect 0 "a=1 (command line --conf)" "" "$tenon" submit --conf a=1 /bin/sh -c 'exec 3>&1; "$0" a' "$probe"
  # ... and when a script closes it, the program says so instead of going on without settings.
  refused "~the settings of 'tenon submit' did not arrive: descriptor" \
    "$tenon" submit --conf a=1 /bin/bash -c 'eval "exec $TENON_SUBMIT_FD>&-"; "$0" a' "$probe"
  # Without options nothing is handed over, and what an outer submit handed over does not reach the inner program.
  expect 0 "" "" "$tenon" submit /bin/sh -c 'env | grep TENON_SUBMIT_FD; true'
  expect 0 "a is not there" "" "$tenon" submit --conf a=1 "$tenon" submit "$probe" a
  expect 0 "(redacted)" "" bash -c '"$0" config show --conf my.secret=hunter2 --master local 2>&1 | sed -n "s/^my.secret *//p"' "$tenon"
}

run() {
  local own=$work/tree/bin
  mkdir -p "$own/examples"
  cp "$tenon" "$own/tenon"
  printf '#!/bin/sh\necho hello "$@"\n' >"$own/examples/hello"
  cp "$probe" "$own/examples/settings"
  chmod +x "$own"/examples/*
  echo data >"$own/examples/notes.txt"
  expect 0 "hello" "" "$own/tenon" run hello
  expect 0 "hello a --top 3" "" "$own/tenon" run hello a --top 3
  expect 0 "hello --top 3 --master x" "" "$own/tenon" run hello --top 3 --master x
  expect 0 "hello --help" "" "$own/tenon" run hello --help
  expect 0 "hello --master x" "" "$own/tenon" run hello -- --master x
  expect 0 "tenon.master=x:1 (command line --master)" "" "$own/tenon" run settings --master x:1 tenon.master
  expect 0 "tenon.master=x:1 (command line --master)" "" "$own/tenon" run settings --master=x:1 tenon.master
  expect 0 "tenon.master=x:1 (command line --master)" "" "$own/tenon" run --master x:1 settings tenon.master
  expect 0 "tenon.master=x:2 (command line --master)
a=1 (command line --conf)" "" "$own/tenon" run --master x:1 settings --conf a=1 --master x:2 tenon.master a
  expect 0 "tenon.log.level=info (command line --verbose)" "" "$own/tenon" run -v settings tenon.log.level
  expect 0 "hello b" "" "$own/tenon" run "$own/examples/hello" b
  expect 0 "~hello, settings" "" "$own/tenon" run --help
  refused "tenon: run: which example? See 'tenon run --help'" "$own/tenon" run
  refused "tenon: no example 'helo'; did you mean hello?
  examples: hello, settings
  a program of your own: tenon run ./PROGRAM" "$own/tenon" run helo
  refused "tenon: no example 'notes.txt'
  examples: hello, settings
  a program of your own: tenon run ./PROGRAM" "$own/tenon" run notes.txt
  refused "tenon: cannot run './helo': No such file or directory" "$own/tenon" run ./helo
  refused "tenon: run: --master: 1 required URL missing" "$own/tenon" run hello --master
  refused "tenon: --conf 'x': it must be KEY=VALUE" "$own/tenon" run hello --conf x
}

config() {
  expect 0 "~tenon.task.maxFailures                             int       4" "" "$tenon" config list
  expect 0 "~tenon.task.cpus
    Cores that one task takes. At most tenon.executor.cores.
    Form: a whole number, 1 or more. Default: 1" "" "$tenon" config list --doc
  expect 0 "~Usage: tenon config list" "" "$tenon" config
  refused "tenon: unknown config command 'lst'; did you mean list?" "$tenon" config lst
  refused "~tenon: config list: --doc excludes --markdown" "$tenon" config list --doc --markdown
  refused "tenon: unknown option '--dok'; did you mean --doc?" "$tenon" config list --dok
  refused "tenon: config show: unexpected argument 'x'" "$tenon" config show x
  echo "tenon.task.cpus 2" >conf/tenon.conf
  expect 0 "~tenon.task.cpus                                    2" "" "$tenon" config show
  expect 0 "~file: $work/conf/tenon.conf:1" "" "$tenon" config show --origin
  expect 0 "~command line: --master" "" "$tenon" config show --origin --master 'local[2]'
  refused "~master URL 'lcoal[2]': no plugin for scheme 'lcoal'; did you mean 'local'?" \
    "$tenon" config show --master 'lcoal[2]'
  refused "tenon: tenon.task.cpus=2 ($work/conf/tenon.conf:1) is more than tenon.executor.cores=1 (--conf): no executor could run a task" \
    "$tenon" config show --conf tenon.executor.cores=1
}

documents() {
  local hint="make it again: tenon config list"
  diff -u "$source_dir/docs/settings.md" <("$tenon" config list --markdown) ||
    { failures=$((failures + 1)); echo "docs/settings.md is old; $hint --markdown > docs/settings.md"; }
  diff -u "$source_dir/conf/tenon.conf.template" <("$tenon" config list --template) ||
    { failures=$((failures + 1)); echo "conf/tenon.conf.template is old; $hint --template > conf/tenon.conf.template"; }
  # Every line of the templates holds when its comment sign is taken away.
  sed 's/^#\(tenon\.\)/\1/' "$source_dir/conf/tenon.conf.template" | grep -v '<' >conf/tenon.conf
  expect 0 "tenon.task.maxFailures=4 (file $work/conf/tenon.conf:$(grep -n '^tenon.task.maxFailures' conf/tenon.conf | cut -d: -f1))" \
    "" "$probe" tenon.task.maxFailures
  sed 's/^#\(tenon\.\)/\1/' "$source_dir/conf/log.conf.template" >conf/tenon.conf
  expect 0 "tenon.log.format=json (file $work/conf/tenon.conf:$(grep -n '^tenon.log.format' conf/tenon.conf | cut -d: -f1))" \
    "" "$probe" tenon.log.format
}

plugin() {
  expect 0 "~SCHEME" "" "$tenon" plugin list
  expect 0 "~local" "" "$tenon" plugin list -v
  expect 0 "~Usage: tenon plugin list" "" "$tenon" plugin
  refused "tenon: unknown plugin command 'lst'; did you mean list?" "$tenon" plugin lst
  refused "tenon: plugin info: FILE is required" "$tenon" plugin info
  refused "tenon: plugin info: '/no/such.so': no such file" "$tenon" plugin info /no/such.so
  echo "no ELF file" >"$work/tenon-junk.so"
  expect 3 "" "~tenon-junk.so" "$tenon" plugin info tenon-junk.so
  # A file dropped into TENON_PLUGIN_PATH is there at once.
  mkdir drop
  chmod 755 drop
  cp "$(dirname "$tenon")/../lib/tenon/plugins/tenon-local.so" drop/
  expect 0 "~$work/drop/tenon-local.so (TENON_PLUGIN_PATH)" "" env TENON_PLUGIN_PATH="$work/drop" "$tenon" plugin list -v
  expect 0 "~shadowed" "" env TENON_PLUGIN_PATH="$work/drop" "$tenon" plugin list -v
  expect 0 "~$work/drop/tenon-local.so" "" "$tenon" plugin list --conf "tenon.plugin.local.library=$work/drop/tenon-local.so"
}

output() {
  # A result that could not be written is not a success.
  expect 1 "" "tenon: cannot write to stdout: No space left on device" bash -c '"$0" config list >/dev/full' "$tenon"
  expect 1 "" "tenon: cannot write to stdout: No space left on device" bash -c '"$0" version >/dev/full' "$tenon"
}

"$1"
[ "$failures" = 0 ] && echo "all held"
exit $((failures > 0))
