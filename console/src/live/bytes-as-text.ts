/** Bytes as people can read them: text where they are text, else in hexadecimal. */
export function bytesAsText(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
    return hex.join(" ");
  }
}
