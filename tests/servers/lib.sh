# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What every test of a real program shares: a temporary folder, programs run in two arms (plain, and
# under the shim named by PL_SHIM), servers started and stopped by process id, and getters for the
# JSON report. Nothing here changes the system or touches a packaged instance.
#
# A test defines a scenario once, prefixes each program of interest with `pl`, and runs it with
# ARM=plain and ARM=shim; `both_arms` does that and compares. Globals a test may read: T (the
# temporary folder), ARM, STATUS (of the last server stopped), SERVER_PID (of the last one started).
# PL_BACKEND=base runs the folder with a shim that moves nothing: outputs must not change either.
# PL_KEEP=1 leaves the temporary folder with all outputs and reports, for a look after a failure.

set -u
LIB_DIR=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$LIB_DIR/../tap.sh"

export LC_ALL=C TZ=UTC
PL_SHIM=${PL_SHIM:-}
PL_PRELOAD=${PL_PRELOAD:-$PL_SHIM}
PL_BACKEND=${PL_BACKEND:-auto}
PL_LIMIT=${PL_LIMIT:-120} # seconds after which a foreground program counts as hung
ARM=plain
STATUS=0
SERVER_PID=
RUN_AS=
lib_pids=
T=$tap_tmp
chmod 755 "$T"

lib_cleanup()
{
	for lib_pid in $lib_pids; do
		stop_pid "$lib_pid" TERM 10 >/dev/null 2>&1
	done
	if [ -n "${PL_KEEP-}" ]; then
		tap_diag "kept: $T"
	else
		cd / && rm -rf "$T"
	fi
}
trap lib_cleanup EXIT

# Users other than root may not reach the build tree: the shim runs from a copy they can read.
if [ -n "$PL_SHIM" ]; then
	cp -L "$PL_SHIM" "$T/libpagelift.so" && chmod 755 "$T/libpagelift.so" || exit 99
	PL_PRELOAD=${PL_PRELOAD%"$PL_SHIM"}$T/libpagelift.so
fi

have_shim()
{
	[ -n "$PL_SHIM" ]
}

have()
{
	command -v "$1" >/dev/null 2>&1
}

# --- arms -------------------------------------------------------------------------------------

# Folder of the reports of a scenario; every process of the shimmed arm adds PID.json. Anybody may
# write there, since a server may give up root after its start.
reports_new()
{
	REPORTS=$T/reports.$1
	mkdir -p "$REPORTS" && chmod 1777 "$REPORTS"
}

# The environment words of an arm, for `env`.
arm_env()
{
	[ "$ARM" = shim ] || return 0
	echo "LD_PRELOAD=$PL_PRELOAD" "PAGELIFT_BACKEND=$PL_BACKEND" \
		"PAGELIFT_REPORT=$REPORTS/%p.json" PAGELIFT_REPORT_FORMAT=json
}

# Run a program in the current arm, by way of RUN_AS when that is set. Status 124 or 137: it hung.
pl()
{
	# shellcheck disable=SC2046,SC2086
	timeout -k 5 "$PL_LIMIT" $RUN_AS env $(arm_env) "$@"
}

# The words that run a program as another user (name or number); none where we are not root.
as_user()
{
	[ "$(id -u)" = 0 ] || return 0
	echo "setpriv --reuid=$1 --regid=$(id -g "$1" 2>/dev/null || echo "$1") --clear-groups"
}

# both_arms NAME FUNCTION: run the function in each arm, in a folder of its own, and compare
# standard output, standard error and status.
both_arms()
{
	ba_name=$1
	ba_do=$2
	for ARM in plain shim; do
		if [ $ARM = shim ] && ! have_shim; then
			ARM=plain
			tap_skip "$ba_name: shimmed" "PL_SHIM is not set"
			return 0
		fi
		ba_at=$T/$ba_name.$ARM
		mkdir -p "$ba_at" && chmod 1777 "$ba_at"
		reports_new "$ba_name"
		ba_status=0
		(cd "$ba_at" && "$ba_do") >"$ba_at.out" 2>"$ba_at.err" || ba_status=$?
		tap_is $ba_status 0 "$ba_name: $ARM succeeds"
		[ $ba_status -eq 0 ] || show "$ba_at.err"
		rm -rf "$ba_at"
	done
	ARM=plain
	same_file "$ba_name: same output" "$T/$ba_name.plain.out" "$T/$ba_name.shim.out"
	same_file "$ba_name: same messages" "$T/$ba_name.plain.err" "$T/$ba_name.shim.err"
	reports_ok "$ba_name"
}

