import { expect, test } from "vitest";
import { judgeAddress, parseRange } from "./judge-address.js";

test.each([
  "1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "::ffff:8.8.8.8",
])("%s is public", (address) => {
  expect(judgeAddress(address, [])).toBe("public");
});

test.each([
  ["loopback", "127.0.0.1"], ["loopback", "127.8.8.8"], ["loopback", "::1"],
  ["this network", "0.0.0.0"], ["this network", "0.1.2.3"], ["unspecified", "::"],
  ["private", "10.0.0.1"], ["private", "172.16.0.1"], ["private", "172.31.255.255"], ["private", "192.168.1.1"],
  ["shared", "100.64.0.1"], ["shared, metadata", "100.100.100.200"],
  ["link-local, metadata", "169.254.169.254"], ["link-local", "fe80::1"], ["with a zone", "fe80::1%eth0"],
  ["unique-local", "fc00::1"], ["unique-local, metadata", "fd00:ec2::254"], ["site-local", "fec0::1"],
  ["a host service", "168.63.129.16"],
  ["protocol assignments", "192.0.0.192"], ["documentation", "192.0.2.1"], ["documentation", "198.51.100.1"], ["documentation", "203.0.113.1"],
  ["documentation", "2001:db8::1"], ["benchmarking", "198.18.0.1"],
  ["multicast", "224.0.0.1"], ["multicast", "ff02::1"], ["reserved", "240.0.0.1"], ["broadcast", "255.255.255.255"],
  ["mapped loopback", "::ffff:127.0.0.1"], ["mapped private", "::ffff:a00:1"], ["mapped metadata", "::ffff:169.254.169.254"],
  ["compatible", "::127.0.0.1"], ["translated", "::ffff:0:127.0.0.1"],
  ["NAT64", "64:ff9b::7f00:1"], ["NAT64", "64:ff9b::808:808"], ["local NAT64", "64:ff9b:1::a00:1"],
  ["6to4", "2002:7f00:1::1"], ["Teredo", "2001:0:7f00:1::1"], ["no address", "localhost"], ["no address", ""],
])("%s %s is denied", (_, address) => {
  expect(judgeAddress(address, [])).toBe("denied");
});

test("an opened range is allowed, its neighbours stay denied", () => {
  const allow = ["127.0.0.0/8", "10.1.0.0/16", "fd00::/8", "::1"].map(parseRange);
  for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "fd12::1", "::1"]) expect(judgeAddress(address, allow)).toBe("allowed");
  for (const address of ["10.2.0.1", "192.168.0.1", "fe80::1", "::2"]) expect(judgeAddress(address, allow)).toBe("denied");
});

test("an IPv6 range opens no IPv4 address", () => {
  expect(judgeAddress("10.0.0.1", [parseRange("::/0")])).toBe("denied");
});
