# SPDX-License-Identifier: MIT
# Makes the chroots of tests/matrix/run and runs tests/matrix/inside in them. Expects its variables
# and to be in a mount namespace of its own.
#
# $cache/NAME/root   the chroot; base and packages next to it say how far it was made
# $cache/NAME/build  the build folder, on /build in there; the sources are on /src, read-only

# What configure, the victims and the tests of tests/preload need.
native_packages='
	binutils check gcc jq libc6-dev libjansson-dev libsmartcols-dev make
	pkg-config procps python3-minimal strace'
# check:arm64 brings the libcheck to link with, and the arm64 libc that qemu runs on. It is for this
# that aarch64 has a chroot: the machine's own dpkg is not given a second architecture.
cross_packages='
	check:arm64 gcc-aarch64-linux-gnu libc6-dev:arm64 libjansson-dev:arm64
	libsmartcols-dev:arm64 make pkg-config qemu-user'

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The first URI of apt's Debian sources that is no security archive, in either format.
find_mirror()
{
	awk 'function stanza() {
			if (uri != "" && suites !~ /security/ && enabled != "no") { print uri; exit }
			uri = suites = enabled = ""
		}
		/^[ \t]*$/           { stanza() }
		/^URIs:/             { uri = $2 }
		/^Suites:/           { suites = $0 }
		/^Enabled:/          { enabled = $2 }
		/^deb[ \t]/          { sub(/\[[^]]*\]/, ""); uri = $2; suites = $3; stanza() }
		END                  { stanza() }' \
		$(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null) |
		grep -m 1 .
}

# quietly LOG CMD...: appends to the log; when CMD fails, shows the errors in it and its end.
quietly()
{
	quiet_log=$1
	shift
	"$@" >>"$quiet_log" 2>&1 && return
	{
		grep -E '( error: |undefined reference|\*\*\* |^E: )' "$quiet_log" | head -n 15
		echo "..."
		tail -n 10 "$quiet_log"
	} | sed 's/^/   | /'
	say "   failed: $1; all of it is in $quiet_log"
	return 1
}

# debian SUITE ROOT LOG ARGS...
debian()
(
	suite=$1 root=$2 log=$3
	shift 3
	rm -rf --one-file-system "$root"
	# dpkg's fsync of every file is for machines that must survive a power cut.
	mkdir -p "$root/etc/dpkg/dpkg.cfg.d" "$cache/debs"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
	debootstrap --variant=minbase --cache-dir="$cache/debs" "$@" "$suite" "$root" "$mirror" \
		>>"$log" 2>&1
)

make_base()
{
	base_log=$logs/matrix-$1-chroot.log
	case $1 in
	aarch64) base_suite=bookworm ;;
	*)       base_suite=$1 ;;
	esac
	say "-- making a chroot of Debian $base_suite"
	: >"$base_log"
	if [ -r "$keyring" ] && debian "$base_suite" "$2" "$base_log" --keyring="$keyring"; then
		return
	fi
	if [ -r "$keyring" ] && ! grep -qiE 'unknown key|signature|gpgv' "$base_log"; then
		quietly "$base_log" false
		return 1
	fi
	say "   note: $keyring does not verify $base_suite; its packages are not authenticated"
	debian "$base_suite" "$2" "$base_log" --no-check-gpg || quietly "$base_log" false
}

# install_packages ROOT LOG PACKAGE...; a subshell, since apt wants /proc.
install_packages()
(
	root=$1 log=$2
	shift 2
	mount -t proc proc "$root/proc" || exit
	trap 'umount "$root/proc"' EXIT
	inside="chroot $root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
		DEBIAN_FRONTEND=noninteractive"
	: >"$log"
	case "$*" in
	*:arm64*) quietly "$log" $inside dpkg --add-architecture arm64 || exit ;;
	esac
	if ! $inside apt-get -q update >>"$log" 2>&1; then
		# sid's list is good for a week only: a mirror that stands still has an older one.
		grep -q 'is expired' "$log" && say "   note: the mirror's list of packages is out of date"
		quietly "$log" $inside apt-get -q -o Acquire::Check-Valid-Until=no update || exit
	fi
	quietly "$log" $inside apt-get -q -y --no-install-recommends install "$@" &&
		$inside apt-get -q clean
)

# A chroot that was not finished, or lacks a package of the list above, is not used as it is.
make_chroot()
{
	chroot_dir=$cache/$1
	case $1 in
	aarch64) packages=$(echo $cross_packages) ;;
	*)       packages=$(echo $native_packages) ;;
	esac
	[ -z "$fresh" ] || rm -rf --one-file-system "$chroot_dir"
	mkdir -p "$chroot_dir/build"
	if [ ! -f "$chroot_dir/base" ]; then
		rm -f "$chroot_dir/packages"
		make_base "$1" "$chroot_dir/root" || return
		date -u +%F >"$chroot_dir/base"
	fi
	if [ "$packages" != "$(cat "$chroot_dir/packages" 2>/dev/null)" ]; then
		say "-- installing packages in it"
		install_packages "$chroot_dir/root" "$logs/matrix-$1-packages.log" $packages || return
		echo "$packages" >"$chroot_dir/packages"
	fi
	say "   chroot of $(cat "$chroot_dir/base") in ${chroot_dir#"$src"/}"
}

# The root is mounted on itself because unshare --mount, which tests use, wants a mount there.
mount_inside()
{
	mkdir -p "$1/root/src" "$1/root/build" "$1/root/dev/shm" &&
		mount --bind "$1/root" "$1/root" &&
		mount --bind "$src" "$1/root/src" &&
		mount -o remount,bind,ro "$1/root/src" &&
		mount --bind "$1/build" "$1/root/build" &&
		mount --rbind /sys "$1/root/sys" &&
		mount -o remount,bind,ro "$1/root/sys" &&
		mount -t tmpfs -o mode=1777 tmpfs "$1/root/dev/shm"
}

unmount_inside() { umount --recursive "$1/root" 2>/dev/null || :; }

# The processes have a PID namespace of their own: what a test leaves behind ends with it.
run_inside()
{
	inside_dir=$cache/$1
	inside_log=$logs/matrix-$1.log
	inside_status=0
	case $1 in
	aarch64) inside_how=cross ;;
	*)       inside_how=native ;;
	esac
	: >"$inside_log"
	rm -f "$inside_dir"/build/matrix.*
	cp "$shim" "$inside_dir/build/libpagelift.so"
	say "-- building and testing"
	mount_inside "$inside_dir" || { unmount_inside "$inside_dir"; return 1; }
	quietly "$inside_log" unshare --pid --fork --kill-child --mount-proc="$inside_dir/root/proc" \
		chroot "$inside_dir/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 /src/tests/matrix/inside "$inside_how" || inside_status=$?
	unmount_inside "$inside_dir"
	return "$inside_status"
}
