import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import type { SessionBody } from "../../../src/http/contract.ts";
import { ApiError, call, onSignedOut, speakTo } from "./call.ts";

export type Session = SessionBody;
export type Role = Session["role"];

export const sessionKey = ["session"] as const;
export const askSession = { queryKey: sessionKey, queryFn: readSession, staleTime: 60_000 };
const ranks: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

export type SessionState =
  | { readonly kind: "loading" }
  | { readonly kind: "signed-out" }
  | { readonly kind: "away"; readonly error: unknown; readonly retry: () => void }
  | { readonly kind: "signed-in"; readonly session: Session };

const context = createContext<SessionState>({ kind: "loading" });

/** Who is here. The page hides what a role may not do; the server refuses it. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const asked = useQuery(askSession);
  useEffect(() => onSignedOut(() => client.setQueryData(sessionKey, null)), [client]);
  const { data, error, refetch } = asked;
  useEffect(() => speakTo({ csrf: data?.csrfToken ?? "" }), [data]);
  const state = useMemo<SessionState>(() => {
    if (data === null) return { kind: "signed-out" };
    if (data !== undefined) return { kind: "signed-in", session: data };
    if (error !== null) return { kind: "away", error, retry: () => void refetch() };
    return { kind: "loading" };
  }, [data, error, refetch]);
  return <context.Provider value={state}>{children}</context.Provider>;
}

async function readSession(): Promise<Session | null> {
  try {
    const session = await call<Session>("/v1/session");
    speakTo({ csrf: session.csrfToken ?? "" });
    return session;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

export function useSession(): SessionState {
  return useContext(context);
}

export function useRole(): Role {
  const state = useSession();
  return state.kind === "signed-in" ? state.session.role : "viewer";
}

/** Whether this person may do what needs at least that role. */
export function useMay(role: Role): boolean {
  return ranks[useRole()] >= ranks[role];
}

export async function signIn(secrets: { name: string; password: string }): Promise<Session> {
  const session = await call<Session>("/v1/session", { method: "POST", body: secrets });
  speakTo({ csrf: session.csrfToken ?? "" });
  return session;
}

export async function signOut(): Promise<void> {
  await call("/v1/session", { method: "DELETE" });
}
