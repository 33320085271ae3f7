import type { ComponentType } from "react";
import {
  createBrowserRouter,
  type LoaderFunctionArgs,
  Navigate,
  type RouteObject,
} from "react-router";
import { Broken } from "./components/broken.tsx";
import { RequireSession } from "./components/require-session.tsx";
import { Shell } from "./components/shell.tsx";
import { prefetchLedger } from "./live/entries.ts";
import { basePath } from "./page-facts.ts";
import { NotFoundPage } from "./pages/not-found.tsx";
import { client } from "./query-client.ts";

/** A page's code comes when it is first looked at. */
function page<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
) {
  return async () => ({ Component: (await load())[name] });
}

const sale = page(() => import("./pages/sale.tsx"), "SalePage");
const wall = page(() => import("./pages/wall.tsx"), "WallPage");

/** `consolePages` in the server's `console.ts` has the first parts of these. */
export function makeRouter() {
  return createBrowserRouter(
    [
      {
        ErrorBoundary: Broken,
        HydrateFallback: Nothing,
        children: [
          { path: "/sign-in", lazy: page(() => import("./pages/sign-in.tsx"), "SignInPage") },
          {
            Component: RequireSession,
            children: [
              { path: "/sales/:saleId/wall", lazy: wall },
              { Component: Shell, ErrorBoundary: Broken, children: pages.map(withBroken) },
            ],
          },
        ],
      },
    ],
    { basename: basePath === "" ? "/" : basePath },
  );
}

/** What breaks in a page leaves the way to the others. */
function withBroken(route: RouteObject): RouteObject {
  return { ...route, ErrorBoundary: Broken };
}

/** While the first page's code comes: what stands there already is blank. */
function Nothing() {
  return null;
}

const pages: readonly RouteObject[] = [
  { path: "/", element: <Navigate to="/sales" replace /> },
  { path: "/sales", lazy: page(() => import("./pages/sales.tsx"), "SalesPage") },
  { path: "/sales/:saleId", lazy: sale },
  { path: "/search", lazy: page(() => import("./pages/search.tsx"), "SearchPage") },
  {
    path: "/reservations/:reservationId",
    lazy: page(() => import("./pages/reservation.tsx"), "ReservationPage"),
  },
  { path: "/stock", lazy: page(() => import("./pages/stock.tsx"), "StockPage") },
  {
    path: "/stock/:sku",
    loader: ({ params }: LoaderFunctionArgs) => {
      void prefetchLedger(client, params["sku"] ?? "");
      return null;
    },
    lazy: page(() => import("./pages/ledger.tsx"), "LedgerPage"),
  },
  {
    path: "/reconciliation",
    lazy: page(() => import("./pages/reconciliation.tsx"), "ReconciliationPage"),
  },
  {
    path: "/dead-letters/:id?",
    lazy: page(() => import("./pages/dead-letters.tsx"), "DeadLettersPage"),
  },
  { path: "/doctor", lazy: page(() => import("./pages/doctor.tsx"), "DoctorPage") },
  { path: "/audit", lazy: page(() => import("./pages/audit.tsx"), "AuditPage") },
  { path: "*", Component: NotFoundPage },
];
