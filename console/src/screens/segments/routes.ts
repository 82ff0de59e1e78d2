/** The screens of segments. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const segmentScreens: readonly ScreenRoute[] = [
  {
    path: 'segments',
    menu: 'segments',
    needs: 'contacts:read',
    load: async () => (await import('./segments-screen.tsx')).SegmentsScreen,
  },
  {
    path: 'segments/new',
    needs: 'contacts:read',
    load: async () => (await import('./segment-screen.tsx')).NewSegmentScreen,
  },
  {
    path: 'segments/$id',
    needs: 'contacts:read',
    load: async () => (await import('./segment-screen.tsx')).SegmentScreen,
  },
]
