#!/usr/bin/env bash
# Runs fuzz targets, the C++ ones (libFuzzer with ASan and UBSan) and all of Go, two at a time, from the committed corpora.
#
#   scripts/fuzz.sh DIRECTORY native|go [NAME...]   DIRECTORY has the C++ targets; a NAME is model_fuzz or FuzzRead: only these
#
# FUZZ_SECONDS (60) is how long each runs, GO the Go to use. Inputs that look new are kept in DIRECTORY/work, and one that shows a
# fault in DIRECTORY/found or, for Go, in the package's testdata/fuzz: fix the fault and commit the input.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=$1 kind=$2
shift 2
export FUZZ_SECONDS=${FUZZ_SECONDS:-60} GO=${GO:-$(scripts/find-go.sh)} targets
mkdir -p "$targets/log" "$targets/found"

list() {
    if [ "$kind" = native ]; then
        for path in native/fuzz/*_fuzz.cpp; do echo "$(basename "$path" .cpp) ."; done
        return
    fi
    grep -rno --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' bindings cmd internal models router sched server |
        sed -E 's#^(.*)/[^/]*:[0-9]+:func (Fuzz.*)$#\2 ./\1#'
}

# Go's fuzzing at times takes its own end for a failure (golang/go#75804, mended in Go 1.27): it says so, and has no input to show.
ended_late() {
    grep -q 'context deadline exceeded' "$1" && ! grep -q -e 'Failing input written' -e 'panic:' "$1"
}

run() { # run NAME PACKAGE: one target; its log is shown if it fails
    local name=$1 package=$2
    local log
    log=$targets/log/$name$(tr / - <<<"${package#.}").log
    if [ "$package" = . ]; then
        mkdir -p "$targets/work/$name"
        local seeds=("$targets/work/$name" tests/testdata/gguf)
        [ -d "native/fuzz/corpus/$name" ] && seeds+=("native/fuzz/corpus/$name")
        set -- "$targets/$name" -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=64 \
            -max_len=32768 -artifact_prefix="$targets/found/$name-" -print_final_stats=1 "${seeds[@]}"
    else
        set -- "$GO" test "$package" -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZ_SECONDS}s" -fuzzminimizetime 1s -parallel 1
    fi
    if ! "$@" >"$log" 2>&1 && ! ended_late "$log"; then
        tail -n 60 "$log" >&2
        echo "fuzz: $name ($package) found a fault; the whole log is $log" >&2
        return 1
    fi
    echo "fuzz: $name ($package): $(grep -E 'number_of_executed_units|execs:' "$log" | tail -n1)"
}
export -f run ended_late

list | while read -r name package; do
    if [ $# -eq 0 ] || [[ " $* " == *" $name "* ]]; then echo "$name $package"; fi
done | xargs -P 2 -L 1 bash -euo pipefail -c 'run "$@"' run
