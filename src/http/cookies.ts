/** The one cookie of this server: a session of the console. */
export const sessionCookie = "holdfast_session";

const tokenPattern = /^[A-Za-z0-9_-]{43}$/;
const headerLengthMax = 4_096;

/** The token in a `Cookie` header; null when there is none that could be ours. */
export function sessionTokenOf(header: string | undefined): string | null {
  if (header === undefined || header.length > headerLengthMax) return null;
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    if (part.slice(0, at).trim() !== sessionCookie) continue;
    const value = part.slice(at + 1).trim();
    if (tokenPattern.test(value)) return value;
  }
  return null;
}

export type CookieOptions = { readonly isSecure: boolean; readonly maxAgeSeconds: number };

/** No script can read it, and no other site can have it sent. */
export function setSessionCookie(token: string, options: CookieOptions): string {
  const { isSecure, maxAgeSeconds } = options;
  const kept = [`${sessionCookie}=${token}`, "Path=/", "HttpOnly", "SameSite=Strict"];
  if (isSecure) kept.push("Secure");
  return [...kept, `Max-Age=${maxAgeSeconds}`].join("; ");
}
