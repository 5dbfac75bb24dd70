/* state.c — `procession state`: the items of a StateService by number, names, sizes and locks.
 * Their contents stay where they are. */
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"

#define LIST_DEFAULT 50
#define LIST_MAX 1000000

static int wrong(const struct cli *cli, const char *text)
{
	struct err e = { 0 };

	err_raise(&e, 50000, CLI_USAGE_SEVERITY, 1, "%s", text);
	return cli_answer_failed(cli, &e, EXIT_USAGE);
}

int cli_run_state_count(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text(
		NULL, "SELECT COUNT(*) AS items, COALESCE(SUM(Bytes), 0) AS bytes, COALESCE(SUM(CASE WHEN "
		      "Locked = 1 THEN 1 ELSE 0 END), 0) AS locked, MIN(CASE WHEN Locked = 1 THEN LockTime "
		      "END) AS oldest_lock, MIN(Expires) AS first_expires FROM dbo.Items") };

	(void)cmd;
	cli_connect_to(cli, &cli_kind_state, cli->database);
	return cli_answer_call(cli, "sp_executesql", args, ARRAY_LEN(args), NULL);
}

static bool read_count(const char *text, int32_t *ret)
{
	char *end;
	long n = text == NULL ? LIST_DEFAULT : strtol(text, &end, 10);

	if (text != NULL && (text[0] < '0' || text[0] > '9' || *end != '\0'))
		return false;
	*ret = (int32_t)n;
	return n >= 1 && n <= LIST_MAX;
}

int cli_run_state_list(struct cli *cli, const struct command *cmd)
{
	struct client_arg args[] = {
		client_text(NULL, "SELECT TOP (@n) Id, Bytes, Locked, LockTime, TimeoutMinutes, Expires FROM "
				  "dbo.Items WHERE Id LIKE @pattern AND Locked >= @locked ORDER BY Id"),
		client_text(NULL, "@n int, @pattern nvarchar(512), @locked int"),
		client_int("@n", 0),
		client_text("@pattern", cli->npaths > 0 ? cli->paths[0] : "%"),
		client_int("@locked", cli->locked),
	};
	int32_t n;

	(void)cmd;
	if (cli->npaths > 1)
		return wrong(cli, "state list takes one pattern, such as 'basket-%'");
	if (!read_count(cli->count, &n))
		return wrong(cli, "--count takes a number of items, 1 to 1000000");
	args[2].number = n;
	cli_connect_to(cli, &cli_kind_state, cli->database);
	return cli_answer_call(cli, "sp_executesql", args, ARRAY_LEN(args), NULL);
}

/* ---- delete ---- */

/* The lock cookie of an item, without which the service deletes nothing. 1: found, 0: there is no
 * such item. */
static int find_item(struct client *c, const char *id, int32_t *ret_cookie, bool *ret_locked,
		     struct err *reterr)
{
	const struct client_arg args[] = {
		client_text(NULL, "SELECT LockCookie, Locked FROM dbo.Items WHERE Id = @id"),
		client_text(NULL, "@id varchar(512)"), client_text("@id", id)
	};
	struct client_result r;
	int rc = client_call(c, "sp_executesql", args, ARRAY_LEN(args), &r, reterr);

	if (rc == 0 && r.ntables > 0 && r.tables[0].nrows > 0) {
		*ret_cookie = (int32_t)strtol(r.tables[0].cells[0], NULL, 10);
		*ret_locked = strcmp(r.tables[0].cells[1], "0") != 0;
		rc = 1;
	}
	client_result_fini(&r);
	return rc;
}

static int delete_item(struct client *c, const char *id, int32_t cookie, struct err *reterr)
{
	const struct client_arg args[] = { client_text("@id", id), client_int("@lockCookie", cookie) };
	struct client_result r;
	int rc = client_call(c, "proc_DeleteItem", args, ARRAY_LEN(args), &r, reterr);

	client_result_fini(&r);
	return rc;
}

/* An item that its user locks, or has changed since we looked, is not taken away under his
 * hands. */
static int delete_if_free(const struct cli *cli, struct client *c, const char *id, struct err *reterr)
{
	int32_t cookie = 0;
	bool locked = false;
	int rc = find_item(c, id, &cookie, &locked, reterr);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_raise(reterr, 50000, 16, 1,
				 "there is no item '%.200s'; procession state list shows them", id);
	if (locked && !cli->force)
		return err_raise(reterr, 50000, 16, 1,
				 "the item '%.200s' is locked, so somebody works with it; --force deletes it "
				 "all the same",
				 id);
	if (delete_item(c, id, cookie, reterr) < 0)
		return -1;
	rc = find_item(c, id, &cookie, &locked, reterr);
	if (rc == 1)
		return err_raise(reterr, 50000, 16, 1,
				 "the item '%.200s' was changed at this moment and is still there; try again",
				 id);
	return rc;
}

int cli_run_state_delete(struct cli *cli, const struct command *cmd)
{
	struct client *c;
	struct err e = { 0 };
	int rc;

	(void)cmd;
	cli_connect_to(cli, &cli_kind_state, cli->database);
	if (cli_connect(cli, &c, &e) < 0)
		return cli_answer_failed(cli, &e, cli_connect_status(&e));
	rc = delete_if_free(cli, c, cli->args[0], &e);
	client_close(c);
	if (rc < 0)
		return cli_answer_failed(cli, &e, EXIT_REFUSED);
	cli_answer_done(cli, "item deleted");
	return EXIT_OK;
}
