<?php
// PDO dblib: everything is a language batch; values are written into the text by the driver.
$n = 0;
function key_(string $name = "k"): string { global $n; return "$name-" . getenv("PT_PREFIX") . "-" . ++$n; }
function db(string $section = "plain74", ?string $user = null, ?string $password = null, string $database = "StateService"): PDO {
	$db = new PDO("dblib:host=$section;dbname=$database;charset=UTF-8", $user ?? getenv("PT_USER"), $password ?? getenv("PT_PASSWORD"));
	$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
	return $db;
}
function expect(bool $ok, string $text = "not as expected"): void { if (!$ok) throw new Exception($text); }
function fails(string $text, callable $code): void {
	try { $code(); } catch (PDOException $e) { expect(str_contains($e->getMessage(), $text), "another error: " . $e->getMessage()); return; }
	throw new Exception("no error '$text'");
}
/* Rows of the first result set that has columns. */
function rows(PDOStatement $st): array {
	do { if ($st->columnCount() > 0) { $r = $st->fetchAll(PDO::FETCH_NUM); $st->closeCursor(); return $r; } } while ($st->nextRowset());
	return [];
}
function get(PDO $db, string $key): array {
	$sql = "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock %s, @i output, @l output, @a output, @c output select @i as item, @l as locked, @c as cookie";
	return rows($db->query(sprintf($sql, $db->quote($key))))[0];
}
$features = [
	"connect" => function () { foreach (["71", "72", "73", "74"] as $v) expect(rows(db("plain$v")->query("select db_name()"))[0][0] === "StateService", "TDS $v"); },
	"tls" => function () { foreach (["login", "tls"] as $s) foreach (["71", "74"] as $v) expect(rows(db($s . $v)->query("select 1"))[0][0] == 1, "$s$v"); },
	"wrong_password" => function () { fails("connection failed", fn() => db("plain74", "nobody", "wrong")); },
	"missing_database" => function () { fails("connection failed", fn() => db("plain74", null, null, "Nowhere")); },
	"batch" => function () { $db = db(); $k = key_(); $db->exec("exec proc_AddItem @id = '$k', @item = 0x6162, @timeout = 20"); $r = get($db, $k);
		expect($r[0] === "ab" && $r[2] == 1, json_encode($r)); expect(count(rows($db->query("exec sp_stored_procedures"))) >= 8, "procedures"); },
	"prepared" => function () { $db = db(); $st = $db->prepare("exec proc_AddItem ?, null, ?"); $keys = [key_(), key_(), key_()];
		foreach ($keys as $k) { $st->bindValue(1, $k); $st->bindValue(2, 20, PDO::PARAM_INT); $st->execute(); $st->closeCursor(); }
		foreach ($keys as $k) expect(get($db, $k)[1] !== null, "missing");
		$st = $db->prepare("select ? as a, ? as b"); foreach (["x", "y"] as $v) { $st->bindValue(1, $v); $st->bindValue(2, "żółw", PDO::PARAM_STR | PDO::PARAM_STR_NATL); $st->execute(); expect($st->fetchAll(PDO::FETCH_NUM) === [[$v, "żółw"]], "select"); } },
	"values" => function () { $db = db();
		foreach ([1, 8000, 8001, 1 << 20] as $size) { $k = key_("big"); $data = random_bytes($size); $db->exec("exec proc_AddItem '$k', 0x" . bin2hex($data) . ", 20");
			expect(get($db, $k)[0] === $data, "$size bytes came back different"); }
		$r = rows($db->query("select N'żółw €' as t, null as n"))[0]; expect($r[0] === "żółw €" && $r[1] === null, json_encode($r)); },
	"errors" => function () { $db = db(); $k = key_(); $db->exec("exec proc_AddItem '$k', null, 20");
		fails("duplicate", fn() => $db->exec("exec proc_AddItem '$k', null, 20")); fails("@item", fn() => $db->exec("exec proc_AddItem 'k'"));
		fails("proc_Nothing", fn() => $db->exec("exec proc_Nothing")); expect(rows($db->query("select 1"))[0][0] == 1); },
	"transactions" => function () { $db = db(); $other = db(); $a = key_("a"); $b = key_("b");
		$db->beginTransaction(); $db->exec("exec proc_AddItem '$a', 0x01, 20"); $db->rollBack(); expect(get($other, $a)[1] === null, "seen after rollback");
		$db->beginTransaction(); $db->exec("exec proc_AddItem '$b', 0x01, 20"); $db->commit(); expect(get($other, $b)[1] !== null, "not seen after commit"); },
];
foreach ($features as $name => $code) {
	try { $code(); $ok = true; $note = ""; } catch (Throwable $e) { $ok = false; $note = $e->getMessage() . " line " . $e->getLine(); }
	echo json_encode(["feature" => $name, "ok" => $ok, "note" => $note], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
