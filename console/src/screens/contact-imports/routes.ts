/** The screen that imports contacts. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const contactImportScreens: readonly ScreenRoute[] = [
  { path: 'contacts/import', needs: 'import', load: async () => (await import('./import-screen.tsx')).ImportScreen },
]
