# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# 1G pages: the cases, in the emulated machine. Two 1G pages and 300 2M pages are in the pools. With
# arguments, only the groups of cases named.
# shellcheck source=tests/vm/lib.sh
. /vm/lib.sh

giant=2684355796 # 2.5G and a bit that is no multiple of a page
gib=1073741824
gib2=2147483648
rest2=536870912  # what is left of it, in 2M pages
plain=2684358656 # all of it in 4K pages
groups=/sys/fs/cgroup

cases_full()
{
	run "2.5G of shared memory" map $giant check write fork sizes
	sizes "1048576=$gib2 2048=$rest2 4=4096"
	reason "pool=1"
	report_is_true
	run "2.5G, unmapped and mapped again" \
		map $giant write unmap map $giant check write fork sizes
	sizes "1048576=$gib2 2048=$rest2 4=4096"
	report_is_true
	with=PAGELIFT_PAGE_SIZE=1G
	run "2.5G, 1G pages alone" map $giant check write fork sizes
	sizes "1048576=$gib2 4=$((plain - gib2))"
	reason "pool=1"
	report_is_true
	with=PAGELIFT_PAGE_SIZE=2M
	run "2.5G, 2M pages alone" map $giant write fork sizes
	sizes "2048=629145600 4=$((plain - 629145600))"
	reason "pool-short=1"
	report_is_true
	with=PAGELIFT_KEEP_FREE=1
	run "2.5G, one page of each pool kept free" map $giant write sizes
	sizes "1048576=$gib 2048=627048448 4=$((plain - gib - 627048448))"
	report_is_true
	with=PAGELIFT_MAX_BYTES=1G
	run "2.5G, a quota of 1G" map $giant write sizes
	sizes "1048576=$gib 4=$((plain - gib))"
	reason "pool-quota=1"
	report_is_true
	with=
}

cases_sysv()
{
	for with in PAGELIFT_PAGE_SIZE=1G PAGELIFT_PAGE_SIZE=auto; do
		run "a SysV segment of 1G, $with" shm $gib check write fork sizes
		sizes "1048576=$gib"
		reason "pool=1"
		report_is_true
		run "a SysV segment of 2.5G, $with" shm $giant check write fork sizes
		sizes "4=$plain"
		reason "pool-empty=1" # three 1G pages, or 1281 2M pages
		report_is_true
	done
	with=
	run "SysV segments of 1G and 500M" shm $gib shm 524288016 check write fork sizes
	sizes "1048576=$gib 2048=526385152"
	reason "pool=2"
	report_is_true
}

cases_taken()
{
	rm -f /tmp/go
	/vm/giant take 30 2 take 21 300 \
		sh 'touch /tmp/held; while [ ! -e /tmp/go ]; do sleep 1; done' >/tmp/holder 2>&1 &
	holder=$!
	while [ ! -e /tmp/held ]; do sleep 1; done
	run "pools taken by another process" map $giant check write fork sizes
	sizes "4=$plain"
	run "the same, SysV" shm $gib check write sizes
	sizes "4=$gib"
	touch /tmp/go
	wait "$holder"
	name="the other process"
	finished /tmp/holder $?
}

# Pages that are reserved or in use stay until they are given back: the pools are set again then.
cases_shrunk()
{
	shrink="for pool in $pools/*; do echo 0 >\$pool/nr_hugepages; done"
	for first in map shm; do
		before=$(pool_state)
		name="pools shrunk between two $first"
		status=0
		shimmed /tmp/run $first $gib sh "$shrink" check map $giant check write fork sizes ||
			status=$?
		finished /tmp/run "$status"
		sizes "1048576=$gib 4=$plain"
		report_is_true
		set_pool 1048576 2
		set_pool 2048 300
		is "$(pool_state)" "$before" "the pools are complete again"
	done
	name="pools shrunk after MADV_REMOVE"
	status=0
	shimmed /tmp/run map $giant write remove sh "$shrink" check write sizes || status=$?
	finished /tmp/run "$status"
	set_pool 1048576 2
	set_pool 2048 300
	is "$(pool_state)" "$before" "the pools are complete again"
}

cases_empty()
{
	set_pool 1048576 0
	set_pool 2048 0
	run "empty pools" map $giant check write fork sizes
	sizes "4=$plain"
	run "empty pools, SysV" shm $gib check write fork sizes
	sizes "4=$gib"
	set_pool 1048576 2
	run "empty pool of 2M pages" map $giant check write fork sizes
	sizes "1048576=$gib2 4=$((plain - gib2))"
	report_is_true
	set_pool 2048 300
	set_pool 1048576 0
	run "empty pool of 1G pages" map $giant check write sizes
	sizes "2048=629145600 4=$((plain - 629145600))"
	report_is_true
	set_pool 1048576 2
}

