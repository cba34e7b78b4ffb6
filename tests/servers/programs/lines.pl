# SPDX-License-Identifier: MIT
# Input for the other tests, the same every time. Arguments: kind, count.
#   words N   N short lines in no order
#   log N     N lines of a server log: long, and alike enough to compress fast
#   c N       a C file of N functions
#   repo N    a stream for git fast-import: N commits over 400 files
use strict;
use warnings;

my ($kind, $count) = @ARGV;
my $word = 12345;

sub next_word {
	return $word = ($word * 1103515245 + 12345) & 0x7fffffff;
}

sub words {
	print next_word(), "\n" for 1 .. $count;
}

sub log_lines {
	for my $i (1 .. $count) {
		my $r = next_word();
		printf "2024-01-01 %02d:%02d:%02d host%d service[%d]: request %d from 10.0.%d.%d took %d us, " .
		    "status 200, cache hit, session closed normally by the remote end\n",
		    $i / 3600 % 24, $i / 60 % 60, $i % 60, $r % 4, 1000 + $r % 7, $i, $r % 3, $r % 97, $r % 1000;
	}
}

sub c_file {
	print "typedef unsigned long word;\nword table[64];\n";
	for my $i (1 .. $count) {
		my ($a, $b) = (next_word() % 63, next_word() % 1000);
		print "word f$i(word x, word y)\n{\n\tword sum = $b;\n" .
		    "\tfor (word i = 0; i < x % 97; i++) {\n\t\tsum += table[(i + $a) & 63] * y;\n" .
		    "\t\tswitch (sum & 7) {\n\t\tcase 1: sum ^= x << 3; break;\n\t\tcase 2: sum -= y; break;\n" .
		    "\t\tcase 5: table[i & 63] = sum; break;\n\t\tdefault: sum = sum >> 1 | sum << 63;\n" .
		    "\t\t}\n\t}\n\treturn sum" . ($i > 1 ? " + f" . ($i - 1) . "(y, sum >> 9)" : "") . ";\n}\n";
	}
}

sub repo {
	for my $i (1 .. $count) {
		my $file = next_word() % 400;
		my $text = join "", map { "line $_ of revision $i: " . next_word() . "\n" } 1 .. 300;
		$text .= "common line $_ of file $file\n" for 1 .. 1500;
		my $who = "A U Thor <author\@example.com> " . (1700000000 + $i) . " +0000";
		print "commit refs/heads/main\nauthor $who\ncommitter $who\ndata <<END\nrevision $i\nEND\n";
		print "M 644 inline dir" . $file % 20 . "/file$file\ndata " . length($text) . "\n$text\n";
	}
	print "done\n";
}

my %kinds = (words => \&words, log => \&log_lines, c => \&c_file, repo => \&repo);
$kinds{$kind}->();
