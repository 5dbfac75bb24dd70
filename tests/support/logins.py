"""Logins for tests of rights."""
import uuid

from support import wiretypes as t
from support.wire import Param, Wire

PASSWORD = "Secret-12"


def new_login(server, database=None, rights="select"):
    """A new login with these rights in the database; without a database, with none anywhere. A grant that fails fails the test."""
    name = "clerk" + uuid.uuid4().hex[:8]
    with Wire(server).login(database="master") as admin:
        admin.rpc("procession_login_add", [Param(t.nvarchar(name), "@name"), Param(t.nvarchar(PASSWORD), "@password")]).ok()
        if database:
            admin.rpc("procession_grant", [Param(t.nvarchar(name), "@login"), Param(t.nvarchar(database), "@database"), Param(t.nvarchar(rights), "@rights")]).ok()
    return name
