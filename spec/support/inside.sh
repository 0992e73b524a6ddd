#!/bin/sh
# inside.sh PROGRAM... - the specs that need nothing but PROGRAM, run by busted in its interpreter
# (`profio.exe`, or `wine profio.exe`). Prints what failed, and the sums.
#
# Left out: spec/cli and those that start servers, and of the others what wants, in this order, a
# compiler or another program before its first spec; links; names or code pages that Windows does
# not have; a file that shrinks or is removed while it is open; %G of os.date.
left_out='spec/cli/ clickhouse torture cluster http_spec
  c_interface_spec compare_gate descriptors_spec dbf_corpus inference/r_spec packed_symbols named_files
  standalone_spec call_sums_spec graph_trends_spec store/graphs_spec wrong_use cookbook_spec
  belonging_files
  dbf_code_page store/damage_spec store/database_spec
  many_files outputs_spec open_spec adding_spec
  store/trends_spec'
files=$(find spec -name '*_spec.lua' | sort)
for pattern in $left_out; do
  files=$(echo "$files" | grep -v "$pattern")
done

# A process for some files at a time: wine needs two seconds to begin, and what it leaves running
# would keep a pipe open.
said=$(mktemp)
echo "$files" | xargs -n 24 "$@" lua spec/support/inside.lua >"$said" 2>&1
tr -d '\r' <"$said" | awk -v least="$(echo "$files" | wc -l)" '
  /^(Failure|Error) ->/ { shown = 9 }
  shown-- > 0
  /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { passed += $1; failed += $3; skipped += $5; ended += 24 }
  END {
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0 || ended < least
  }'
status=$?
rm -f "$said"
exit "$status"
