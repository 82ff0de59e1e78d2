/** Channels, the connecting of one, and their templates. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const channelScreens: readonly ScreenRoute[] = [
  {
    path: 'channels',
    needs: 'channels:read',
    menu: 'channels',
    load: async () => (await import('./channels-screen.tsx')).ChannelsScreen,
  },
  {
    path: 'channels/new',
    needs: 'channels:write',
    load: async () => (await import('./connect-channel-screen.tsx')).ConnectChannelScreen,
  },
  {
    path: 'channels/$id',
    needs: 'channels:read',
    load: async () => (await import('./channel-screen.tsx')).ChannelScreen,
  },
  {
    path: 'templates',
    needs: 'channels:read',
    menu: 'templates',
    load: async () => (await import('./templates-screen.tsx')).TemplatesScreen,
  },
  {
    path: 'templates/$channel/$id',
    needs: 'channels:read',
    load: async () => (await import('./template-screen.tsx')).TemplateScreen,
  },
]
