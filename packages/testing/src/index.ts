export { findBackend, type Backend } from "./backend/findBackend.js";
export { createTestDatabase, type TestDatabase } from "./postgres/createTestDatabase.js";
export { startOwnPostgres, type OwnPostgres } from "./postgres/startOwnPostgres.js";
export { createTestRedis, type TestRedis } from "./redis/createTestRedis.js";
export { startOwnRedis, type OwnRedis } from "./redis/startOwnRedis.js";
export { until } from "./until.js";
