/** The SQLSTATE or system code that an error bears, if any. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return undefined;
}
