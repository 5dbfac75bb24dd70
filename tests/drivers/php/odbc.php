<?php
// PHP's odbc_*: its statements ask for scrolling cursors, which FreeTDS opens on the server.
$db = odbc_connect(getenv("PT_ODBC"), getenv("PT_USER"), getenv("PT_PASSWORD"), SQL_CUR_USE_DRIVER);
$query = "SELECT name, database_id FROM sys.databases WHERE name IN ('StateService', 'Translation ', 'WordAutomation') ORDER BY name";
$rows = odbc_exec($db, $query);
$seen = [];
while ($row = odbc_fetch_array($rows)) $seen[] = $row["name"];
odbc_fetch_row($rows, 2);
$second = odbc_result($rows, "name");
$prepared = odbc_prepare($db, "SELECT name FROM sys.databases WHERE name = 'Translation'");  // FreeTDS cannot describe parameters
odbc_execute($prepared);
echo json_encode([$seen, $second, odbc_num_fields($rows), odbc_num_fields($prepared), odbc_fetch_array($prepared)]), "\n";
