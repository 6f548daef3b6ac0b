/** One operation of the served OpenAPI document. */
export type Operation = Readonly<{
  operationId: string;
  method: string;
  /** With its parameters in braces, such as `/runs/{runId}`. */
  path: string;
  /** Open operations need no key. */
  open: boolean;
  needsBody: boolean;
  /** Whether its path names a resource of a workspace. */
  addressed: boolean;
}>;

type Described = { operationId?: string; security?: unknown[]; requestBody?: { required?: boolean } };

/** Every operation that `/openapi.json` of this api describes. Throws on one without an id. */
export async function readOperations(apiUrl: string): Promise<readonly Operation[]> {
  const response = await fetch(`${apiUrl}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Described>> };
  return Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, described]) => {
    if (described.operationId === undefined) throw new Error(`${method} ${path} has no operationId`);
    return {
      operationId: described.operationId, method: method.toUpperCase(), path,
      open: described.security?.length === 0, needsBody: described.requestBody?.required === true, addressed: path.includes("{"),
    };
  }));
}
