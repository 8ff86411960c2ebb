#!/usr/bin/env bash
# DBD::Pg promises that last_insert_id() is the number of the row just inserted, of its table or by lastval(), and the count of each
# statement; DBIx::Class keeps the ids that it asks for so.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

needs perl perl
perl -MDBD::Pg -e1 2>/dev/null || skip 'DBD::Pg is not installed: apt-get install libdbd-pg-perl'
perl -MDBIx::Class -e1 2>/dev/null || skip 'DBIx::Class is not installed: apt-get install libdbix-class-perl'

server source ''
application perl tests/houses/shop.pl
ok
