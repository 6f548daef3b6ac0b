// Preloaded by NODE_OPTIONS: the process sees the host name of CASE_HOST, as it would in a container of that name.
const os = require("node:os");
const { syncBuiltinESMExports } = require("node:module");

os.hostname = () => process.env.CASE_HOST;
syncBuiltinESMExports();
