/** Whether an `If-None-Match` header names this tag: `*`, or the tag in its list, weak or strong. */
export function isNotModified(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((one) => {
    const seen = one.trim();
    return seen === "*" || seen === tag || seen === `W/${tag}`;
  });
}
