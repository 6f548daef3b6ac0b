import net from "node:net";

/** One keep-alive HTTP/1.1 connection with one request in flight; the same client for every system. */
export async function openConnection(port) {
  const socket = net.connect(port, "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.setNoDelay(true);
  let buffered = "";
  let waiting;
  const fail = (error) => { waiting?.reject(error ?? new Error("the server closed the connection")); waiting = undefined; };
  socket.on("error", fail).on("close", () => fail());
  socket.on("data", (chunk) => {
    buffered += chunk.toString("latin1");
    const answer = read(buffered);
    if (answer === undefined || waiting === undefined) return;
    buffered = buffered.slice(answer.end);
    const { resolve } = waiting;
    waiting = undefined;
    resolve(answer);
  });
  return {
    /** Answers once the whole answer is there; throws when it is not 2xx. */
    async post({ path, headers = "", body }) {
      const text = JSON.stringify(body);
      const { status, text: said } = await new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(`POST ${path} HTTP/1.1\r\nhost: bench\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
      });
      if (status >= 300) throw new Error(`${path} answered ${status}: ${said}`);
    },
    close: () => socket.destroy(),
  };
}

function read(text) {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head));
  if (length === null) throw new Error("the bench reads only answers with a content-length");
  const end = head + 4 + Number(length[1]);
  return text.length < end ? undefined : { status: Number(text.slice(9, 12)), text: text.slice(head + 4, end), end };
}
