import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "react-router";
import { SessionProvider } from "./api/session.tsx";
import { Toasts } from "./components/toasts.tsx";
import { client } from "./query-client.ts";
import { makeRouter } from "./routes.tsx";
import { useTheme } from "./use-theme.ts";

const router = makeRouter();

export function App() {
  useTheme();
  return (
    <QueryClientProvider client={client}>
      <SessionProvider>
        <Toasts>
          <RouterProvider router={router} />
        </Toasts>
      </SessionProvider>
    </QueryClientProvider>
  );
}
