import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const outDir = fileURLToPath(new URL("../dist/console", import.meta.url));

/** Packed once here, not at every request. */
function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    closeBundle() {
      const assets = join(outDir, "assets");
      for (const name of readdirSync(assets)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const body = readFileSync(join(assets, name));
        writeFileSync(join(assets, `${name}.gz`), gzipSync(body, { level: 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
        writeFileSync(join(assets, `${name}.br`), brotliCompressSync(body, { params: quality }));
      }
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative: the server says under which path it stands.
  base: "./",
  plugins: [react(), packed()],
  server: { proxy: { "/v1": "http://127.0.0.1:8787", "/docs": "http://127.0.0.1:8787" } },
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2022",
    manifest: true,
    // A `data:` address would need a wider policy for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
});
