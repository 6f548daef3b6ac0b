/** Chance that comes from the seed alone: the same seed draws the same numbers. */
export type Chance = {
  /** From 0 up to, not including, 1. */
  next: () => number;
  /** A whole number from 0 up to, not including, `n`. */
  below: (n: number) => number;
  flip: (probability: number) => boolean;
  /** Throws on an empty list. */
  pick: <Item>(items: readonly Item[]) => Item;
  uuid: () => string;
};

/** Chance by mulberry32: 32 bits of state, plenty for one seed's few thousand draws. */
export function createChance(seed: number): Chance {
  let state = (seed * 2_654_435_761) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 15), word | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return {
    next, below,
    flip: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error("nothing to pick from");
      return items[below(items.length)] as (typeof items)[number];
    },
    uuid: () => {
      const hex = Array.from({ length: 4 }, () => below(4_294_967_296).toString(16).padStart(8, "0")).join("");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
  };
}
