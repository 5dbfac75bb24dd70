#!/usr/bin/python3
"""Makes a domain in a folder: provision.py FOLDER. Samba's own library does it; what needs more rights than a user has (the rights on sysvol) is left out."""
import logging
import pathlib
import sys

from samba.auth import system_session
from samba.param import LoadParm
from samba.provision import DS_DOMAIN_FUNCTION_2008_R2, provision
from samba.samdb import SamDB

REALM, DOMAIN = "CORP.TEST", "CORP"
CONFIG = """[global]
    realm = {realm}
    workgroup = {domain}
    netbios name = DC1
    server role = active directory domain controller
    server services = rpc, ldap, cldap, kdc, winbindd
    interfaces = lo
    bind interfaces only = yes
    private dir = {dir}/private
    state directory = {dir}/state
    cache directory = {dir}/cache
    lock directory = {dir}
    binddns dir = {dir}/bind-dns
    pid directory = {dir}
    ncalrpc dir = {dir}/ncalrpc
    log file = {dir}/log.%m
    winbindd privileged socket directory = {dir}/privileged
[sysvol]
    path = {dir}/state/sysvol
[netlogon]
    path = {dir}/state/sysvol/{realm}/scripts
"""


def main(folder):
    lp = LoadParm()
    lp.load_default()
    provision(logging.getLogger("provision"), system_session(), targetdir=folder, realm=REALM, domain=DOMAIN, hostname="dc1", hostip="127.0.0.1",
              adminpass="Admins-pw1", serverrole="active directory domain controller", dns_backend="NONE", skip_sysvolacl=True, lp=lp,
              dom_for_fun_level=DS_DOMAIN_FUNCTION_2008_R2, backend_store="tdb")
    config = pathlib.Path(folder) / "smb.conf"
    config.write_text(CONFIG.format(realm=REALM, domain=DOMAIN, dir=folder))
    lp = LoadParm()
    lp.load(str(config))
    db = SamDB(url=f"{folder}/private/sam.ldb", session_info=system_session(), lp=lp)
    for name in ("alice", "bob", "carol", "procession"):
        db.newuser(name, name.capitalize() + "s-pw1")
    db.disable_account("(sAMAccountName=carol)")
    db.modify_ldif(f"""dn: CN=procession,CN=Users,{db.domain_dn()}
changetype: modify
add: servicePrincipalName
servicePrincipalName: MSSQLSvc/db.corp.test:1433
-
add: msDS-SupportedEncryptionTypes
msDS-SupportedEncryptionTypes: 24
-
""")


main(sys.argv[1])
