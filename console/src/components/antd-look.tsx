import { ConfigProvider, theme } from "antd";
import en from "antd/locale/en_US";
import zhCn from "antd/locale/zh_CN";
import { type ReactNode, useMemo } from "react";
import { nonce } from "../page-facts.ts";
import { useTheme } from "../use-theme.ts";
import { useWords } from "../use-words.ts";

/**
 * Around what is made of antd: fields of numbers, choices, sliders. They come with the first form
 * that is opened, so that the numbers of a live sale need not wait for them.
 */
export function AntdLook({ children }: { readonly children: ReactNode }) {
  const { isDark } = useTheme();
  const { language } = useWords();
  const look = useMemo(() => lookOf(isDark), [isDark]);
  return (
    <ConfigProvider theme={look} locale={language === "zh-CN" ? zhCn : en} csp={{ nonce }}>
      {children}
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
      colorBgLayout: isDark ? "#0e1518" : "#f4f6f7",
      motion: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
    },
  };
}
