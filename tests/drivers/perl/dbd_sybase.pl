#!/usr/bin/perl
# DBD::Sybase over FreeTDS ct-lib, TDS 7.1 (from 7.2 on it allocates 2 GB for each max column).
use strict;
use warnings;
use utf8;
use DBI;
use Encode qw(encode);
use Time::HiRes qw(time);

my $n = 0;
sub key { return ($_[0] // "k") . "-$ENV{PT_PREFIX}-" . ++$n }

sub db {
	my (%o) = @_;
	my $db = DBI->connect("dbi:Sybase:server=" . ($o{section} // "plain71") . ";database=" . ($o{database} // "StateService"),
		$o{user} // $ENV{PT_USER}, $o{password} // $ENV{PT_PASSWORD}, { RaiseError => 0, PrintError => 0, AutoCommit => $o{autocommit} // 1, syb_show_sql => 0 });
	die($DBI::errstr . " [" . ($DBI::err // "") . "]\n") unless $db;
	$db->{RaiseError} = 1;
	$db->{LongReadLen} = 40_000_000;
	return $db;
}

# All result sets; the return status is a result of its own (syb_result_type 4043).
sub results {
	my ($st) = @_;
	my @sets;
	do {
		my ($type, @rows) = ($st->{syb_result_type});       # fetch goes on to the next result at the end of this one
		while (my $row = $st->fetch) { push @rows, [@$row] }
		push @sets, { type => $type, rows => \@rows };
	} while ($st->{syb_more_results});
	return @sets;
}

my $GET = "declare \@i varbinary(max), \@l bit, \@a int, \@c int exec proc_GetItemWithoutLock '%s', \@i output, \@l output, \@a output, \@c output select \@i, \@l, \@c";
sub get {
	my ($db, $key) = @_;
	my $st = $db->prepare(sprintf($GET, $key));
	$st->execute;
	my ($set) = grep { $_->{type} == 4040 } results($st);
	return $set->{rows}[0];
}
sub expect { my ($ok, $text) = @_; die(($text // "not as expected") . "\n") unless $ok }
sub fails {
	my ($number, $code) = @_;
	eval { $code->(); 1 } and die("no error $number\n");
	my $got = $DBI::err // 0;
	expect($got == $number || $@ =~ /\b$number\b/, "error $got instead of $number: $@");
}

my %features = (
	connect => sub { my $db = db(); expect($db->selectrow_array("select db_name()") eq "StateService"); $db->disconnect },
	tls => sub { for my $s ("login71", "tls71") { my $db = db(section => $s); expect($db->selectrow_array("select 1") == 1); $db->disconnect } },
	wrong_password => sub { eval { db(user => "nobody", password => "wrong"); 1 } and die("logged in\n"); expect($@ =~ /18456|Login failed for user 'nobody'/, $@) },
	rpc_output => sub {
		my $db = db(); my $k = key();
		my $st = $db->prepare("exec proc_AddItem \@id = ?, \@item = ?, \@timeout = ?");
		$st->bind_param(1, $k); $st->bind_param(2, "616263", DBI::SQL_BINARY()); $st->bind_param(3, 20, DBI::SQL_INTEGER());
		$st->execute; results($st);
		$st = $db->prepare("exec proc_GetItemWithLock \@id = ?, \@item = ? OUTPUT, \@locked = ? OUTPUT, \@lockAgeInSeconds = ? OUTPUT, \@lockCookie = ? OUTPUT");
		$st->bind_param(1, $k); $st->bind_param(2, "", DBI::SQL_BINARY()); $st->bind_param(3, 0, DBI::SQL_INTEGER());
		$st->bind_param(4, 0, DBI::SQL_INTEGER()); $st->bind_param(5, 0, DBI::SQL_INTEGER());
		$st->execute;
		my ($out) = grep { $_->{type} == 4042 } results($st);
		my @v = @{ $out->{rows}[0] };
		expect(lc($v[0]) =~ /^616263/, "item $v[0]"); expect($v[3] == 2, "cookie $v[3]");
		$db->disconnect },
	rpc_results => sub {
		my $db = db(); my $st = $db->prepare("exec sp_stored_procedures \@sp_name = ?"); $st->bind_param(1, "proc_Add%"); $st->execute;
		my ($set) = grep { $_->{type} == 4040 } results($st);
		expect($set->{rows}[0][2] =~ /^proc_AddItem/, "no row"); $db->disconnect },
	batch => sub {
		my $db = db(); my $k = key(); $db->do("exec proc_AddItem \@id = '$k', \@item = 0x0102, \@timeout = 20");
		my $r = get($db, $k); expect(lc($r->[0]) eq "0102" && $r->[2] == 1, "@$r"); $db->disconnect },
	prepared => sub {
		my $db = db(); my $st = $db->prepare("select ? + 'x'");
		for my $v (qw(a b c)) { $st->execute($v); my @row = $st->fetchrow_array; expect($row[0] eq $v . "x", "got $row[0]"); 1 while $st->fetch }     # to the end: after finish the driver sends nothing more
		$db->disconnect },
	values => sub {
		my $db = db();
		for my $size (1, 8000, 8001, 1 << 20) {
			my $k = key("big"); my $hex = "5a" x $size;
			$db->do("exec proc_AddItem '$k', 0x$hex, 20");
			my $r = get($db, $k); expect(lc($r->[0]) eq $hex, "$size bytes came back different (" . length($r->[0] // "") . ")");
		}
		my ($t, $null) = $db->selectrow_array(encode("UTF-8", "select N'żółw €', null")); utf8::decode($t);
		expect($t eq "żółw €" && !defined $null, $t); $db->disconnect },
	status => sub {
		my $db = db(); my $st = $db->prepare("exec proc_RefreshItemExpiration 'nothing'"); $st->execute;
		my ($set) = grep { $_->{type} == 4043 } results($st); expect($set && $set->{rows}[0][0] == 0, "no status"); $db->disconnect },
	errors => sub {
		my $db = db(); my $k = key(); $db->do("exec proc_AddItem '$k', null, 20");
		fails(2627, sub { $db->do("exec proc_AddItem '$k', null, 20") }); fails(201, sub { $db->do("exec proc_AddItem 'k'") });
		fails(2812, sub { $db->do("exec proc_Nothing") }); expect($db->selectrow_array("select 1") == 1); $db->disconnect },
	transactions => sub {
		my $db = db(); my $other = db(); my ($a, $b) = (key("a"), key("b"));
		$db->{AutoCommit} = 0; $db->do("exec proc_AddItem '$a', 0x01, 20"); $db->rollback; expect(!defined get($other, $a)->[1], "seen after rollback");
		$db->do("exec proc_AddItem '$b', 0x01, 20"); $db->commit; expect(defined get($other, $b)->[1], "not seen after commit");
		$db->{RaiseError} = 0; $db->disconnect; $other->disconnect },
	cancel => sub {
		my $db = db(); my $st = $db->prepare("exec sp_stored_procedures"); $st->execute; $st->fetch; $st->cancel; $st->finish;
		expect($db->selectrow_array("select 7") == 7); $db->disconnect },
);
$| = 1;
for my $f (qw(connect tls wrong_password rpc_output rpc_results batch prepared values status errors transactions cancel)) {
	my $ok = eval { $features{$f}->(); 1 }; my $note = $ok ? "" : $@;
	$note =~ s/([\\"])/\\$1/g; $note =~ s/[\x00-\x1f]/ /g; $note = encode("UTF-8", $note) if utf8::is_utf8($note);
	printf "{\"feature\": \"%s\", \"ok\": %s, \"note\": \"%s\"}\n", $f, $ok ? "true" : "false", $note;
}
