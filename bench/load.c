/* load.c — the load generator: requests encoded in advance, every answer checked. Prints one
 * line of JSON. Without a list of options: its help. */
#define _GNU_SOURCE /* SCHED_BATCH */
#include <arpa/inet.h>
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client.h"
#include "usage.h"

static void read_password(const char *file)
{
	FILE *f = fopen(file, "r");

	if (f == NULL || fgets(opt.password, sizeof(opt.password), f) == NULL)
		die(file, "no password in it");
	fclose(f);
	opt.password[strcspn(opt.password, "\r\n")] = '\0';
}

static void parse_server(char *text)
{
	char *colon = strrchr(text, ':');

	if (colon == NULL)
		die(text, "HOST:PORT is wanted");
	*colon = '\0';
	opt.address.sin_family = AF_INET;
	opt.address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	if (inet_pton(AF_INET, text, &opt.address.sin_addr) != 1 ||
	    (ntohl(opt.address.sin_addr.s_addr) >> 24) != 127)
		die(text, "only loopback addresses are loaded");
}

static void parse_part(const char *text)
{
	if (sscanf(text, "%u/%u", &opt.part, &opt.parts) != 2 || opt.part >= opt.parts)
		die(text, "K/N is wanted");
}

static void usage(void)
{
	fprintf(stderr,
		"usage: load --server 127.0.0.1:PORT --workload NAME [--password-file FILE] [--user NAME]\n"
		"  --connections N    that work (32)\n"
		"  --part K/N         one of N loads at once, 0 to N - 1, with keys of its own\n"
		"  --idle N           more that are only logged in (0)\n"
		"  --seconds S        to measure (5), after --warmup S (1)\n"
		"  --pid N            of the server: its CPU, memory and writes are measured\n"
		"  --behind N         the process of the PostgreSQL behind the server: the CPU of it and its "
		"children\n"
		"  --tls              TLS from the first byte, as TDS 8.0 does it\n"
		"  --login-storm      a new connection and login for every call\n"
		"  --bytes N          of an item (state_large)\n"
		"  --items N          of the big group (word_group, word_items)\n"
		"  --jobs N           of 100 items each (word_fill, word_batch100, word_status100, "
		"word_done, word_again, and translation_…)\n"
		"  --first-job N, --last-job N   which of them word_fill and translation_fill add (all)\n"
		"  --text SQL         sent once (text)\n"
		"  --request N, --answer N   sizes of messages (echo)\nworkloads:\n");
	workload_list();
	exit(2);
}

enum {
	OPT_SERVER = 256,
	OPT_PASSWORD,
	OPT_USER,
	OPT_WORKLOAD,
	OPT_CONNECTIONS,
	OPT_IDLE,
	OPT_PART,
	OPT_SECONDS,
	OPT_WARMUP,
	OPT_PID,
	OPT_BEHIND,
	OPT_TLS,
	OPT_STORM,
	OPT_BYTES,
	OPT_ITEMS,
	OPT_JOBS,
	OPT_FIRST_JOB,
	OPT_LAST_JOB,
	OPT_TEXT,
	OPT_REQUEST,
	OPT_ANSWER
};

