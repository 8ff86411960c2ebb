#!/usr/bin/env bash
# psycopg2, SQLAlchemy and Django promise that a row in memory has the id, the version and the count that the database gave; Alembic and
# Django's migrations find nothing to change in a database that they have made, and alter it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

python=/usr/bin/python3
needs $python python3
for module in psycopg2 sqlalchemy django alembic; do
  $python -c "import $module" 2>/dev/null || skip "$module is not installed: apt-get install python3-$module"
done

server source '' max_prepared_transactions=10
export PYTHONDONTWRITEBYTECODE=1
application $python tests/houses/shop.py
ok
