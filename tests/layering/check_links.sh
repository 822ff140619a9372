#!/usr/bin/env bash
# check_links.sh TARGETS PLUGIN_FOLDER: what targets and built plugins link. TARGETS has one target a line, written by CMake:
# "folder target library...". A plugin links neither core nor another plugin, the SDK knows nothing of core, core knows no plugin,
# and an example links what a user's program links. readelf looks at what really came out.
set -euo pipefail
targets=$1 plugin_folder=$2
core="tenon tenon::tenon tenon_static tenon_objects"
breaches=0
breach() {
  echo "$1"
  breaches=$((breaches + 1))
}
has_word() { [[ " $1 " == *" $2 "* ]]; }

plugins=$(awk '$1 ~ /^plugins(\/|$)/ { printf "%s ", $2 }' "$targets")
while read -r folder target libraries; do
  case $folder in
    plugins*) forbidden="$core $plugins" ;;
    sdk*) forbidden="$core $plugins" ;;
    core*) forbidden=$plugins ;;
    tools*) forbidden=$plugins ;;
    examples*) forbidden="$plugins tenon_static tenon_objects tenon_wire" ;;
    *) continue ;;
  esac
  for library in $libraries; do
    has_word "$forbidden" "$library" && breach "$folder: $target links $library"
  done
done <"$targets"

count=0
for plugin in "$plugin_folder"/*.so; do
  [ -e "$plugin" ] || continue
  count=$((count + 1))
  while read -r needed; do
    case $needed in
      *libtenon.so* | *tenon-*.so*) breach "${plugin##*/} needs $needed" ;;
    esac
  done < <(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
done
[ "$count" -gt 0 ] || breach "no plugin in $plugin_folder"
[ "$breaches" -eq 0 ] || exit 1
echo "$(wc -l <"$targets") targets and $count plugins link what they may"
