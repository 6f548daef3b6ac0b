import { expect, test } from "vitest";
import { brokerFault } from "./broker-fault.js";

test("a failure is counted by the first word of the server's answer, else by what became of the connection", () => {
  expect(brokerFault(new Error("READONLY You can't write against a read only replica. script: 0f, on @user_script:1."))).toBe("read_only");
  expect(brokerFault(new Error("NOREPLICAS Not enough good replicas to write."))).toBe("no_replicas");
  expect(brokerFault(new Error("OOM command not allowed when used memory > 'maxmemory'."))).toBe("out_of_memory");
  expect(brokerFault(new Error("BUSY Redis is busy running a script."))).toBe("busy");
  expect(brokerFault(new Error("MOVED 3999 127.0.0.1:6381"))).toBe("moved");
  expect(brokerFault(new Error("Command timed out"))).toBe("timed_out");
  expect(brokerFault(Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" }))).toBe("connection");
  expect(brokerFault(new Error("Connection is closed."))).toBe("connection");
  expect(brokerFault("what is this")).toBe("other");
});
