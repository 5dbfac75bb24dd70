"""What both job services promise: every test runs on both, under both errata settings, by four ways of calling."""
from support.jobs import jobs_fixture

db = jobs_fixture("word", "translation")
# For what does not depend on the way of calling, or has its own client.
one_way = jobs_fixture("word", "translation", ways=("pytds-rpc",))