# The victims of the ordinary tests, which often find no pool: the same with and without the shim.
cases_victims()
{
	for victim in shared sysv; do
		name="tests/preload/$victim"
		/vm/$victim >/tmp/plain 2>&1 || echo "status $?" >>/tmp/plain
		run_shimmed /tmp/run /vm/$victim || echo "status $?" >>/tmp/run
		sed -i '/^#/d' /tmp/plain /tmp/run
		is "$(diff /tmp/plain /tmp/run)" "" "as without the shim"
	done
}

# What does not get onto the pools is written sooner on transparent huge pages: an emulated page
# fault takes long.
advise_shmem() { echo advise >/sys/kernel/mm/transparent_hugepage/shmem_enabled; }

# --- cgroups ----------------------------------------------------------------------------------

# limit_to FILE BYTES
limit_to()
{
	echo "$2" >"$group/$1" || echo "# cannot set $1"
}

# limited FILE BYTES WANT: one limit, then none again.
limited()
{
	limit_to "$1" "$2"
	run "$version $1 = $2" map $giant write sizes
	sizes "$3"
	report_is_true
	limit_to "$1" "$unlimited"
}

# Two processes or segments that each fit below a limit of the pages in use, but not together: a
# segment's pages have to be there before its creator goes on.
together()
{
	limit_to "$1" $gib
	run "$version $1: two SysV segments of 1G before either is written" \
		shm $gib shm $gib check write sizes
	sizes "1048576=$gib 4=$gib"
	report_is_true
	run "$version $1: two maps of 1G" map $gib map $gib check write sizes
	sizes "1048576=$gib 2048=629145600 4=$((gib - 629145600))"
	report_is_true
	limit_to "$1" "$unlimited"
}

# What a group leaves is read beforehand: the rest is on smaller pages.
cases_of_group()
{
	for file in "$1" "$2"; do
		limited "$file" $((gib - 4096)) "2048=629145600 4=$((plain - 629145600))"
		limited "$file" $gib "1048576=$gib 2048=629145600 4=$((plain - gib - 629145600))"
		limited "$file" $gib2 "1048576=$gib2 2048=$rest2 4=4096"
		together "$file"
	done
	for file in "$3" "$4"; do
		limited "$file" 0 "1048576=$gib2 4=$((plain - gib2))"
		limited "$file" 2097152 "1048576=$gib2 2048=2097152 4=$((plain - gib2 - 2097152))"
		limited "$file" $rest2 "1048576=$gib2 2048=$rest2 4=4096"
	done
}

# Before version 1, whose hierarchy keeps the controller for longer after its unmount.
cases_v2()
{
	version=v2
	unlimited=max
	name=v2
	mount -t cgroup2 none $groups
	if ! echo +hugetlb >$groups/cgroup.subtree_control; then
		result no "the hugetlb controller"
		umount $groups
		return
	fi
	group=$groups/limited
	mkdir $group
	cases_of_group hugetlb.1GB.max hugetlb.1GB.rsvd.max hugetlb.2MB.max hugetlb.2MB.rsvd.max
	rmdir $group
	group=
	echo -hugetlb >$groups/cgroup.subtree_control
	umount $groups
}

cases_v1()
{
	version=v1
	unlimited=-1
	mount -t tmpfs none $groups
	mkdir $groups/hugetlb
	for try in 1 2 3 4 5 6 7 8 9 10; do
		mount -t cgroup -o hugetlb none $groups/hugetlb 2>/dev/null && break
		[ "$try" -lt 10 ] || { skip "cgroup v1" "this kernel has none"; return; }
		sleep 1
	done
	group=$groups/hugetlb/limited
	mkdir $group
	cases_of_group hugetlb.1GB.limit_in_bytes hugetlb.1GB.rsvd.limit_in_bytes \
		hugetlb.2MB.limit_in_bytes hugetlb.2MB.rsvd.limit_in_bytes
	rmdir $group
	group=
	umount $groups/hugetlb
	umount $groups
}

name=machine
echo "# kernel $(uname -r), pools: $(pool_state)"
is "$(cat $pools/hugepages-1048576kB/nr_hugepages) $(cat $pools/hugepages-2048kB/nr_hugepages)" \
	"2 300" "pools"
[ $# -gt 0 ] || set -- full sysv victims taken shrunk v2 v1 empty
for group_of_cases; do
	case $group_of_cases in
	full | sysv | victims) ;;
	*) advise_shmem ;;
	esac
	"cases_$group_of_cases"
done
echo "1..$count"
