<?php
// PDO over ODBC: placeholders, scrolling statements, transactions, output parameters, several results.
$db = new PDO("odbc:" . getenv("PT_ODBC"), getenv("PT_USER"), getenv("PT_PASSWORD"));
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$counter = 0;
function key_of() { global $counter; return "pdo-odbc-" . getenv("PT_PREFIX") . "-" . ++$counter; }
function expect($seen, $wanted) { if ($seen !== $wanted) throw new Exception(json_encode($seen) . " instead of " . json_encode($wanted)); }
function add($id) { global $db; $db->exec("EXEC proc_AddItem '$id', 0x616263, 20"); }
function found($id) { global $db; return (int) $db->query("SELECT COUNT(*) FROM Items WHERE Id = '$id'")->fetchColumn(); }
$databases = "SELECT name FROM sys.databases WHERE name IN ('StateService', 'Translation', 'WordAutomation') ORDER BY name";

$parts = [
    "connect" => function () use ($db) { expect($db->query("SELECT DB_NAME()")->fetchColumn(), "StateService"); },
    "prepared" => function () use ($db) {
        $id = key_of();
        add($id);
        $rows = $db->prepare("SELECT Id, Bytes, LockTime FROM Items WHERE Id = ? AND Bytes > ?");
        $rows->execute([$id, 2]);
        expect($rows->fetchAll(PDO::FETCH_NUM), [[$id, "3", null]]);
        $named = $db->prepare("SELECT name FROM sys.databases WHERE name = :name");
        foreach (["Translation", "StateService"] as $name) { $named->execute(["name" => $name]); expect($named->fetchAll(PDO::FETCH_COLUMN), [$name]); }
    },
    "scrolls" => function () use ($db, $databases) {
        $rows = $db->prepare($databases, [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
        $rows->execute();
        $seen = [];
        foreach ([[PDO::FETCH_ORI_LAST, 0], [PDO::FETCH_ORI_FIRST, 0], [PDO::FETCH_ORI_ABS, 2], [PDO::FETCH_ORI_PRIOR, 0]] as [$where, $n]) $seen[] = $rows->fetch(PDO::FETCH_NUM, $where, $n)[0];
        expect($seen, ["WordAutomation", "StateService", "Translation", "StateService"]);
    },
    "transactions" => function () use ($db) {
        [$a, $b] = [key_of(), key_of()];
        $db->beginTransaction(); add($a); expect(found($a), 1); $db->rollBack(); expect(found($a), 0);
        $db->beginTransaction(); add($b); $db->commit(); expect(found($b), 1);
    },
    "procedures" => function () use ($db) {
        $id = key_of();
        add($id);
        try { add($id); expect(true, false); } catch (PDOException $e) { expect($e->errorInfo[1], 2627); }
        // PDO reads outputs before FreeTDS has them: they are selected.
        $call = $db->prepare("DECLARE @s int EXEC @s = proc_RefreshItemExpiration ? SELECT @s AS status");
        $call->execute([$id]);
        expect($call->fetchAll(PDO::FETCH_ASSOC), [["status" => "0"]]);
    },
    "results" => function () use ($db) {
        $rows = $db->query("SELECT 1 AS a SELECT 2 AS b, 3 AS c");
        expect($rows->fetchAll(PDO::FETCH_ASSOC), [["a" => "1"]]);
        expect($rows->nextRowset(), true);
        expect($rows->fetchAll(PDO::FETCH_ASSOC), [["b" => "2", "c" => "3"]]);
    },
];
foreach ($parts as $name => $part) {
    try { $part(); $note = ""; } catch (Throwable $e) { $note = $e->getMessage(); }
    echo json_encode(["feature" => $name, "ok" => $note === "", "note" => $note]), "\n";
}
