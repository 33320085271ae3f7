/** What the server wrote into the page: the path it stands under, and the nonce for styles. */
const facts = document.querySelector<HTMLMetaElement>('meta[name="holdfast"]');
const content = facts?.content ?? "";

export const basePath = content.startsWith("%") ? "" : content;
export const nonce = facts?.nonce ?? "";

/**
 * The one way from a text to markup (Trusted Types): the component library writes style sheets
 * through it. A text with a tag in it does not pass, whoever sends it.
 */
export function refuseMarkup(): void {
  const { trustedTypes } = window;
  trustedTypes?.createPolicy("default", {
    createHTML: (text) => {
      if (text.includes("<")) throw new TypeError("markup from a text is refused");
      return text;
    },
  });
}

declare global {
  interface Window {
    readonly trustedTypes?: {
      createPolicy(name: string, rules: { createHTML: (text: string) => string }): unknown;
    };
  }
}
