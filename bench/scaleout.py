"""Procession in front of PostgreSQL, beside pgbench calling functions of the same effect in the same PostgreSQL, in turns.

Two databases of one cluster are alike but for who uses them: pgbench's have the functions of bench/peers, ours is made by the server. Our own
CPU is compared with that of the SQLite engine, measured in the same turns."""
import concurrent.futures

from daemons import Postgres, Standby

WORKLOADS = ("state_rw", "state_read", "word_cycle", "translate_cycle", "sched_cycle")
CONNECTIONS = 32
WRITTEN_S = 10
SHARES = 3          # servers, or parts of the load


def ours(bench, pg, name, database="procession"):
    return bench.server(name, "--engine", "postgres", "--postgres", pg.conninfo(database))


def load(bench, pg, server, workload, connections=CONNECTIONS, **options):
    return bench.load(server, workload, connections, behind=pg.pid, **options)


def vacuum(pg, database):
    """What the run before left is not this one's to pay; pgbench does the same before each of its runs."""
    pg.psql(database, "-c", "VACUUM ANALYZE")


def save(bench, runs):
    bench.save("postgres", runs)


def beside(bench, pg, server, embedded, runs):
    """Each workload by pgbench, by us in front of the same PostgreSQL, and by the SQLite engine."""
    for workload in WORKLOADS:
        def mine(w=workload):
            vacuum(pg, "procession")
            return load(bench, pg, server, w)
        best = bench.alternate(lambda w=workload: bench.pgbench(pg, w, CONNECTIONS), mine, lambda w=workload: bench.load(embedded, w, CONNECTIONS))
        runs += [{**r, "server": s, "workload": workload, "what": "calls"} for s, r in zip(("pgbench", "procession", "sqlite"), best)]
        save(bench, runs)


def slack(bench, pg, server, runs):
    """Reads that store expirations a little ahead (renewal_slack): most of them write nothing."""
    bench.load(server, "text", 1, text="EXEC procession_database_set @name = 'StateService', @renewal_slack = 600")
    [best] = bench.alternate(lambda: load(bench, pg, server, "state_read"))
    bench.load(server, "text", 1, text="EXEC procession_database_set @name = 'StateService', @renewal_slack = 0")
    runs.append({**best, "server": "procession", "what": "slack"})
    save(bench, runs)


def alone(bench, pg, server, runs):
    """One connection. pgbench tells the time of both calls together: ours is the mean of the two, too."""
    best = bench.alternate(lambda: bench.pgbench(pg, "state_rw", 1), lambda: load(bench, pg, server, "state_rw", 1))
    kinds = best[1]["kinds"].values()
    best[1]["p50_us"] = sum(k["p50_us"] for k in kinds) / len(kinds)
    runs += [{**r, "server": s, "what": "calls"} for s, r in zip(("pgbench", "procession"), best)]
    save(bench, runs)


def together(bench, pg, servers):
    """The load in three parts, at once; servers are one or three."""
    vacuum(pg, "procession")
    with concurrent.futures.ThreadPoolExecutor(SHARES) as pool:
        parts = [pool.submit(load, bench, pg, servers[i % len(servers)], "state_rw", 11, part=f"{i}/{SHARES}") for i in range(SHARES)]
        done = [p.result() for p in parts]
    total = sum(r["calls_per_s"] for r in done)
    # each part has measured all of PostgreSQL, for its own calls only
    cpu = sum(r["behind_cpu_us_per_call"] * r["calls_per_s"] for r in done) / SHARES / total
    return {"workload": "state_rw", "connections": 11 * SHARES, "calls_per_s": total, "behind_cpu_us_per_call": cpu}


def written(bench, pg, server, runs):
    """What the lives of jobs write: log for each call, from a checkpoint on; and what stays of a finished item, its part of the job and the indexes with it."""
    def so_far():
        return pg.numbers("procession", """SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8, (SELECT count(*) FROM procession_wordautomation.item
            WHERE stopped IS NOT NULL), (SELECT sum(pg_total_relation_size(c.oid))::int8 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'procession_wordautomation' AND c.relkind = 'r')""")
    vacuum(pg, "procession")
    pg.psql("procession", "-c", "CHECKPOINT")
    before = so_far()
    r = bench.load(server, "word_cycle", CONNECTIONS, seconds=WRITTEN_S, warmup=0)
    log, items, size = (b - a for a, b in zip(before, so_far()))
    runs.append({"what": "written", "workload": "word_cycle", "calls": r["calls"], "items": items, "wal_bytes_per_call": log / r["calls"],
                 "bytes_per_item": size / items})
    save(bench, runs)


