# SPDX-License-Identifier: MIT
# TAP for shell tests. Source it first:   . "$PL_SRC/tests/tap.sh"
#
#   tap_ok NAME CMD...        passes when CMD succeeds; its output becomes diagnostics when not
#   tap_is GOT WANT NAME      passes when the two strings are the same
#   tap_pass NAME             tap_fail NAME [TEXT]
#   tap_skip NAME REASON      one test that cannot run here
#   tap_skip_all REASON       no test of this file can run here; ends the script
#   tap_diag TEXT...          "# TEXT"; with no argument, what comes on stdin
#   tap_done                  prints the plan; the last line of every test
#   $tap_tmp                  a private folder, removed at exit
#   tap_shim CMD...           CMD with the shim preloaded
#
# A script that ends before tap_done has printed no plan, and the driver reports that as an error.
# The status is 0 even after a "not ok": the driver counts a failing status as one more error.

tap_count=0
tap_tmp=$(mktemp -d "${TMPDIR:-/tmp}/pagelift-test.XXXXXX") || exit 99
trap 'rm -rf "$tap_tmp"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

tap_diag()
{
	if [ $# -gt 0 ]; then
		printf '%s\n' "$*" | sed 's/^/# /'
	else
		sed 's/^/# /'
	fi
}

tap_pass()
{
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' "$tap_count" "$1"
}

tap_fail()
{
	tap_count=$((tap_count + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$1"
	[ -z "${2-}" ] || tap_diag "$2"
}

tap_skip()
{
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

tap_skip_all()
{
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

tap_ok()
{
	tap_name=$1
	shift
	tap_status=0
	"$@" >"$tap_tmp/.output" 2>&1 || tap_status=$?
	if [ "$tap_status" -eq 0 ]; then
		tap_pass "$tap_name"
	else
		tap_fail "$tap_name"
		tap_diag "status $tap_status of: $*"
		tap_diag <"$tap_tmp/.output"
	fi
}

tap_is()
{
	if [ "$1" = "$2" ]; then
		tap_pass "$3"
	else
		tap_fail "$3"
		tap_diag "got:  $1"
		tap_diag "want: $2"
	fi
}

tap_shim()
{
	LD_PRELOAD=$PL_SHIM "$@"
}

tap_done()
{
	printf '1..%d\n' "$tap_count"
	exit 0
}
