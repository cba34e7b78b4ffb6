# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What the tests of this folder share. A victim is a small C program that checks itself and prints the
# same lines wherever it runs right, except figures ("# NAME VALUE"). Each is run in several arms: plain,
# and under the shim with each backend; lines, standard error and status must not differ.
#
#   same NAME CMD...       runs CMD in all arms; one test per backend
#   in_arm ARM CMD...      one run: $T/ARM.out, $T/ARM.err, $arm_status, reports in $T/ARM.d/PID
#   figure ARM NAME        a figure that the last run in the arm printed
#   report ARM FILTER      what jq finds in the arm's report (of the process that wrote last)
# Set before a run: VIA, words in front of the victim (a launcher); ALSO, libraries preloaded behind the
# shim; ARMS, the backends, if not all.

set -u
# shellcheck source=tests/tap.sh
. "$PL_SRC/tests/tap.sh"

# In a build with sanitizers the victims have none (ASan brings its own malloc, and libc's is what they
# are about); the shim traps on undefined behaviour.
[ -r "$PL_SHIM" ] || { echo "Bail out! no shim at $PL_SHIM"; exit 99; }

export LC_ALL=C
T=$tap_tmp
# shellcheck disable=SC2034 # for the tests
V=${PL_VICTIMS:-$PL_BUILD/tests/preload}
VIA=
ALSO=
ARMS="auto thp base"
PL_LIMIT=${PL_LIMIT:-180} # seconds after which a run counts as hung

in_arm()
{
	arm=$1
	shift
	rm -rf "$T/$arm.d"
	mkdir -m 777 "$T/$arm.d"
	arm_status=0
	if [ "$arm" = plain ]; then
		# shellcheck disable=SC2086 # words
		timeout -k 5 "$PL_LIMIT" $VIA env ${ALSO:+LD_PRELOAD="$ALSO"} "$@" >"$T/plain.out" \
			2>"$T/plain.err" || arm_status=$?
		return 0
	fi
	# shellcheck disable=SC2086
	timeout -k 5 "$PL_LIMIT" $VIA env LD_PRELOAD="$PL_SHIM${ALSO:+:$ALSO}" PAGELIFT_BACKEND="$arm" \
		PAGELIFT_REPORT="$T/$arm.d/%p" PAGELIFT_REPORT_FORMAT=json "$@" >"$T/$arm.out" \
		2>"$T/$arm.err" || arm_status=$?
}

# The run as text that can be compared.
transcript()
{
	grep -v '^#' "$T/$1.out"
	echo "stderr:"
	cat "$T/$1.err"
	echo "status: $arm_status"
}

same()
{
	same_name=$1
	shift
	in_arm plain "$@"
	transcript plain >"$T/plain.txt"
	if [ "$arm_status" -ne 0 ]; then
		tap_fail "$same_name: plain" "$(tail -n 20 "$T/plain.txt")"
		return 0
	fi
	for same_arm in $ARMS; do
		in_arm "$same_arm" "$@"
		transcript "$same_arm" >"$T/shim.txt"
		if cmp -s "$T/plain.txt" "$T/shim.txt"; then
			tap_pass "$same_name: $same_arm"
		else
			tap_fail "$same_name: $same_arm"
			diff "$T/plain.txt" "$T/shim.txt" | head -n 20 | tap_diag
		fi
	done
}

figure()
{
	sed -n "s/^# $2 //p" "$T/$1.out" | head -n 1
}

report()
{
	# shellcheck disable=SC2012 # names are numbers
	report_file=$(ls -t "$T/$1.d" | head -n 1)
	[ -n "$report_file" ] || { echo none; return 0; }
	jq -r "$2" "$T/$1.d/$report_file" 2>&1
}

numbers()
{
	case $2/$3 in
	/* | */ | *[!-0-9/]*)
		tap_fail "$1" "$2 and $3 are not two numbers"
		return 1
		;;
	esac
}

# at_least NAME GOT WANT, at_most NAME GOT WANT [SLACK]: comparisons of whole numbers, which are shown.
at_least()
{
	numbers "$@" || return 0
	if [ "$2" -ge "$3" ]; then
		tap_pass "$1 ($2, $3)"
	else
		tap_fail "$1" "$2 is less than $3"
	fi
}

at_most()
{
	numbers "$@" || return 0
	if [ "$2" -le $(($3 + ${4:-0})) ]; then
		tap_pass "$1 ($2, $3)"
	else
		tap_fail "$1" "$2 is more than $3 + ${4:-0}"
	fi
}

# Whether the kernel gives large pages where they are advised.
thp_mode()
{
	thp_word=$(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)
	echo "${thp_word:-unknown}"
}

thp_possible()
{
	case $(thp_mode) in
	always | madvise) return 0 ;;
	esac
	return 1
}

can_unshare()
{
	unshare -m true 2>/dev/null
}

# hide FILE...: $T/hide, a launcher with an empty folder mounted over each, seen by its program only.
hide()
{
	{
		echo '#!/bin/sh'
		for hide_folder in "$@"; do
			echo "mount -n -t tmpfs none $hide_folder || exit 98"
		done
		echo 'exec "$@"'
	} >"$T/hide"
	chmod 755 "$T/hide"
	VIA="unshare -m $T/hide"
}

# claim FILE TEXT: the same, with a file of this text in the place of FILE.
claim()
{
	echo "$2" >"$T/claimed"
	printf '#!/bin/sh\nmount -n --bind %s %s || exit 98\nexec "$@"\n' "$T/claimed" "$1" >"$T/claim"
	chmod 755 "$T/claim"
	VIA="unshare -m $T/claim"
}
