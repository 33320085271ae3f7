/** The console's own addresses. */
export const saleUrl = (saleId: string): string => `/sales/${encodeURIComponent(saleId)}`;
export const wallUrl = (saleId: string): string => `${saleUrl(saleId)}/wall`;
export const skuUrl = (sku: string): string => `/stock/${encodeURIComponent(sku)}`;
export const reservationUrl = (id: string): string => `/reservations/${encodeURIComponent(id)}`;
export const deadLetterUrl = (id: number | string): string => `/dead-letters/${id}`;
export const searchUrl = (q: string): string => `/search?q=${encodeURIComponent(q)}`;

/** The page of what a link of the API means; null where there is none. */
export function pageOfLink(link: string | null): string | null {
  if (link === null) return null;
  const [, kind, id] = /^\/v1\/(reservations|stock|sales|dead-letters)\/([^/]+)$/.exec(link) ?? [];
  return kind === undefined || id === undefined ? null : `/${kind}/${id}`;
}
