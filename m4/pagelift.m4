# SPDX-License-Identifier: MIT
# pagelift's own configure macros: one that collects the compiler flags a compiler knows.

# PL_ADD_CFLAG(VARIABLE, FLAG)
# Append FLAG to VARIABLE when the C compiler takes it without a word. -Werror turns clang's
# "unknown warning option", which is only a warning, into the answer "no".
AC_DEFUN([PL_ADD_CFLAG], [
	AS_VAR_PUSHDEF([pl_cache], [pl_cv_cflag_$2])dnl
	AC_CACHE_CHECK([whether $CC takes $2], [pl_cache], [
		pl_saved_CFLAGS=$CFLAGS
		CFLAGS="$CFLAGS -Werror $2"
		AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
			[AS_VAR_SET([pl_cache], [yes])], [AS_VAR_SET([pl_cache], [no])])
		CFLAGS=$pl_saved_CFLAGS
	])
	AS_VAR_IF([pl_cache], [yes], [$1="$$1 $2"])
	AS_VAR_POPDEF([pl_cache])dnl
])
