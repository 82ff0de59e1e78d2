/** How the console is built: `scripts/build-console.mjs` calls this and compresses what comes of it. */
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/console/',
  // the server puts the nonce of each response in its place
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'baseline-widely-available',
    sourcemap: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // Mantine's files say "use client", which means nothing here
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
})
