#!/bin/sh
# Prints what an image consists of as SPDX 2.3 in JSON (a "software bill of materials"): the program, and the Debian
# packages that the files come from which are named on stdin, one a line. The same input gives the same output.
#
#   sbom.sh VERSION <FILES     SOURCE_DATE_EPOCH is when it was made
set -eu
version=$1
created=$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%dT%H:%M:%SZ)

# A file may be known by the path that it had before /lib became a link. A package that has moved one of another package
# is named before the one that has it.
package_of() {
  for path in "$1" "/usr$1" "${1#/usr}" "$(readlink -f "$1")"; do
    found=$(dpkg-query -S "$path" 2>/dev/null | grep -v '^diversion by ' | head -n 1) || found=
    if [ -n "$found" ]; then
      echo "${found%%: *}"
      return
    fi
  done
  echo "sbom.sh: no package has $1" >&2
}

packages=$(while read -r file; do package_of "$file"; done | sed 's/:.*//' | sort -u)

cat <<END
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "rowrelay-$version",
  "documentNamespace": "https://rowrelay.example/spdx/rowrelay-$version-$(echo "$packages" | sha256sum | cut -c 1-16)",
  "creationInfo": {"created": "$created", "creators": ["Tool: rowrelay-sbom"]},
  "packages": [
    {"SPDXID": "SPDXRef-rowrelay", "name": "rowrelay", "versionInfo": "$version", "downloadLocation": "NOASSERTION",
     "filesAnalyzed": false}
END
for package in $packages; do
  # shellcheck disable=SC2016 # dpkg fills it in
  dpkg-query -W -f '${Package} ${Version} ${Architecture} ${source:Package} ${source:Version}\n' "$package" | head -n 1 |
    while read -r name at architecture source source_at; do
      cat <<END
   ,{"SPDXID": "SPDXRef-deb-$(echo "$name" | sed 's/[^a-zA-Z0-9.-]/-/g')", "name": "$name", "versionInfo": "$at",
     "downloadLocation": "NOASSERTION", "filesAnalyzed": false, "sourceInfo": "built from $source $source_at",
     "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                       "referenceLocator": "pkg:deb/debian/$(echo "$name" | sed 's/+/%2B/g')@$(echo "$at" | sed 's/+/%2B/g; s/:/%3A/g')?arch=$architecture"}]}
END
    done
done
cat <<END
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-rowrelay"}
END
for package in $packages; do
  echo "   ,{\"spdxElementId\": \"SPDXRef-rowrelay\", \"relationshipType\": \"DEPENDS_ON\"," \
    "\"relatedSpdxElement\": \"SPDXRef-deb-$(echo "$package" | sed 's/[^a-zA-Z0-9.-]/-/g')\"}"
done
cat <<END
  ]
}
END
