# DBIx::Class over DBD::Sybase or DBD::ODBC (the first argument): results of a view, pages, transactions, procedures, what it asks about tables.
use strict;
use warnings;
use utf8;
use JSON::PP;

package Local::Result;
use base 'DBIx::Class::Core';
__PACKAGE__->table('Items');
__PACKAGE__->add_columns(Id => { data_type => 'varchar', size => 512 }, Locked => { data_type => 'bit' }, LockTime => { data_type => 'datetime', is_nullable => 1 },
	Expires => { data_type => 'datetime' }, Bytes => { data_type => 'bigint', is_nullable => 1 });
__PACKAGE__->set_primary_key('Id');

package Local::Schema;
use base 'DBIx::Class::Schema';
__PACKAGE__->register_class(Item => 'Local::Result');

package main;
my $driver = shift;
my $n = 0;
sub key { return ($_[0] // 'k') . "-$ENV{PT_PREFIX}-$driver-" . ++$n }
sub expect { $_[0] or die "$_[1]\n" }

sub open_ {
	my $dsn = $driver eq 'Sybase' ? 'dbi:Sybase:server=plain71;database=StateService' : "dbi:ODBC:$ENV{PT_ODBC}";
	my $schema = Local::Schema->connect($dsn, $ENV{PT_USER}, $ENV{PT_PASSWORD}, { RaiseError => 1, PrintError => 0, LongReadLen => 65536 });
	$schema->storage->ensure_connected;
	return $schema;
}
sub add {
	my ($schema, $id) = @_;
	$schema->storage->dbh_do(sub { $_[1]->do("EXEC proc_AddItem \@id = '$id', \@item = 0x616263, \@timeout = 20") });
}
sub some { my ($schema, $count) = @_; my $prefix = key('page'); add($schema, "$prefix-$_") for 10 .. 9 + $count; return $prefix }
sub ids { return join ',', map { substr $_->get_column('Id'), -2 } @_ }
sub present { my ($schema, $id) = @_; return defined $schema->resultset('Item')->find($id) }

my %parts = (
	connect => sub { my $s = open_(); my ($name) = $s->storage->dbh->selectrow_array('SELECT DB_NAME()'); expect($name eq 'StateService', $name); expect(ref($s->storage) =~ /Microsoft_SQL_Server/, ref $s->storage) },
	pages => sub {
		my $s = open_(); my $prefix = some($s, 12); my $all = $s->resultset('Item')->search({ Id => { -like => "$prefix%" } });
		my $sorted = $all->search({}, { order_by => 'Id' });
		expect(ids($sorted->search({}, { rows => 4 })->all) eq '10,11,12,13', 'first page');
		expect(ids($sorted->search({}, { rows => 4, page => 3 })->all) eq '18,19,20,21', 'last page');
		expect(ids($all->search({}, { rows => 3, offset => 2, order_by => { -desc => 'Id' } })->all) eq '19,18,17', 'offset');
		expect($all->count == 12, 'count'); expect($sorted->search({}, { rows => 5, page => 3 })->count == 2, 'count of a page');
		my $pager = $sorted->search({}, { rows => 5, page => 2 })->pager; expect($pager->total_entries == 12 && $pager->last_page == 3, 'pager');
		expect($all->get_column('Id')->max eq "$prefix-21", 'max');
	},
	conditions => sub {
		my $s = open_(); my $prefix = some($s, 3); my $items = $s->resultset('Item');
		expect($items->search({ Id => [ "$prefix-10", "$prefix-12  ", 'nothing' ] })->count == 2, 'or');
		expect($items->search({ Id => { -in => [ "$prefix-10", "$prefix-12  ", 'nothing' ] } })->count == 2, 'in');
		expect($items->search({ Id => { -like => "$prefix%" }, LockTime => undef, Bytes => { '>', 2 } })->count == 3, 'null, number');
		expect($items->search({ Id => { -in => $items->search({ Id => { -like => "$prefix%" } })->get_column('Id')->as_query } })->count == 3, 'subquery');
		my $group = $items->search({ Id => { -like => "$prefix%" } }, { select => [ 'Bytes', { count => '*' } ], as => [ 'Bytes', 'n' ], group_by => 'Bytes' })->first;
		expect($group->get_column('n') == 3, 'group');
		my $one = $items->find("$prefix-11"); expect($one->get_column('Bytes') == 3 && !defined $one->get_column('LockTime'), 'find');
	},
	transactions => sub {
		my $s = open_(); my ($x, $y) = (key('x'), key('y'));
		eval { $s->txn_do(sub { add($s, $x); expect(present($s, $x), 'not seen inside'); die "back\n" }) }; expect($@ =~ /^back/, $@);
		expect(!present($s, $x), 'seen after rollback');
		$s->txn_do(sub { add($s, $y) }); expect(present($s, $y), 'not seen after commit');
	},
	isolation => sub {
		my $s = open_(); my $level = 0;
		for my $name ('READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE', 'SNAPSHOT') {
			$s->storage->dbh->do("SET TRANSACTION ISOLATION LEVEL $name");
			my ($seen) = $s->txn_do(sub { $s->storage->dbh->selectrow_array('SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID') });
			expect($seen == ++$level, "$name: $seen");
		}
	},
	procedures => sub {
		my $s = open_(); my $id = key('p'); add($s, $id);
		my $row = $s->storage->dbh_do(sub {
			my $st = $_[1]->prepare("DECLARE \@i varbinary(max), \@l bit, \@a int, \@c int EXEC proc_GetItemWithLock '$id', \@i OUTPUT, \@l OUTPUT, \@a OUTPUT, \@c OUTPUT SELECT CONVERT(varchar(20), \@i, 1), \@l, \@c");
			my $last; $st->execute;
			do { while (my $r = $st->fetch) { $last = [@$r] } } while ($st->{syb_more_results}); # the return status is a result of DBD::Sybase, before the rows
			return $last;
		});
		expect("@$row" eq '0x616263 0 2', "@$row");
		eval { add($s, $id) }; expect($@ =~ /2627|PRIMARY KEY/, "no error: $@");
	},
	metadata => sub {
		my $s = open_(); my $columns = $s->storage->columns_info_for('Items');
		expect(keys %$columns == 7, join ',', %$columns); expect(exists $columns->{Id} || exists $columns->{id}, join ',', keys %$columns);
		my $version = $s->storage->_dbh_get_info('SQL_DBMS_VER') // $s->storage->_server_info->{dbms_version}; expect($version =~ /^\d+\./, 'version');
	},
);
for my $part (qw(connect pages conditions transactions isolation procedures metadata)) {
	my $ok = eval { $parts{$part}->(); 1 };
	my $note = $ok ? '' : "$@"; utf8::decode($note);
	print JSON::PP->new->canonical->ascii->encode({ feature => $part, ok => $ok ? JSON::PP::true : JSON::PP::false, note => $note }), "\n";
}