# --- TAP helpers ------------------------------------------------------------------------------

show()
{
	tail -n 20 "$1" | tap_diag
}

same_file()
{
	if cmp -s "$2" "$3"; then
		tap_pass "$1"
	else
		tap_fail "$1" "$(diff -a "$2" "$3" 2>&1 | cut -c 1-160 | head -n 10)"
	fi
}

need()
{
	for need_program; do
		have "$need_program" || tap_skip_all "$need_program is not installed"
	done
}

# need_room MB_OF_MEMORY MB_OF_DISK
need_room()
{
	[ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge "$1" ] ||
		tap_skip_all "less than $1 MB of memory available"
	[ "$(df -Pk "$T" | awk 'NR == 2 { print int($4 / 1024) }')" -ge "$2" ] ||
		tap_skip_all "less than $2 MB of disk free"
}

# --- reports ----------------------------------------------------------------------------------

# Every process that ended by exit() left one well-formed report, and at least one did.
reports_ok()
{
	ro_bad=
	ro_count=0
	for ro_file in "$REPORTS"/*.json; do
		[ -f "$ro_file" ] || continue
		ro_count=$((ro_count + 1))
		jq -es --arg b "$PL_BACKEND" 'length == 1 and .[0].backend == $b and
			(.[0].pid | type) == "number" and (.[0].segments | type) == "array" and
			.[0].redirect.condition == "ok"' "$ro_file" >/dev/null 2>&1 ||
			ro_bad="$ro_bad $(head -c 300 "$ro_file")"
	done
	[ $ro_count -gt 0 ] || ro_bad="there is none"
	if [ -z "$ro_bad" ]; then
		tap_pass "$1: well-formed reports"
	else
		tap_fail "$1: well-formed reports" "$ro_bad"
	fi
}

# sum_of resident|large EXE_REGEX: bytes over the whole 2M blocks of all segments placed, measured
# at exit or at their unmapping, in the processes whose executable matches.
sum_of()
{
	jq -rs --arg f "$1" --arg exe "$2" '[.[] | select(.exe | test($exe)) | .kinds[][$f]] |
		add // 0' "$REPORTS"/*.json
}

report_table()
{
	jq -r --arg exe "$1" 'select(.exe | test($exe)) | .pid as $p | .kinds[] |
		select(.resident > 0) | "\($p) \(.kind): live \(.live) closed \(.closed) " +
		"resident \(.resident / 1048576 | floor) MB large \(.large / 1048576 | floor) MB"' \
		"$REPORTS"/*.json | tap_diag
}

thp_mode()
{
	sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null
}

# Succeeds where large pages can be expected; skips the coverage test NAME otherwise.
expect_large()
{
	if [ "$PL_BACKEND" = base ]; then
		tap_skip "$1: coverage" "the base backend moves nothing"
		return 1
	fi
	case $(thp_mode) in
	always | madvise) ;;
	*)
		tap_skip "$1: coverage" "transparent huge pages are off"
		return 1
		;;
	esac
}

# covered NAME EXE_REGEX PERCENT MB: by the reports, at least MB were placed and PERCENT of them is
# on large pages.
covered()
{
	expect_large "$1" || return 0
	cv_resident=$(sum_of resident "$2")
	cv_large=$(sum_of large "$2")
	tap_ok "$1: at least $4 MB are placed" [ "${cv_resident:-0}" -ge $(($4 << 20)) ]
	tap_ok "$1: at least $3% of what is placed is on large pages" \
		[ $((${cv_large:-0} * 100)) -ge $((${cv_resident:-1} * $3)) ]
	report_table "$2"
}

# covered_live NAME PID PERCENT MB: the same by the kernel's own smaps, while the process runs, over
# all maps of 32 MB or more.
covered_live()
{
	[ "$ARM" = shim ] && expect_large "$1, live" || return 0
	awk '/^[0-9a-f]+-[0-9a-f]+ / { next }
		/^Size:/ { big = $2 >= 32768 }
		big && /^Anonymous:/ { all += $2 }
		big && /^AnonHugePages:/ { large += $2 }
		END { print all + 0, large + 0 }' "/proc/$2/smaps" >"$T/live"
	read -r cl_all cl_large <"$T/live"
	tap_diag "smaps: $cl_all kB in large maps, $cl_large kB on large pages"
	tap_ok "$1, live: at least $4 MB in large maps" [ "$cl_all" -ge $(($4 << 10)) ]
	tap_ok "$1, live: at least $3% of that is on large pages" \
		[ $((cl_large * 100)) -ge $((cl_all * $3)) ]
}

# --- shared memory ----------------------------------------------------------------------------

# What outlives a process: SysV segments, files in /dev/shm, pages taken from the hugetlb pools.
shared_state()
{
	awk 'NR > 1 { print "SysV segment " $2 }' /proc/sysvipc/shm
	find /dev/shm -mindepth 1
	for ss_pool in /sys/kernel/mm/hugepages/*; do
		[ ! -r "$ss_pool/nr_hugepages" ] || echo "pages in use of ${ss_pool##*/}:" \
			$(($(cat "$ss_pool/nr_hugepages") - $(cat "$ss_pool/free_hugepages")))
	done
}

