# SPDX-License-Identifier: MIT
# What tests/matrix/run prints, from the files that tests/matrix/inside leaves.

# fact NAME KEY: its value, or "-".
fact_of()
{
	awk -v key="$2" '$1 == key { $1 = ""; sub(/^ /, ""); value = $0 }
		END { print value == "" ? "-" : value }' "$cache/$1/build/matrix.facts"
}

# results NAME PATTERN: the lines of results of this kind.
results()
{
	grep -E "^($2): " "$cache/$1/build/matrix.results" || :
}

count_lines() { grep -c . || :; }

show_machine()
{
	thp=$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null) || :
	needs=$(readelf -W --dyn-syms "$shim" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
	say "kernel      $(uname -r), transparent huge pages ${thp:-not there}"
	say "mirror      $mirror"
	say "shim        ${shim#"$src"/}, needs ${needs:-?}, sha256 $(sha256sum "$shim" | cut -c 1-16)"
}

# Splits the failures of $1 into $work.bad and, for aarch64, $work.known: those that qemu-user cannot
# do, which are named with the reason in qemu-known.
split_failures()
{
	work=$cache/$1/build/matrix
	results "$1" 'FAIL|XPASS|ERROR' >"$work.bad"
	: >"$work.known"
	[ "$1" = aarch64 ] || return 0
	mv "$work.bad" "$work.all"
	while read -r line; do
		if reason=$(known_under_qemu "$line"); then
			printf '%s (qemu-user: %s)\n' "$line" "$reason" >>"$work.known"
		else
			printf '%s\n' "$line" >>"$work.bad"
		fi
	done <"$work.all"
	: >>"$work.bad"
}

# Prints the reason. Lines of qemu-known are "EXTENDED-REGULAR-EXPRESSION  # REASON".
known_under_qemu()
{
	grep -vE '^(#|$)' "$here/qemu-known" | while read -r entry; do
		pattern=$(printf '%s\n' "$entry" | sed 's/  *# .*//')
		if printf "%s\n" "${1#*: }" | grep -qE -e "$pattern"; then
			printf '%s\n' "$entry" | sed 's/.*  *# //'
			break
		fi
	done | grep .
}

show_coverage()
{
	say "   on large pages, of the anonymous memory of tests/preload/coverage:"
	for variant in $variants; do
		note=
		case $variant-$(fact_of "$1" "$variant") in
		hugetlb=2-n/a)
			[ "$(fact_of "$1" pool)" = - ] || note='(the pool is empty)' ;;
		hugetlb=2-*)
			note="(pool: $(fact_of "$1" pool) pages)" ;;
		esac
		printf '     %-18s %7s %s\n' "$variant" "$(fact_of "$1" "$variant")" "$note"
	done
}

# Fails when a test did, when none passed, or when libc's entries were not redirected.
show_one()
{
	split_failures "$1"
	passed=$(results "$1" 'PASS|XFAIL' | count_lines)
	skipped=$(results "$1" SKIP | count_lines)
	bad=$(count_lines <"$work.bad")
	known=$(count_lines <"$work.known")
	good=yes
	printf '%s passed, %s failed, %s skipped\n' "$passed" "$bad" "$skipped" >"$work.sum"
	say "   glibc $(fact_of "$1" glibc), gcc $(fact_of "$1" gcc)$(
		[ "$1" != aarch64 ] || echo ", qemu $(fact_of "$1" qemu)")"
	[ "$known" -eq 0 ] || echo "$(cat "$work.sum"), $known cannot hold under qemu" >"$work.sum"
	say "   tests: $(cat "$work.sum")"
	results "$1" SKIP | sed 's/^SKIP: /     skipped: /'
	sed 's/^[A-Z]*: /     known:   /; s/: Assertion .* (qemu-user/ (qemu-user/' "$work.known"
	sed 's/^[A-Z]*: /     failed:  /' "$work.bad" | cut -c 1-200
	[ "$bad" -eq 0 ] && [ "$passed" -gt 0 ] || good=no
	say "   redirect: $(fact_of "$1" redirect)"
	[ "$(fact_of "$1" redirect)" = ok ] || good=no
	[ "$1" = aarch64 ] || show_coverage "$1"
	[ "$bad" -eq 0 ] || say "   their logs are at the end of ${logs#"$src"/}/matrix-$1.log"
	[ "$good" = yes ]
}

# One table: a row for each figure, a column for each suite.
show_all()
{
	shown=
	for name; do
		[ "$name" = aarch64 ] || [ ! -s "$cache/$name/build/matrix.sum" ] || shown="$shown $name"
	done
	[ -n "$shown" ] || return 0
	say ""
	say "== all"
	row='' && for name in $shown; do row="$row $name"; done
	show_row '' $row
	for key in glibc redirect $variants; do
		row=
		for name in $shown; do
			row="$row $(fact_of "$name" "$key")"
		done
		show_row "$key" $row
	done
	for name; do
		[ ! -s "$cache/$name/build/matrix.sum" ] ||
			printf '%-18s %s\n' "$name" "$(cat "$cache/$name/build/matrix.sum")"
	done
}

show_row()
{
	printf '%-18s' "$1"
	shift
	printf ' %14s' "$@"
	printf '\n'
}
