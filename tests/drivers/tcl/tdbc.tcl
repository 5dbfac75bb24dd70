# Tcl's tdbc::odbc: bound variables, rows as lists and dicts, transactions, what it asks about tables.
package require tdbc::odbc

tdbc::odbc::connection create db "$env(PT_ODBC);UID=$env(PT_USER);PWD=$env(PT_PASSWORD)"
set counter 0

proc key {} { return "tcl-$::env(PT_PREFIX)-[incr ::counter]" }
proc expect {seen wanted} { if {$seen ne $wanted} { error "$seen instead of $wanted" } }
proc add {id} { db allrows {EXEC proc_AddItem :id, 0x616263, 20} }
proc there {id} { lindex [db allrows -as lists {SELECT COUNT(*) FROM Items WHERE Id = :id}] 0 0 }

proc part {name body} {
    set failed [catch $body note]
    set note [regsub -all {[^ !#-\[\]-~]} $note " "]
    puts "{\"feature\": \"$name\", \"ok\": [expr {$failed ? {false} : {true}}], \"note\": \"[expr {$failed ? $note : {}}]\"}"
}

part connect { expect [db allrows -as lists {SELECT DB_NAME()}] StateService }
part rows {
    set id [key]
    add $id
    set row [lindex [db allrows -as dicts {SELECT Id, Bytes, LockTime FROM Items WHERE Id = :id}] 0]
    expect $row [list Id $id Bytes 3]; # what is NULL has no entry
    set statement [db prepare {SELECT name FROM sys.databases WHERE database_id > :least ORDER BY name}]
    $statement paramtype least integer
    set least 4
    expect [llength [$statement allrows]] 4
    expect [[$statement execute] columns] name
    $statement close
}
part transactions {
    set a [key]
    set b [key]
    db begintransaction
    add $a
    expect [there $a] 1
    db rollback
    expect [there $a] 0
    db transaction { add $b }
    expect [there $b] 1
    db configure -isolation serializable
    expect [there $b] 1
}
part procedures {
    set id [key]
    add $id
    expect [catch {add $id} said] 1
    expect [string match "*PRIMARY KEY*" $said] 1
    expect [db allrows -as lists {DECLARE @s int EXEC @s = proc_RefreshItemExpiration :id SELECT @s}] 0
}
part metadata {
    expect [dict keys [db tables Items%]] Items
    set columns [db columns Items]
    expect [list [llength [dict keys $columns]] [dict get $columns Id type] [dict get $columns Id precision]] {7 varchar 512}
    expect [list [db primarykeys Items] [db foreignkeys -primary Items]] {{} {}}
}
db close
