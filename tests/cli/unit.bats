#!/usr/bin/env bats
# unit.bats - the systemd unit of the Debian package

load common

@test "unit: systemd understands it, and its sandbox is tight" {
    command -v systemd-analyze || skip "no systemd-analyze"
    systemd-analyze security --help | grep -q -- --offline || skip "systemd-analyze is too old"
    sed "s|/usr/bin/neardup|$NEARDUP|" "$BATS_TEST_DIRNAME/../../debian/neardup-server.service" >neardup-server.service
    # The manual is not installed where the tests run.
    systemd-analyze verify ./neardup-server.service 2>&1 | grep -v "'man neardup-serve(1)'" >said || true
    cat said
    [ ! -s said ]
    systemd-analyze security --offline=true --threshold=15 ./neardup-server.service >exposure # 1.5 of 10
    grep -q 'Overall exposure level' exposure
}