shared_before()
{
	shared_state | sort >"$T/shared.before"
}

# shared_left NAME: nothing is there that was not when shared_before was called. Other programs of
# the machine come and go, so it may take a while.
shared_left()
{
	for sl_try in 1 2 3 4 5 6 7 8 9 10; do
		sl_new=$(shared_state | sort | comm -13 "$T/shared.before" -)
		[ -n "$sl_new" ] || break
		[ "$sl_try" = 10 ] || sleep 1
	done
	tap_is "$sl_new" "" "$1: no segment, file or page is left behind"
}

# segments_of FILE KIND: "BYTES REASON RESIDENT LARGE" of each live segment, from one report.
segments_of()
{
	jq -r --arg kind "$2" '.segments[] | select(.kind == $kind) |
		"\(.length) \(.reason) \(.resident) \(.large)"' "$1"
}

shmem_mode()
{
	sed -n 's/.*\[\(.*\)\].*/\1/p' \
		/sys/kernel/mm/transparent_hugepage/shmem_enabled 2>/dev/null
}

# --- servers ----------------------------------------------------------------------------------

free_port()
{
	perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1,
		LocalAddr => "127.0.0.1", LocalPort => 0)->sockport'
}

# A child of ours that ended stays a zombie until we wait for it, so kill -0 does not tell.
alive()
{
	al_state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)
	[ -n "$al_state" ] && [ "$al_state" != Z ]
}

# start LOG PROGRAM...: in the current arm, by way of RUN_AS when that is set; sets SERVER_PID.
start()
{
	st_log=$1
	shift
	# shellcheck disable=SC2046,SC2086
	(exec $RUN_AS env $(arm_env) "$@") </dev/null >"$st_log" 2>&1 &
	SERVER_PID=$!
	lib_pids="$lib_pids $SERVER_PID"
}

# wait_ready SECONDS COMMAND...: until it succeeds; fails at once when the server has died.
wait_ready()
{
	wr_left=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		wr_left=$((wr_left - 1))
		[ $wr_left -gt 0 ] && alive "$SERVER_PID" || return 1
		sleep 0.1
	done
}

# wait_gone PID SECONDS: sets STATUS to its exit status, or to 999 where it had to be killed.
wait_gone()
{
	wg_left=$(($2 * 10))
	while alive "$1" && [ $wg_left -gt 0 ]; do
		wg_left=$((wg_left - 1))
		sleep 0.1
	done
	STATUS=0
	if alive "$1"; then
		kill -KILL "$1"
		wait "$1" 2>/dev/null || :
		STATUS=999
	else
		wait "$1" 2>/dev/null || STATUS=$?
	fi
	wg_rest=
	for wg_pid in $lib_pids; do
		[ "$wg_pid" = "$1" ] || wg_rest="$wg_rest $wg_pid"
	done
	lib_pids=$wg_rest
}

# stop_pid PID SIGNAL SECONDS
stop_pid()
{
	kill -"$2" "$1" 2>/dev/null
	wait_gone "$1" "$3"
}

# --- normalisers ------------------------------------------------------------------------------

# Times, process and thread ids, addresses, log positions, sizes, and the names of our folders.
normalise()
{
	sed -E -e "s#${T}[^ '\"]*#DIR#g" -e 's/0x[0-9a-fA-F]+/ADDR/g' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]+[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?/TIME/g' \
		-e 's/[0-9]+([.,][0-9]+)?/N/g'
}

# nothing_new NAME PLAIN_LOG SHIM_LOG: every kind of line of the second occurs in the first.
nothing_new()
{
	normalise <"$2" | sort -u >"$T/log.plain"
	normalise <"$3" | sort -u >"$T/log.shim"
	nn_new=$(comm -13 "$T/log.plain" "$T/log.shim" | head -n 20)
	tap_is "$nn_new" "" "$1"
}
