# SPDX-License-Identifier: MIT
# CPython with threads: big dicts, lists, bytes and hashes; prints only what is the same every run.
# Argument: entries of each thread's dict.

import hashlib
import sys
import threading

COUNT = int(sys.argv[1])
results = {}


def work(seed):
    table = {}
    word = seed * 2654435761 % 2**32 or 1
    for i in range(COUNT):
        word ^= word << 13 & 0xFFFFFFFF
        word ^= word >> 17
        word ^= word << 5 & 0xFFFFFFFF
        table[word] = str(i) if i & 7 == 0 else i
    order = sorted(table)
    text = ",".join(str(table[key]) for key in order)
    digest = hashlib.sha256(text.encode())
    block = bytearray(48 << 20)
    for at in range(0, len(block), 4096):
        block[at] = (at >> 12) * seed & 255
    digest.update(block)
    del block[16 << 20 : 40 << 20]
    block += bytes(8 << 20)
    digest.update(block)
    for key in order[::2]:
        del table[key]
    table.update((key, None) for key in range(COUNT // 2))
    results[seed] = (len(table), sum(order) % 2**61, digest.hexdigest())


threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for seed in sorted(results):
    print(seed, *results[seed])
