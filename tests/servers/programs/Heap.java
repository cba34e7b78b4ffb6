/* SPDX-License-Identifier: MIT */
/*
 * A Java heap filled to about 600 MB: rows of long, a big HashMap, and garbage in between. It
 * prints checksums that depend on every word, so two runs that differ in one bit print other lines.
 * Arguments: MB of rows, map entries, MB of garbage.
 */
import java.util.HashMap;

public final class Heap {
	private static final int ROW = 8192; /* 64 KB: far from humongous in every collector */
	private static long seed = 88172645463325252L;

	private static long next() {
		seed ^= seed << 13;
		seed ^= seed >>> 7;
		seed ^= seed << 17;
		return seed;
	}

	private static long[][] fill(int rows) {
		long[][] table = new long[rows][];
		for (int i = 0; i < rows; i++) {
			table[i] = new long[ROW];
			for (int j = 0; j < ROW; j++)
				table[i][j] = next();
		}
		return table;
	}

	private static HashMap<Long, String> map(int entries) {
		HashMap<Long, String> map = new HashMap<>();
		for (int i = 0; i < entries; i++)
			map.put(i * 2654435761L, (i & 15) == 0 ? Integer.toString(i) : null);
		return map;
	}

	/* Half of the garbage lives for a while in a ring, so that collectors copy and promote. */
	private static long churn(long bytes) {
		byte[][] ring = new byte[1024][];
		long sum = 0;
		for (long done = 0; done < bytes;) {
			int length = 256 + (int) (next() >>> 52);
			byte[] piece = new byte[length];
			piece[length / 2] = (byte) length;
			if ((next() & 1) == 0) {
				int at = (int) (next() & 1023);
				if (ring[at] != null)
					sum += ring[at].length + ring[at][ring[at].length / 2];
				ring[at] = piece;
			}
			done += length;
		}
		return sum;
	}

	private static long sum(long[][] table) {
		long sum = 0;
		for (long[] row : table)
			for (long word : row)
				sum = sum * 31 + word;
		return sum;
	}

	private static long sum(HashMap<Long, String> map, int entries) {
		long sum = 0;
		for (int i = 0; i < entries; i++) {
			String value = map.get(i * 2654435761L);
			sum = sum * 17 + (value == null ? i : value.hashCode());
		}
		return sum;
	}

	public static void main(String[] args) {
		int rows = Integer.parseInt(args[0]) * 16;
		int entries = Integer.parseInt(args[1]);
		long garbage = Long.parseLong(args[2]) << 20;

		long[][] table = fill(rows);
		System.out.println("rows " + Long.toHexString(sum(table)));
		HashMap<Long, String> map = map(entries);
		System.out.println("map " + map.size() + " " + Long.toHexString(sum(map, entries)));
		System.out.println("churn " + Long.toHexString(churn(garbage)));
		for (int i = 0; i < 3000000; i++) {
			long at = next() >>> 1;
			long[] row = table[(int) (at % rows)];
			row[(int) ((at >>> 20) % ROW)] ^= next();
		}
		System.out.println("again " + Long.toHexString(sum(table)));
		System.out.println("map " + map.size() + " " + Long.toHexString(sum(map, entries)));
	}
}
