"""What both job services promise: every test runs on both, under both errata settings, by four ways of calling."""
from support.jobs import FEW, jobs_fixture

db = jobs_fixture("word", "translation")
# Each service, setting and way at least once: for tables of documents and values.
few = jobs_fixture(among=FEW)
# For what does not depend on the way of calling, or has its own client.
one_way = jobs_fixture("word", "translation", settings=(("corrected", "pytds-rpc"), ("literal", "pytds-rpc")))
