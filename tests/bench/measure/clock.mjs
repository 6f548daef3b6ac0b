/** Milliseconds since the epoch with fractions, comparable between the processes of one machine. */
export const now = () => performance.timeOrigin + performance.now();
