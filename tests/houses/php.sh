#!/usr/bin/env bash
# PDO promises that lastInsertId() is the number of the row just inserted; Doctrine's ORM keeps the ids that it asks for so, and
# its schema tool finds nothing to change in a database that it has made.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

needs php php-cli
needs /usr/share/php/Doctrine/ORM/autoload.php php-doctrine-orm
[[ $(php -m) == *pdo_pgsql* ]] || skip 'the driver is not installed: apt-get install php-pgsql'

server source ''
application php tests/houses/php.php
ok
