import { once } from "node:events";
import { createServer } from "node:net";

/** The api's port: the one that was asked for, else 8080 when it is free, else 0 for any free one. */
export async function choosePort(wanted) {
  if (wanted) return Number(wanted);
  const probe = createServer();
  try {
    probe.listen(8080, "127.0.0.1");
    await once(probe, "listening");
    return 8080;
  } catch {
    return 0;
  } finally {
    probe.close();
  }
}
