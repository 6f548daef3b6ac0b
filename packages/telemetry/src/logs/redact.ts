/** What takes the place of a secret, and of a text that could not be looked through. */
export const redacted = "[redacted]";

const apiKey = /\bmst_([A-Za-z0-9]+)_[A-Za-z0-9_-]+/g;
const urlPassword = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s@/]+@/gi;
const bearer = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/g;
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g;

/** Field names whose whole value is a secret, or may be a payload. */
const secretField = /^(?:authorization|cookie|set-cookie|password|passwd|secret|token|apikey|api_key|signingkey|privatekey|key|input|inputs|output|outputs|payload|body)$/i;

/** Whether a field of this name is never printed. */
export function secretName(name: string): boolean {
  return secretField.test(name);
}

/** The text with API keys, passwords in URLs, authorisation values and private keys masked. The id of an API key stays. */
export function redact(text: string): string {
  return text
    .replace(privateKey, redacted)
    .replace(apiKey, `mst_$1_${redacted}`)
    .replace(urlPassword, `$1:${redacted}@`)
    .replace(bearer, `$1 ${redacted}`);
}
