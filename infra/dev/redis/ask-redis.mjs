import net from "node:net";

/**
 * Sends one inline command to a Redis at 127.0.0.1 and answers what it said up to `until` at least; undefined
 * when it does not answer in time.
 */
export function askRedis(port, command, { until = "\r\n", withinMs = 1_000 } = {}) {
  return new Promise((resolve) => {
    let said = "";
    const socket = net.connect({ host: "127.0.0.1", port }, () => socket.write(`${command}\r\n`));
    socket.setTimeout(withinMs, () => socket.destroy());
    socket.on("data", (data) => {
      said += data;
      if (said.includes(until)) socket.destroy();
    });
    socket.once("error", () => socket.destroy());
    socket.once("close", () => resolve(said.includes(until) ? said : undefined));
  });
}
