# SPDX-License-Identifier: MIT
# Perl with a big hash: everything on the break. Argument: entries.
use strict;
use warnings;

my ($count) = @ARGV;
my %table;
my $word = 88172645;
for my $i (1 .. $count) {
	$word = ($word * 1103515245 + 12345) & 0x7fffffff;
	$table{"k$i"} = $word;
}
my ($sum, $deleted) = (0, 0);
for my $i (1 .. $count) {
	$sum = ($sum * 31 + $table{"k$i"}) % 2147483647;
	if ($i % 3 == 0) {
		delete $table{"k$i"};
		$deleted++;
	}
}
$table{"again$_"} = "x" x ($_ % 64) for 1 .. $count / 16;
my $length = 0;
$length += length $table{"again$_"} for 1 .. $count / 16;
print scalar(keys %table), " $sum $deleted $length\n";
my $text = join ",", map { $table{"k$_"} // "" } 1 .. $count / 4;
print length($text), " ", unpack("%32C*", $text), "\n";
