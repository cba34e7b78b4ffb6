# SPDX-License-Identifier: MIT
# A raw HTTP/1.1 client for a server on a unix socket. Each line of standard input is "COUNT PATH";
# a # in the path becomes the number of the request. Prints per line how many answers had which
# status and X-Cache, and a checksum of all bodies. Connections are kept for 100 requests.
# Argument: the socket.
use strict;
use warnings;
use IO::Socket::UNIX;

my ($path_of_socket) = @ARGV;
my ($server, $left) = (undef, 0);

sub answer_to {
	my ($path) = @_;
	if ($left-- <= 0) {
		close $server if $server;
		$server = IO::Socket::UNIX->new(Peer => $path_of_socket) or die "connect: $!\n";
		$left = 99;
	}
	print $server "GET $path HTTP/1.1\r\nHost: test\r\n\r\n";
	my $first = <$server> // die "closed before the answer to $path\n";
	my ($status) = $first =~ m{^HTTP/1.1 (\d+)} or die "answer: $first";
	my %header;
	while (my $line = <$server>) {
		last if $line eq "\r\n";
		$header{lc $1} = $2 if $line =~ /^([^:]+): (.*)\r\n$/;
	}
	my $length = $header{"content-length"} // die "no length: $path\n";
	my $body = "";
	read($server, $body, $length) == $length or die "short body: $path\n";
	$left = 0 if ($header{connection} // "") eq "close";
	return ($status, $header{"x-cache"} // "-", $body);
}

while (my $line = <STDIN>) {
	my ($count, $pattern) = $line =~ /^(\d+) (\S+)$/ or die "line: $line";
	my ($sum, $bytes, %tally) = (0, 0);
	for my $i (1 .. $count) {
		(my $path = $pattern) =~ s/#/$i/;
		my ($status, $cache, $body) = answer_to($path);
		$tally{"$status/$cache"}++;
		$bytes += length $body;
		$sum = ($sum * 31 + unpack("%32C*", $body)) % 2147483647;
	}
	my $tallies = join(" ", map { "$_ x $tally{$_}" } sort keys %tally);
	print "$pattern: $tallies, bytes $bytes sum $sum\n";
}