def shared(bench, pg, server, runs):
    others = [server] + [ours(bench, pg, f"server-{i}") for i in range(2, SHARES + 1)]
    for other in others[1:]:        # the rows and functions are there; the password is that of the first
        other.password = server.password
    best = bench.alternate(lambda: together(bench, pg, [server]), lambda: together(bench, pg, others))
    runs += [{**r, "what": "servers", "servers": n} for n, r in zip((1, SHARES), best)]
    save(bench, runs)
    for other in others[1:]:
        other.stop()


def standby(bench, pg, server, runs):
    follower = bench.peer(Standby(bench.folder, pg))
    best = bench.alternate(lambda: bench.pgbench(pg, "state_rw", CONNECTIONS), lambda: load(bench, pg, server, "state_rw"))
    runs += [{**r, "server": s, "what": "standby"} for s, r in zip(("pgbench", "procession"), best)]
    save(bench, runs)
    follower.stop()


def fill_jobs(pg, database, jobs):
    """Finished jobs of 100 items each, by SQL: a client would take an hour."""
    schema = "procession_wordautomation"
    pg.psql(database, "-c", f"""SET search_path = {schema}, procession; SET synchronous_commit = off;
        INSERT INTO job (id, created, submitted, part, open)
            SELECT 1000000000 + k, 1000000 + k, 1, NULL, 0 FROM generate_series(1, {jobs}) AS k;
        INSERT INTO job_text (n, settings, name) SELECT n, '<settings/>', 'letters' FROM job WHERE id > 1000000000;
        INSERT INTO grp (n, id, input_root, output_root) SELECT n, 1, 'in/', 'out/' FROM job WHERE id > 1000000000;
        INSERT INTO item (n, grp, id, started, stopped, attempts)
            SELECT job.n, 1, k, 1000000, 1000001, 1 FROM job, generate_series(1, 100) AS k WHERE job.id > 1000000000;
        INSERT INTO item_text (n, grp, id, input, output)
            SELECT job.n, 1, k, 'letters/' || k || '.docx', 'letters/' || k || '.pdf' FROM job, generate_series(1, 100) AS k WHERE job.id > 1000000000""")
    vacuum(pg, database)
    pg.psql(database, "-c", "CHECKPOINT")


def items(bench):
    """The life of a job beside few finished items in PostgreSQL and beside very many."""
    pg = start(bench)
    sizes = {"few": 10000, "many": 10000000 if bench.args.full else 1000000}
    servers = {}
    for name, items in sizes.items():
        pg.psql("template1", "-c", f"CREATE DATABASE {name}")
        servers[name] = ours(bench, pg, name, name)
        fill_jobs(pg, name, items // 100)

    def one(name):
        vacuum(pg, name)
        return load(bench, pg, servers[name], "word_cycle", 8)
    best = bench.alternate(*(lambda n=n: one(n) for n in sizes))
    bench.save("postgres_items", [{**r, "what": "items", "items": sizes[n]} for n, r in zip(sizes, best)])


def start(bench):
    if not bench.versions["postgresql"]:
        raise RuntimeError("postgresql-15 and its pgbench are not installed: tools/setup.sh bench")
    bench.rounds = bench.args.rounds or (4 if bench.args.full else 3)
    return bench.peer(Postgres(bench.folder))


def scenario(bench):
    """Procession in front of PostgreSQL, beside pgbench in the same PostgreSQL."""
    pg = start(bench)
    pg.psql("template1", "-c", "CREATE DATABASE procession")
    server, embedded = ours(bench, pg, "server-1"), bench.server("sqlite")
    for filled in (server, embedded):
        bench.load(filled, "state_fill", 64)
    runs = []
    beside(bench, pg, server, embedded, runs)
    embedded.stop()
    slack(bench, pg, server, runs)
    alone(bench, pg, server, runs)
    written(bench, pg, server, runs)
    shared(bench, pg, server, runs)
    standby(bench, pg, server, runs)
