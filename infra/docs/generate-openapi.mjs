/** `docs/reference/openapi.json`: the api's own description, printed from the schemas that validate. */
export async function generate() {
  const { describeApi } = await import("../../apps/api/dist/server/describe-api.js");
  return [{ path: "docs/reference/openapi.json", text: `${JSON.stringify(await describeApi(), undefined, 2)}\n` }];
}
