#!/usr/bin/env bash
# JDBC promises the keys that were generated for the rows of a statement or a batch, and the count of each; EclipseLink keeps the ids of
# identity columns, which it asks for by lastval(), and makes the tables that are missing.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

needs javac default-jdk-headless
needs /usr/share/java/postgresql.jar libpostgresql-jdbc-java
needs /usr/share/java/eclipselink.jar libeclipselink-java

# The driver connects by TCP alone.
server source '' max_prepared_transactions=10 port=$((20000 + RANDOM % 10000))
jars=$(printf '%s:' /usr/share/java/{postgresql,eclipselink,eclipselink-jpa-2.1-spec,org.eclipse.persistence.jpa.jpql}.jar)
mkdir -p "$dir/java/META-INF"
cp tests/houses/persistence.xml "$dir/java/META-INF"
javac -proc:none -nowarn -cp "$jars" -d "$dir/java" tests/houses/Shop.java

application java -XX:TieredStopAtLevel=1 -cp "$jars$dir/java" Shop
ok
