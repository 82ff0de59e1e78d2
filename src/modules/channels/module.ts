/** Channels: an account's connections with messaging providers, and their templates. */
import type { Module } from '../../module.ts'
import { ofAccount, ofProcess } from '../../platform/database/table-scope.ts'
import type { Provider } from '../../providers/provider.ts'
import { channelRoutes } from './routes.ts'
import { channelService, type ChannelService } from './service.ts'
import { channelPeriodicJobs, channelWorkers } from './reconnect.ts'

declare module '../../module.ts' {
  interface Contributions {
    readonly providers: Provider
  }
}

export const channelsModule: Module<object, { readonly channels: ChannelService }> = {
  name: 'channels',
  tables: { channel_sessions: ofProcess, channel_templates: ofAccount, channels: ofAccount },
  build({ platform, contributions: { providers } }) {
    const channels = channelService(platform, { providers })
    return {
      services: { channels },
      routes: channelRoutes(channels),
      workers: channelWorkers(platform, channels),
      periodicJobs: channelPeriodicJobs(platform),
      caches: { 'forget-channels': () => channels.forget() },
      stop: { connections: () => channels.close() },
    }
  },
}
