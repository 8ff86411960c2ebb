#!/usr/bin/env bash
# Ruby's pg gives the status, the count and the notices of each statement; ActiveRecord keeps ids, versions and counters, and its
# migrations dump the schema that they have made.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

needs ruby ruby
ruby -e "require 'pg'" 2>/dev/null || skip 'pg is not installed: apt-get install ruby-pg'
ruby -e "require 'active_record'" 2>/dev/null || skip 'ActiveRecord is not installed: apt-get install ruby-activerecord'

server source ''
export PATH=$bin:$PATH # its schema's dump runs pg_dump
application ruby tests/houses/shop.rb
ok
