/* SPDX-License-Identifier: MIT */
#include "intercept/redirect.h"

#include <string.h>
#include <sys/mman.h>

#include "base/sys.h"
#include "intercept/elf_symbols.h"

enum { ENTRIES_MAX = 8, PATCH_MAX = 24 };

/* A jump to a 64-bit address that follows it, and what a compiled function may start with that must
 * stay in front: the landing pad of indirect branches. */
#if defined(__x86_64__)
static const unsigned char jump[] = { 0xff, 0x25, 0, 0, 0, 0 };    /* jmp *0(%rip) */
static const unsigned char landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
static const unsigned char call_kernel[] = { 0x0f, 0x05 };         /* syscall */
#elif defined(__aarch64__)
/* ldr x16, 8; br x16: x16 passes a bti c landing pad. */
static const unsigned char jump[] = { 0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6 };
static const unsigned char landing[] = { 0x5f, 0x24, 0x03, 0xd5 };     /* bti c */
static const unsigned char call_kernel[] = { 0x01, 0x00, 0x00, 0xd4 }; /* svc 0 */
#endif

typedef struct {
	const char *symbol;
	unsigned char *code;
	size_t size;
	uintptr_t target;
	size_t patched; /* bytes; 0 = untouched */
	unsigned char original[PATCH_MAX];
} entry_t;

static entry_t entries[ENTRIES_MAX];
static size_t entry_count;

const char *pl_condition_name(pl_condition_t condition)
{
	static const char *const names[] = {
#define CONDITION(id, name, meaning) name,
#include "intercept/conditions.def"
#undef CONDITION
	};

	return names[condition];
}

static size_t landing_length(const unsigned char *code)
{
	return memcmp(code, landing, sizeof(landing)) == 0 ? sizeof(landing) : 0;
}

static size_t patch_length(const unsigned char *code)
{
	return landing_length(code) + sizeof(jump) + sizeof(uintptr_t);
}

#if defined(__x86_64__)
/* jmp rel8, jmp rel32, jmp *m, int3, or a push/mov pair that ends in none of libc's own code. */
static bool is_patched(const unsigned char *code)
{
	return code[0] == 0xeb || code[0] == 0xe9 || code[0] == 0xcc ||
	       (code[0] == 0xff && (code[1] & 0x38) == 0x20) ||
	       (code[0] == 0x49 && code[1] == 0xbb) || (code[0] == 0x48 && code[1] == 0xb8);
}
#elif defined(__aarch64__)
/* b, br, brk, or ldr x16/x17 of a literal. */
static bool is_patched(const unsigned char *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word >> 26 == 0x05 || (word & 0xfffffc1f) == 0xd61f0000 ||
	       (word & 0xffe0001f) == 0xd4200000 || (word & 0xff00001e) == 0x58000010;
}
#endif

static bool contains_syscall(const unsigned char *code, size_t size)
{
	for (size_t i = 0; i + sizeof(call_kernel) <= size; i++)
		if (memcmp(code + i, call_kernel, sizeof(call_kernel)) == 0)
			return true;
	return false;
}

pl_condition_t pl_redirect_inspect(const unsigned char *code, size_t size)
{
	if (size < sizeof(landing) + sizeof(jump))
		return PL_CONDITION_TOO_SHORT;
	if (is_patched(code) || is_patched(code + landing_length(code)))
		return PL_CONDITION_ALREADY_PATCHED;
	if (size < patch_length(code))
		return PL_CONDITION_TOO_SHORT;
	return contains_syscall(code, size) ? PL_CONDITION_OK : PL_CONDITION_NO_SYSCALL;
}

static pl_condition_t find_entries(const pl_redirection_t *redirections, size_t count)
{
	pl_elf_object_t libc;

	if (!pl_elf_find_libc(&libc))
		return PL_CONDITION_NOT_LIBC;
	for (size_t i = 0; i < count; i++) {
		entry_t *entry = &entries[i];
		pl_condition_t condition;
		uintptr_t addr;

		if (!pl_elf_find_symbol(&libc, redirections[i].symbol, STT_FUNC, &addr,
					&entry->size))
			return PL_CONDITION_SYMBOL_MISSING;
		entry->symbol = redirections[i].symbol;
		entry->code = (unsigned char *)addr;
		entry->target = (uintptr_t)redirections[i].target;
		condition = pl_redirect_inspect(entry->code, entry->size);
		if (condition != PL_CONDITION_OK)
			return condition;
	}
	entry_count = count;
	return PL_CONDITION_OK;
}

/* The pages that the patches lie on, each once, in no order. Returns their number. */
static size_t list_pages(uintptr_t *pages)
{
	size_t count = 0;

	for (size_t i = 0; i < 2 * entry_count; i++) {
		const entry_t *entry = &entries[i / 2];
		uintptr_t at = (uintptr_t)entry->code + (i % 2 ? PATCH_MAX - 1 : 0);
		uintptr_t page = pl_round_down(at, pl_base_page);
		size_t known = 0;

		while (known < count && pages[known] != page)
			known++;
		if (known == count)
			pages[count++] = page;
	}
	return count;
}

static void protect(const uintptr_t *pages, size_t count, int prot, size_t *ret_done)
{
	size_t done = 0;

	while (done < count && pl_sys_mprotect(pages[done], pl_base_page, prot) == 0)
		done++;
	*ret_done = done;
}

static void write_jump(entry_t *entry)
{
	unsigned char *at = entry->code + landing_length(entry->code);

	entry->patched = patch_length(entry->code);
	memcpy(entry->original, entry->code, entry->patched);
	memcpy(at, jump, sizeof(jump));
	memcpy(at + sizeof(jump), &entry->target, sizeof(entry->target));
	__builtin___clear_cache((char *)entry->code, (char *)entry->code + entry->patched);
}

static void write_original(entry_t *entry)
{
	memcpy(entry->code, entry->original, entry->patched);
	__builtin___clear_cache((char *)entry->code, (char *)entry->code + entry->patched);
	entry->patched = 0;
}

/* One step to read-write-execute and one back. Never to read-write first: under PR_SET_MDWE the
 * step back to execute would be refused (and this one is, cleanly). Returns whether it was done. */
static bool rewrite(void (*write)(entry_t *entry))
{
	uintptr_t pages[2 * ENTRIES_MAX];
	size_t count = list_pages(pages);
	size_t writable;
	size_t restored;

	protect(pages, count, PROT_READ | PROT_WRITE | PROT_EXEC, &writable);
	if (writable == count)
		for (size_t i = 0; i < entry_count; i++)
			write(&entries[i]);
	protect(pages, writable, PROT_READ | PROT_EXEC, &restored);
	return writable == count;
}

pl_condition_t pl_redirect_all(const pl_redirection_t *redirections, size_t count)
{
	pl_condition_t condition = find_entries(redirections, count);

	if (condition != PL_CONDITION_OK)
		return condition;
	return rewrite(write_jump) ? PL_CONDITION_OK : PL_CONDITION_TEXT_NOT_WRITABLE;
}

void pl_redirect_undo(void)
{
	rewrite(write_original);
}

uintptr_t pl_redirect_entry(const char *name)
{
	for (size_t i = 0; i < entry_count; i++)
		if (strcmp(entries[i].symbol, name) == 0)
			return (uintptr_t)entries[i].code;
	return 0;
}
