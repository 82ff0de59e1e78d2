/** E-mails of the installation to people: invitations, resets, warnings. */
import type { Module } from '../../module.ts'
import { ofInstallation } from '../../platform/database/table-scope.ts'
import { mailWorker } from './service.ts'

export const mailModule: Module = {
  name: 'mail',
  tables: { email_queue: ofInstallation, emails: ofInstallation },
  build: ({ platform }) => ({ services: {}, workers: [mailWorker(platform)] }),
}
