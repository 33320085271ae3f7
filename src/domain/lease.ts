/**
 * The right to act, of one holder at a time. The token grows with every change of hands; the
 * ledger compares it in the transaction that the holder's act is part of.
 */
export type Lease = { readonly name: string; readonly token: number };
