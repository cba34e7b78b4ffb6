# SPDX-License-Identifier: MIT
# What the lint tests share. Sourced after tap.sh.

# The source files of some folders that match find's tests, relative to $PL_SRC, sorted.
#   lint_files "FOLDER..." FIND-TEST...
lint_files()
{
	lint_folders=
	for lint_folder in $1; do
		[ ! -d "$PL_SRC/$lint_folder" ] || lint_folders="$lint_folders $lint_folder"
	done
	shift
	[ -z "$lint_folders" ] || (cd "$PL_SRC" && find $lint_folders -type f \( "$@" \) | sort)
}

# A C file without comments and strings; line numbers stay.
lint_strip()
{
	awk '{
		line = $0; out = ""
		while (line != "") {
			if (in_comment) {
				end = index(line, "*/")
				if (!end)
					break
				line = substr(line, end + 2)
				in_comment = 0
			} else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|'\''([^'\''\\]|\\.)*'\''/)) {
				token = substr(line, RSTART, RLENGTH)
				out = out substr(line, 1, RSTART - 1) " "
				line = substr(line, RSTART + RLENGTH)
				if (token == "//")
					break
				in_comment = (token == "/*")
			} else {
				out = out line
				break
			}
		}
		print out
	}' "$1"
}

# Pass when the file has no line, else fail and show it.
#   lint_empty FILE NAME
lint_empty()
{
	if [ -s "$1" ]; then
		tap_fail "$2"
		tap_diag <"$1"
	else
		tap_pass "$2"
	fi
}

# End the test at once when the library it looks into was not built.
lint_need_shim()
{
	[ -f "$PL_SHIM" ] || {
		echo "Bail out! no shim at $PL_SHIM"
		exit 99
	}
}
