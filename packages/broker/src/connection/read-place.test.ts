import { expect, test } from "vitest";
import { readPlace } from "./read-place.js";

test("a URL of one server says host, port, login, database and TLS", () => {
  expect(readPlace("redis://broker")).toEqual({ host: "broker", port: 6379 });
  expect(readPlace("rediss://ann:p%40ss@[::1]:7000/3?family=6")).toEqual({ host: "::1", port: 7000, username: "ann", password: "p@ss", db: 3, family: 6, tls: {} });
  expect(readPlace("redis://:only@broker:1")).toEqual({ host: "broker", port: 1, password: "only" });
});

test("a URL of Sentinels says each of them and the primary's name", () => {
  expect(readPlace("redis+sentinel://a:1,b/main")).toMatchObject({ sentinels: [{ host: "a", port: 1 }, { host: "b", port: 26_379 }], name: "main" });
  expect(readPlace("redis+sentinel://u:p@[::1]:2,b:3/main/4?sentinelPassword=s")).toMatchObject({
    sentinels: [{ host: "::1", port: 2 }, { host: "b", port: 3 }], name: "main", username: "u", password: "p", db: 4, sentinelPassword: "s",
  });
});

test("any other URL is refused", () => {
  expect(() => readPlace("http://broker")).toThrow("starts with redis://");
  expect(() => readPlace("redis+sentinel://a:1,b")).toThrow();
});
