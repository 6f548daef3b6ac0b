// The fault cases that this clone must hold, one file each. The rest of the list belongs to rooms that do not stand yet.
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => `C${String(from + index).padStart(2, "0")}`);

/** Their ids, in order. */
export const required = [...range(1, 11), ...range(15, 17), ...range(20, 36), ...range(40, 49), "C57", ...range(60, 64)];
