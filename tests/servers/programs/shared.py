# SPDX-License-Identifier: MIT
# CPython with memory shared between processes: SharedMemory, multiprocessing.Array, and a shared
# anonymous mmap across fork. Children fill their parts, the parent checks; then each child checks
# another's. Prints checksums. Sizes are odd on purpose.

import mmap
import multiprocessing
import os
import zlib
from multiprocessing import shared_memory

CHILDREN = 3
SIZE = (64 << 20) + 12345
CHUNK = 1 << 20
NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # CPython has no name for it before 3.13


def part_of(who, size):
    """Bounds of a child's part, which no page ends with."""
    each = size // CHILDREN
    return who * each, size if who == CHILDREN - 1 else (who + 1) * each


def pattern(who, length):
    return (bytes((i * (who + 3) + who) & 255 for i in range(4093)) * (length // 4093 + 1))[:length]


def fill(memory, who, size):
    start, end = part_of(who, size)
    for at in range(start, end, CHUNK):
        stop = min(at + CHUNK, end)
        memory[at:stop] = pattern(who, stop - at)


def checksum(memory, who, size):
    start, end = part_of(who, size)
    value = 0
    for at in range(start, end, CHUNK):
        value = zlib.crc32(memory[at : min(at + CHUNK, end)], value)
    return value


def by_name(name, who, step, results):
    memory = shared_memory.SharedMemory(name)
    if step == "fill":
        fill(memory.buf, who, SIZE)
    results[who] = checksum(memory.buf, who, SIZE)
    memory.close()


def in_children(method, target, *arguments):
    """Results of one child per part, started in the given way."""
    context = multiprocessing.get_context(method)
    results = context.Array("Q", CHILDREN)
    children = [
        context.Process(target=target, args=(*arguments[:1], who, *arguments[1:], results))
        for who in range(CHILDREN)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    return list(results), [child.exitcode for child in children]


def named(method):
    memory = shared_memory.SharedMemory(create=True, size=SIZE)
    print(method, "size", memory.size, "zero", not any(memory.buf[-CHUNK:]))
    print(method, "filled", *in_children(method, by_name, memory.name, "fill"))
    print(method, "parent", [checksum(memory.buf, who, SIZE) for who in range(CHILDREN)])
    memory.buf[5] = memory.buf[SIZE - 7] = 99
    print(method, "again", *in_children(method, by_name, memory.name, "check"))
    other = shared_memory.SharedMemory(memory.name)
    print(method, "second map", [checksum(other.buf, who, SIZE) for who in range(CHILDREN)])
    other.close()
    memory.close()
    memory.unlink()
    try:
        shared_memory.SharedMemory(memory.name)
    except FileNotFoundError:
        print(method, "unlinked")


def add_to_array(array, who, results):
    for i in range(who, len(array), CHILDREN * 512):
        with array.get_lock():
            array[i] += i + who
            array[0] += 1
    results[who] = sum(array[who :: CHILDREN * 512]) if who else 0


def array():
    numbers = multiprocessing.get_context("fork").Array("q", (16 << 20) // 8 + 77)
    print("array", *in_children("fork", add_to_array, numbers))
    print("array", zlib.crc32(numbers.get_obj()), numbers[0], len(numbers))


def forked(size, flags):
    memory = mmap.mmap(-1, size, flags=flags)
    memory[size - 6 :] = b"parent"
    children = []
    for who in range(CHILDREN):
        pid = os.fork()
        if not pid:
            start, _ = part_of(who, size)
            found = memory[size - 6 :]
            fill(memory, who, size)
            memory[start] = 200 + who
            os._exit(0 if found == b"parent" or who < CHILDREN - 1 else 1)
        children.append(pid)
    status = [os.waitpid(pid, 0)[1] for pid in children]
    values = [checksum(memory, who, size) for who in range(CHILDREN)]
    print("mmap", size, status, values, len(memory))
    copy = bytes(memory)
    memory.flush()
    print("mmap", size, zlib.crc32(copy), memory.find(bytes([201])), memory[size - 1])
    memory.close()


if __name__ == "__main__":
    named("fork")
    named("spawn")
    array()
    for length in (SIZE, 32 << 20, (2 << 20) + 1, (2 << 20) - 4096, 3 * 4096 + 5):
        forked(length, mmap.MAP_SHARED)
    forked((33 << 20) + 1, mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
    forked((9 << 20) + 4097, mmap.MAP_SHARED | NORESERVE)
