// SPDX-License-Identifier: MIT
// V8 with a big Map, typed arrays and Buffers; prints only what is the same every run.
// Argument: entries of the map.
"use strict";
const crypto = require("crypto");

const count = Number(process.argv[2]);
let word = 2463534242;
function next() {
	word ^= word << 13;
	word ^= word >>> 17;
	word ^= word << 5;
	return (word >>>= 0);
}

const map = new Map();
for (let i = 0; i < count; i++)
	map.set(next(), i % 16 ? i : { id: i, name: "n" + i });
let sum = 0;
for (const [key, value] of map)
	sum = (sum * 31 + key + (typeof value === "number" ? value : value.name.length)) % 2147483647;
console.log("map", map.size, sum);

const words = new Uint32Array(24 << 20);
for (let i = 0; i < words.length; i++)
	words[i] = Math.imul(i, 2654435761) ^ (i >>> 3);
console.log("words", crypto.createHash("sha1").update(Buffer.from(words.buffer)).digest("hex"));

const reals = new Float64Array(4 << 20).map((_, i) => Math.sqrt(i));
reals.subarray(0, 1 << 20).sort((a, b) => b - a);
console.log("reals", reals[0], reals[12345], reals.reduce((a, b) => a + b, 0));

const hash = crypto.createHash("sha256");
for (let i = 0; i < 64; i++) {
	const buffer = Buffer.alloc(1 << 20, i);
	buffer.writeUInt32LE(next(), i * 4);
	hash.update(Buffer.concat([buffer, Buffer.from("end" + i)]));
}
console.log("buffers", hash.digest("hex"));
