import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { ConfigProvider, theme } from "antd";
import en from "antd/locale/en_US";
import zhCn from "antd/locale/zh_CN";
import { useMemo } from "react";
import { RouterProvider } from "react-router";
import { ApiError } from "./api/call.ts";
import { SessionProvider } from "./api/session.tsx";
import { Toasts } from "./components/toasts.tsx";
import { nonce } from "./page-facts.ts";
import { makeRouter } from "./routes.tsx";
import { useTheme } from "./use-theme.ts";
import { useWords } from "./use-words.ts";

const client = new QueryClient({
  defaultOptions: {
    queries: { retry: mayComeOutOtherwise, staleTime: 1_000, refetchOnWindowFocus: true },
  },
});
const router = makeRouter();

/** A "no" stays a no; no answer at all is asked for again. */
function mayComeOutOtherwise(failures: number, error: Error): boolean {
  const isFinal = error instanceof ApiError && error.status !== 0 && error.status < 500;
  return !isFinal && failures < 2;
}

export function App() {
  const { isDark } = useTheme();
  const { language } = useWords();
  const look = useMemo(() => lookOf(isDark), [isDark]);
  return (
    <ConfigProvider
      theme={look}
      locale={language === "zh-CN" ? zhCn : en}
      csp={{ nonce }}
      button={{ autoInsertSpace: false }}
    >
      <QueryClientProvider client={client}>
        <SessionProvider>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </SessionProvider>
      </QueryClientProvider>
    </ConfigProvider>
  );
}

function lookOf(isDark: boolean) {
  return {
    algorithm: isDark ? theme.darkAlgorithm : theme.defaultAlgorithm,
    token: {
      colorPrimary: isDark ? "#4fc3b5" : "#0f766e",
      colorError: isDark ? "#f1867f" : "#b3261e",
      colorBgContainer: isDark ? "#162025" : "#ffffff",
      colorBgElevated: isDark ? "#1b272d" : "#ffffff",
      colorText: isDark ? "#e4ebee" : "#16232b",
      colorTextPlaceholder: isDark ? "#9aabb4" : "#5b6b75",
      borderRadius: 6,
      fontFamily: "var(--sans)",
      // Dark text on bright buttons, in the dark: white on them could not be read.
      colorTextLightSolid: isDark ? "#08191a" : "#ffffff",
      motion: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
    },
    components: {
      Button: {
        primaryColor: isDark ? "#08191a" : "#ffffff",
        dangerColor: isDark ? "#08191a" : "#ffffff",
      },
    },
  };
}
