/** What a delay of `core.delay` must be. */
export const delayRule = "a number of milliseconds, at least 0, that ends before the year 10000";

/** The first instant that no stored time may reach. */
const tooLate = Date.UTC(10_000, 0, 1);

/** Whether a value is a delay in milliseconds as `delayRule` says, counted from now. */
export const isDelayMs = (value: unknown): value is number => typeof value === "number" && value >= 0 && Date.now() + value < tooLate;
