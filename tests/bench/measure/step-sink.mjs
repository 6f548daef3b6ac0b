import net from "node:net";

/** Where executed code tells what it did: one line of JSON per batch, `[pid, [[id, step, at, "s" or "e"], …]]`. */
export async function openStepSink() {
  const state = fresh();
  const server = net.createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined); // a killed process breaks it
    socket.on("data", (chunk) => {
      const lines = (text + chunk).split("\n");
      text = lines.pop();
      for (const line of lines) take(state, JSON.parse(line));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    /** Forgets everything; `steps` is the number of the last step of a run. */
    reset: (steps) => Object.assign(state, fresh(), { steps }),
    ended: () => state.endedAt.size,
    endedAt: (id) => state.endedAt.get(id),
    /** Every report since the reset: { pid, id, step, at, what }. */
    reports: () => state.reports,
    close: () => server.close(),
  };
}

const fresh = () => ({ steps: 1, endedAt: new Map(), reports: [] });

function take(state, [pid, reports]) {
  for (const [id, step, at, what] of reports) {
    state.reports.push({ pid, id, step, at, what });
    if (what === "e" && step === state.steps && !state.endedAt.has(id)) state.endedAt.set(id, at);
  }
}
