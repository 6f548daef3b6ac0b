import { defineConfig } from "prisma/config";

/** For Prisma's command line, which drafts migrations and checks drift. The product applies them with its own runner. */
export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  datasource: { url: process.env["DATABASE_URL"] ?? "" },
});
