/**
 * Whether a JSON number token means the same number once it has been a double: what `JSON.stringify` would write of it
 * denotes the same decimal. `0.1` does, `9007199254740993` and `1e400` do not.
 */
export function isExactNumber(token: string): boolean {
  if (token.length <= 15 && !/[eE]/.test(token)) return true; // 15 significant digits always survive
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  return decimalOf(token) === decimalOf(String(value));
}

/** One spelling per decimal: digits without zeros at either end, and the power of ten of the last one. */
function decimalOf(token: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${String(power)}`;
}
