/** Files: inbound ones and uploads. */
import type { Module } from '../../module.ts'
import { ofAccount } from '../../platform/database/table-scope.ts'
import { mountFiles } from '../../platform/http/file-routes.ts'
import type { ChannelService } from '../channels/service.ts'
import { mediaService, type MediaService } from './service.ts'

export const mediaModule: Module<{ readonly channels: ChannelService }, { readonly media: MediaService }> = {
  name: 'media',
  tables: { media_files: ofAccount },
  build({ platform }, { channels }) {
    const media = mediaService(platform, channels)
    return {
      services: { media },
      mount: (server) => mountFiles(server, '/media/:id', media.open),
      workers: [media.worker],
      periodicJobs: media.periodicJobs,
      invariants: media.invariants,
      stop: { connections: () => media.close() },
    }
  },
}
