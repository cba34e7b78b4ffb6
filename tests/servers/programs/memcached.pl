# SPDX-License-Identifier: MIT
# A raw client for memcached: stores, reads back, deletes and prints a checksum of every answer.
# Arguments: port, number of keys, bytes of a value, and what to do: all (the default), store (but
# do not delete), or read (what was stored by another run).
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $count, $size, $phase) = (@ARGV, "all");
my $server = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 10)
    or die "connect: $@\n";
my ($sum, $found, $bytes) = (0, 0, 0);

sub value {
	my ($i) = @_;
	return substr(("$i-" . $i * 2654435761 % 1000003) x 40, 0, $size);
}

sub get_values {
	print $server "get " . join(" ", map { "key$_" } @_) . "\r\n";
	while (my $line = <$server>) {
		last if $line eq "END\r\n";
		my ($key, $length) = $line =~ /^VALUE (\S+) 0 (\d+)\r\n$/ or die "answer: $line";
		read($server, my $data, $length + 2) == $length + 2 or die "short read\n";
		$found++;
		$bytes += $length;
		$sum = ($sum * 31 + unpack("%32C*", $key . $data)) % 2147483647;
	}
}

if ($phase ne "read") {
	for my $i (1 .. $count) {
		my $data = value($i);
		print $server "set key$i 0 0 " . length($data) . " noreply\r\n$data\r\n";
	}
	print $server "set big 0 0 900000\r\n" . "b" x 900000 . "\r\n";
	print "big: " . <$server>;
}
for (my $i = 1; $i < $count; $i += 50) {
	get_values($i .. $i + 49);
}
print "found $found bytes $bytes sum $sum\n";
if ($phase eq "all") {
	print $server "delete key$_ noreply\r\n" for map { $_ * 3 } 1 .. $count / 3;
	get_values(1 .. 30);
	print $server "incr none 1\r\n";
	print "found $found bytes $bytes sum $sum, " . <$server>;
}
print $server "stats\r\n";
while (my $line = <$server>) {
	last if $line eq "END\r\n";
	print $line if $line =~ /^STAT (curr_items|evictions|cmd_get|get_hits|bytes) /;
}
