/** Contacts, lists, segments, consent and imports. */
import type { Module } from '../../module.ts'
import { ofAccount, ofAccountByHash, ofParent } from '../../platform/database/table-scope.ts'
import { exportRoutes } from './exports/routes.ts'
import { exportService } from './exports/service.ts'
import { importInvariants } from './imports/invariants.ts'
import { importRoutes } from './imports/routes.ts'
import { importService, type ImportService } from './imports/service.ts'
import { importsWorker } from './imports/worker.ts'
import { contactInvariants } from './invariants.ts'
import { listRoutes } from './lists/routes.ts'
import { contactRoutes } from './routes.ts'
import { segmentRoutes } from './segments/routes.ts'
import { contactService, type ContactService } from './service.ts'

interface ContactsServices {
  readonly contacts: ContactService
  readonly imports: ImportService
}

export const contactsModule: Module<object, ContactsServices> = {
  name: 'contacts',
  tables: {
    consent_changes: ofAccount,
    contact_addresses: ofAccount,
    contact_attributes: ofAccount,
    contact_counters: ofAccount,
    contact_import_chunks: ofParent('import_id', 'contact_imports'),
    contact_import_errors: ofAccount,
    contact_import_jobs: ofAccount,
    contact_imports: ofAccount,
    contact_list_members: ofAccount,
    contact_lists: ofAccount,
    contact_tags: ofAccount,
    contact_tombstones: ofAccount,
    contacts: ofAccount,
    segments: ofAccount,
    service_windows: ofAccount,
    suppressions: ofAccountByHash,
  },
  build({ platform }) {
    const contacts = contactService(platform)
    const imports = importService(platform)
    return {
      services: { contacts, imports },
      routes: [
        ...contactRoutes(contacts),
        ...listRoutes(contacts.lists),
        ...segmentRoutes(contacts.segments),
        ...importRoutes(imports),
        ...exportRoutes(exportService(platform, contacts)),
      ],
      workers: [importsWorker(platform)],
      periodicJobs: [...contacts.periodicJobs, ...imports.periodicJobs],
      invariants: [...contactInvariants(platform), ...importInvariants],
      stop: { dispatch: () => contacts.flushActivity() },
    }
  },
}