static void take(int o)
{
	unsigned long n = optarg == NULL ? 0 : strtoul(optarg, NULL, 10);

	switch (o) {
	case OPT_SERVER: parse_server(optarg); break;
	case OPT_PASSWORD: read_password(optarg); break;
	case OPT_USER: opt.user = optarg; break;
	case OPT_WORKLOAD: opt.workload = workload_find(optarg); break;
	case OPT_CONNECTIONS: opt.connections = (unsigned)n; break;
	case OPT_PART: parse_part(optarg); break;
	case OPT_IDLE: opt.idle = (unsigned)n; break;
	case OPT_SECONDS: opt.seconds = strtod(optarg, NULL); break;
	case OPT_WARMUP: opt.warmup = strtod(optarg, NULL); break;
	case OPT_PID: opt.pid = (int)n; break;
	case OPT_BEHIND: opt.behind = (int)n; break;
	case OPT_TLS: opt.tls = true; break;
	case OPT_STORM: opt.storm = true; break;
	case OPT_BYTES: opt.sizes.bytes = n; break;
	case OPT_ITEMS: opt.sizes.items = n; break;
	case OPT_JOBS: opt.sizes.jobs = n; break;
	case OPT_FIRST_JOB: opt.sizes.first_job = n; break;
	case OPT_LAST_JOB: opt.sizes.last_job = n; break;
	case OPT_TEXT: opt.sizes.text = optarg; break;
	case OPT_REQUEST: opt.sizes.request = n < 8 ? 8 : n; break;
	case OPT_ANSWER: opt.sizes.answer = n < 8 ? 8 : n; break;
	default: usage();
	}
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "server", 1, 0, OPT_SERVER },
		{ "password-file", 1, 0, OPT_PASSWORD },
		{ "user", 1, 0, OPT_USER },
		{ "workload", 1, 0, OPT_WORKLOAD },
		{ "connections", 1, 0, OPT_CONNECTIONS },
		{ "part", 1, 0, OPT_PART },
		{ "idle", 1, 0, OPT_IDLE },
		{ "seconds", 1, 0, OPT_SECONDS },
		{ "warmup", 1, 0, OPT_WARMUP },
		{ "pid", 1, 0, OPT_PID },
		{ "behind", 1, 0, OPT_BEHIND },
		{ "tls", 0, 0, OPT_TLS },
		{ "login-storm", 0, 0, OPT_STORM },
		{ "bytes", 1, 0, OPT_BYTES },
		{ "items", 1, 0, OPT_ITEMS },
		{ "jobs", 1, 0, OPT_JOBS },
		{ "first-job", 1, 0, OPT_FIRST_JOB },
		{ "last-job", 1, 0, OPT_LAST_JOB },
		{ "text", 1, 0, OPT_TEXT },
		{ "request", 1, 0, OPT_REQUEST },
		{ "answer", 1, 0, OPT_ANSWER },
		{ 0 },
	};
	int o;

	opt = (struct options){ .user = "sa",
				.connections = 32,
				.parts = 1,
				.seconds = 5,
				.warmup = 1,
				.sizes = { .bytes = 1024,
					   .request = 64,
					   .answer = 64,
					   .items = 1000,
					   .jobs = 100,
					   .first_job = 1,
					   .last_job = UINT64_MAX,
					   .text = "select 1" } };
	while ((o = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		take(o);
	if (opt.workload == NULL || opt.address.sin_port == 0 || opt.connections + opt.idle == 0)
		usage();
	if (opt.workload->protocol->login && opt.password[0] == '\0')
		die("--password-file", "is wanted");
}

static double own_cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void print_kinds(void)
{
	const char *const *names = opt.workload->kinds, *comma = "";

	printf("\"kinds\":{");
	for (size_t i = 0; names != NULL && names[i] != NULL && i < KINDS_MAX; i++) {
		if (totals.kinds[i].count == 0)
			continue;
		printf("%s\"%s\":{", comma, names[i]);
		histogram_print_members(&totals.kinds[i], stdout);
		putchar('}');
		comma = ",";
	}
	printf("},");
}

struct measure {
	uint64_t at_ns;
	double own_cpu_s;
	struct usage server;
	double behind_cpu_s;
};

static struct measure measure(void)
{
	return (struct measure){ now_ns(), own_cpu(), usage_of(opt.pid), usage_of_family(opt.behind) };
}

static void report(const struct measure *idle, const struct measure *from, const struct measure *to)
{
	double n = totals.all.count == 0 ? 1 : (double)totals.all.count,
	       seconds = (double)(to->at_ns - from->at_ns) / 1e9;

	printf("{\"workload\":\"%s\",\"connections\":%u,\"idle\":%u,\"storm\":%s,\"tls\":%s,\"seconds\":%.3f,"
	       "\"calls_per_s\":%.1f,",
	       opt.workload->name, opt.connections, opt.idle, opt.storm ? "true" : "false",
	       opt.tls ? "true" : "false", seconds, (double)totals.all.count / seconds);
	histogram_print_members(&totals.all, stdout);
	printf(",\"server_cpu_s\":%.2f,\"server_cpu_us_per_call\":%.2f,\"load_cpu_us_per_call\":%.2f,"
	       "\"written_bytes_per_call\":%.0f,",
	       to->server.cpu_s - from->server.cpu_s, (to->server.cpu_s - from->server.cpu_s) * 1e6 / n,
	       (to->own_cpu_s - from->own_cpu_s) * 1e6 / n,
	       (double)(to->server.written - from->server.written) / n);
	if (opt.behind > 0)
		printf("\"behind_cpu_us_per_call\":%.2f,", (to->behind_cpu_s - from->behind_cpu_s) * 1e6 / n);
	printf("\"request_bytes\":%.0f,\"answer_bytes\":%.0f,", (double)totals.sent_bytes / n,
	       (double)totals.received_bytes / n);
	printf("\"rss_before_kb\":%ld,\"rss_kb\":%ld,\"peak_kb\":%ld,", idle->server.rss_kb,
	       to->server.rss_kb, to->server.peak_kb);
	print_kinds();
	printf("\"histogram_us\":");
	histogram_print_steps(&totals.all, stdout);
	printf("}\n");
}

/* A client on another machine could not take the core from a server in the middle of its
 * answers; woken by the first of them, this one would. Who runs all of this in turns (chrt -r,
 * beside others on the machine) has that already. */
static void wait_for_a_free_core(void)
{
	const struct sched_param none = { 0 };

	if (sched_getscheduler(0) != SCHED_RR && sched_setscheduler(0, SCHED_BATCH, &none) < 0)
		perror("load: SCHED_BATCH");
}

int main(int argc, char **argv)
{
	struct measure idle, from, to;

	parse(argc, argv);
	wait_for_a_free_core();
	measuring = opt.workload->once;
	usage_reset_peak(opt.pid);
	idle = from = measure();
	clients_open();
	if (!opt.workload->once) {
		clients_run(opt.warmup);
		measuring = true;
		usage_reset_peak(opt.pid);
		from = measure();
	}
	clients_run(opt.workload->once ? 3600 : opt.seconds);
	to = measure();
	report(&idle, &from, &to);
	return 0;
}
