import { type Static, Type } from "typebox";
import { userRoles } from "../domain/user-role.ts";
import {
  Flag,
  Id,
  MaybeCount,
  MaybeInstant,
  MaybeText,
  Name,
  object,
  oneOf,
  textLengthMax,
} from "./schema.ts";

/** The part of the contract that only the console uses; `contract.ts` passes its types on. */

export const SignInRequest = object({
  name: Id,
  password: Type.String({ minLength: 1, maxLength: textLengthMax }),
});
export const SignOutQuery = object({ everywhere: Type.Optional(Flag) });
export const SessionBody = object({
  name: Name,
  role: oneOf(userRoles),
  /** `local`: this machine is served without signing in; there is nothing to sign out of. */
  via: oneOf(["password", "key", "local"]),
  /** To be sent as `X-CSRF-Token` with every call that is not a GET; null where none is needed. */
  csrfToken: MaybeText,
  openedAt: MaybeInstant,
  endsAt: MaybeInstant,
  /** Signed out after so long without a call; null: never. */
  idleSeconds: MaybeCount,
  /** `POST /v1/demo/rush` is there. */
  demo: Type.Boolean(),
});
export type SessionBody = Static<typeof SessionBody>;
