#!/usr/bin/env bash
# Runs golangci-lint at a pinned version, built once from the Go module proxy into the user's cache directory.
set -euo pipefail
cd "$(dirname "$0")/.."
version=v2.15.0
bin=${XDG_CACHE_HOME:-$HOME/.cache}/tokenrouter/golangci-lint-$version
go=$(scripts/find-go.sh)
if [ ! -x "$bin/golangci-lint" ]; then
    echo "building golangci-lint $version (once, a few minutes)" >&2
    GOBIN=$bin CGO_ENABLED=0 "$go" install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
PATH=$(dirname "$go"):$PATH exec "$bin/golangci-lint" "$@"
