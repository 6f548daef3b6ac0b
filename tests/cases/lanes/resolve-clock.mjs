// The supervisor's program gets its clock from the file beside this one; whoever else asks gets the real one.
export async function resolve(specifier, context, next) {
  const asks = specifier === "./clock/start-clock.js" && context.parentURL?.endsWith("/apps/supervisor/dist/main.js");
  return asks ? { url: new URL("./start-clock.mjs", import.meta.url).href, shortCircuit: true } : next(specifier, context);
}
