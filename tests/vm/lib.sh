# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What the cases share; for busybox's sh inside of the emulated machine.
#
#   run NAME STEP...     tests/vm/giant under the shim, with the settings in $with, in $group;
#                        checks that nothing went wrong and that the pools are as they were
#   sizes WANT           what smaps showed: "KIB=BYTES ..." by size of page, in falling order
#   reason WANT          the reasons in the report: "NAME=COUNT ..."
#   report_is_true       each page on a pool by smaps is one by the report, and the other way round

count=0
with=
group=
name=
pools=/sys/kernel/mm/hugepages

result()
{
	count=$((count + 1))
	if [ "$1" = yes ]; then
		echo "ok $count - $name: $2"
	else
		echo "not ok $count - $name: $2"
		[ -z "${3-}" ] || echo "#   $3"
	fi
}

is()
{
	if [ "$1" = "$2" ]; then
		result yes "$3"
	else
		result no "$3" "got '$1', want '$2'"
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

pool_state()
{
	for file in nr_hugepages free_hugepages resv_hugepages surplus_hugepages; do
		cat "$pools/hugepages-1048576kB/$file" "$pools/hugepages-2048kB/$file"
	done | tr '\n' ' '
}

# set_pool KIB PAGES
set_pool()
{
	echo "$2" >"$pools/hugepages-$1kB/nr_hugepages"
	set_now=$(cat "$pools/hugepages-$1kB/nr_hugepages")
	[ "$set_now" -eq "$2" ] || echo "# the pool of ${1}K pages has $set_now pages, not $2"
}

# shimmed OUT STEP...
shimmed()
{
	shimmed_out=$1
	shift
	run_shimmed "$shimmed_out" /vm/giant "$@"
}

# run_shimmed OUT CMD...: in the group, if there is one.
run_shimmed()
{
	out=$1
	shift
	rm -f "$out.report"
	# shellcheck disable=SC2086 # settings are words
	group=$group sh -c '[ -z "$group" ] || echo 0 >"$group/cgroup.procs"; exec "$@"' sh \
		env LD_PRELOAD=/vm/libpagelift.so PAGELIFT_REPORT="$out.report" \
		PAGELIFT_REPORT_FORMAT=json $with "$@" >"$out" 2>&1
}

run()
{
	name=$1
	shift
	before=$(pool_state)
	started=$(date +%s)
	status=0
	shimmed /tmp/run "$@" || status=$?
	echo "# $name: $(($(date +%s) - started)) s"
	finished /tmp/run "$status"
	is "$(pool_state)" "$before" "the pools are complete again"
}

# finished OUT STATUS
finished()
{
	if [ "$2" -eq 0 ] && grep -q '^done$' "$1" && ! grep -q '^wrong' "$1"; then
		result yes "no signal, contents right"
	else
		result no "no signal, contents right" "status $2"
		grep -v '^ok' "$1" | head -n 20 | sed 's/^/#   /'
	fi
}

smaps_sizes() { sed -n 's/^# page \([0-9]*\) \([0-9]*\)$/\1=\2/p' "$1" | sort -rn | tr '\n' ' '; }

sizes() { is "$(smaps_sizes /tmp/run)" "$1 " "pages by smaps"; }

reason()
{
	is "$(sed -n 's/.*"reasons":{\([^}]*\)}.*/\1/p' /tmp/run.report | tr -d '"' | tr : =)" \
		"$1" "reason in the report"
}

# rows FILE AWK-ACTION: the segments of shared memory, their fields in an array f.
rows()
{
	tr '{}' '\n\n' <"$1" | grep -E '^"kind":"(shared|shm)","start"' | tr -d '"' |
		awk -F , "{ split(\"\", f)
			for (i = 1; i <= NF; i++) { split(\$i, pair, \":\"); f[pair[1]] = pair[2] }
			$2 } END { $3 }"
}

report_is_true()
{
	# shellcheck disable=SC2016 # awk's
	is "$(rows /tmp/run.report 'if (f["pool_page"]) sum[f["pool_page"] / 1024] += f["length"]' \
		'for (kib in sum) printf "%d=%.0f\n", kib, sum[kib]' | sort -rn | tr '\n' ' ')" \
		"$(smaps_sizes /tmp/run | tr ' ' '\n' | grep -v '^4=' | grep . | tr '\n' ' ')" \
		"pages by the report as by smaps"
	# shellcheck disable=SC2016 # awk's
	is "$(rows /tmp/run.report 'if (f["pool_page"] && (f["measured"] != "true" ||
		f["resident"] != f["length"] || f["large"] != f["length"])) print $0')" "" \
		"the report's measurement is that all of it is there and large"
}
