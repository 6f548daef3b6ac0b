// The door of every root script: `node infra/dev/run.mjs <script> [args…]`.
//
// Nothing above the version check may use syntax or modules that an old Node does not know.
// A script's module lies in scripts/<script>.mjs, exports `run(args)` and may return an exit status.
var floor = [20, 20, 2];
var version = process.versions.node.split(".").map(Number);
var difference = floor.map(function (wanted, i) { return version[i] - wanted; }).find(Boolean) || 0;

if (difference < 0) {
  console.error(
    "mainstay needs Node " + floor.join(".") + " or later, this is " + process.versions.node +
    " (" + process.execPath + "): install a newer one from https://nodejs.org and start again",
  );
  process.exitCode = 1;
} else {
  import("./run-script.mjs").then(function (module) { return module.runScript(process.argv.slice(2)); });
}
