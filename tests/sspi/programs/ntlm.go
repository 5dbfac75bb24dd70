// go-mssqldb with an NTLM login: ntlm PORT 'DOMAIN\user' PASSWORD prints the login, or "error TEXT".
package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "github.com/denisenkom/go-mssqldb"
)

func main() {
	db, err := sql.Open("mssql", fmt.Sprintf("server=127.0.0.1;port=%s;user id=%s;password=%s;database=StateService;encrypt=disable;dial timeout=15", os.Args[1], os.Args[2], os.Args[3]))
	if err != nil {
		panic(err)
	}
	var name string
	if err := db.QueryRow("SELECT suser_sname()").Scan(&name); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(name)
}
