/* run.h — private: the state of a run and the steps that its files share. */
#ifndef TSQL_RUN_RUN_H
#define TSQL_RUN_RUN_H

#include "tsql/eval/eval.h"

enum flow {                /* what a statement tells the loop */
	    FLOW_NEXT,     /* go on with the next instruction */
	    FLOW_JUMPED,   /* pc was set */
	    FLOW_HAND_OUT, /* state->wants: the caller continues */
	    FLOW_STOP,     /* state->wants: the run is over */
	    /* the meter gave the statement up: it has done nothing, and is run again, later */
	    FLOW_AGAIN,
};

struct tsql_state {
	const struct tsql_program *prog;
	size_t pc;
	struct slot *slots;
	struct arena scratch; /* of one statement */
	bool scratch_live;
	struct eval ev;
	struct meter meter; /* of a slice of tsql_next */
	size_t items_done;  /* of a SELECT @a = …, @b = … that was given up in between */
	unsigned steps;
	enum tsql_wants wants;
	bool waiting; /* handed out: tsql_next must not go on before the …_done */
	bool over;
	struct table *tables; /* the table variables; NULL: none */
};

/* table.c: a table variable while the program runs. Its rows have an arena of their own. */
MUST_CHECK int tsql_run_make_table(struct tsql_run *r, int var, struct err *reterr);
void tsql_run_drop_tables(struct tsql_run *r);
/* INSERT begins: what is found there from now on can be taken back. */
struct tsql_into *tsql_run_into(struct tsql_run *r, int var);
/* It has ended: DONE; without the rows if it failed. */
void tsql_run_inserted(struct tsql_run *r, int var, bool failed);

/* run.c */
enum flow tsql_run_stop(struct tsql_run *r, enum tsql_wants how);
enum flow tsql_run_hand_out(struct tsql_run *r, enum tsql_wants what);
/* A statement ended well: @@ERROR 0, @@ROWCOUNT, DONE. */
void tsql_run_done(struct tsql_run *r, enum tsql_command cmd, bool has_count, uint64_t count);
/* r->err is filled: sends it, then the DONE with the error bit; ends the batch or goes on, by
 * the error. If the meter gave the statement up nothing is sent: FLOW_AGAIN. */
enum flow tsql_run_error(struct tsql_run *r, const struct insn *in, enum tsql_command cmd);
enum flow tsql_run_gone(struct tsql_run *r); /* the receiver of results is gone */
MUST_CHECK int tsql_run_assign(struct tsql_run *r, int var, const struct value *v);

/* run/select.c, run/message.c, run/simple.c */
enum flow tsql_run_select(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_query(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_subquery(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_print(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_raiserror(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_throw(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_assignment(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_exec(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_exec_text(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_if(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_tran(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_wait(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_use(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_set(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_return(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_kill(struct tsql_run *r, const struct insn *in);
enum flow tsql_run_bulk(struct tsql_run *r, const struct insn *in);

#endif
