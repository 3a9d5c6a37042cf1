#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh: the old name of tests/lint.
exec "$(dirname "$0")/lint" "$@"
