/** The Vite build of the console, run by `scripts/build-console.mjs`. */
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/console/',
  // replaced by the server with the nonce of each response
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'baseline-widely-available',
    sourcemap: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // Mantine's "use client" directives have no meaning here
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
})
