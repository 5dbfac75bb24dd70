#!/usr/bin/env bash
# Builds the optimised server and the load generator, installs the peers that are missing, and runs the measurements of bench/.
# Flags go to bench/run.py: --only NAME, --full, --help.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=build/bench
case " $* " in
*" --report "* | *" --help "* | *" -h "*) ;;
*)
    tools/setup.sh bench
    mkdir -p build
    if [ ! -f $dir/build.ninja ]; then
        meson setup $dir --buildtype=release -Db_lto=true -Dtests=false -Dwerror=false >build/setup-bench.log 2>&1 ||
            { cat build/setup-bench.log >&2; exit 1; }
    fi
    ninja -C $dir --quiet
    # The load generator has OpenSSL inside: calls into a shared library cost it a quarter of a microsecond a call. The echo has it as the server has.
    cc -std=gnu11 -O2 -Wall -Wextra -Isrc -o $dir/load bench/*.c -l:libssl.a -l:libcrypto.a -pthread
    # The converter without a server.
    cc -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -Isrc -o $dir/enginedriver tests/support/enginedriver.c -Wl,--start-group $dir/src/{base,document,jail,convert}/*.a -Wl,--end-group -lseccomp -lzip -lxml2 -lcurl -pthread
    cc -std=gnu11 -O2 -Wall -Wextra -Isrc -o $dir/echo bench/peers/echo.c -luv -lssl -lcrypto -pthread
    cc -std=gnu11 -O2 -Wall -Wextra -Isrc -o $dir/store bench/peers/store.c bench/usage.c -Wl,--start-group $dir/src/{base,catalogue,engine/sqlite/store,value}/*.a -Wl,--end-group -lsqlite3 -lz -pthread
    cc -std=gnu11 -O2 -Wall -Wextra -Isrc "-DTRANSLATE_PROGRAMS=\"$PWD/$dir/src/translate\"" -o $dir/translate-drive tests/support/translate_drive.c -Wl,--start-group $dir/src/{base,document,jail,translate}/*.a -Wl,--end-group -lxml2 -lzip -ljansson -lseccomp -lcurl -pthread
    ;;
esac
python=/usr/bin/python3
[ -x $python ] || python=python3
exec $python bench/run.py "$@"
