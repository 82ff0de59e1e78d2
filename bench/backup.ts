/** Bench `backup`: backup and restore of a million messages beside the running service. */
import { copyFile, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { posthorn, thisCheckout } from './checkout.ts'
import { endDatabase } from './database.ts'
import { single, type Measurement } from './figures.ts'
import { loadMessages } from './million.ts'
import { environment, startService } from './service.ts'

const withinMs = 600_000
const secondsMost = 60

export const backups: Measurement = {
  name: 'backup',
  title: 'Backup and restore',
  async run({ quick, say }) {
    const count = quick ? 100_000 : 1_000_000
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-bench-backup-'))
    const restored = environment(join(folder, 'restored'))
    try {
      await using service = await startService({})
      say('backup: loading messages')
      await loadMessages(service, count)
      const file = join(folder, 'all.backup')
      say('backup: writing')
      const written = await seconds(() => posthorn(thisCheckout, service.env, ['backup', file], withinMs))
      const { size } = await stat(file)
      await mkdir(join(folder, 'restored'))
      await copyFile(join(service.data_dir, 'secret.key'), join(folder, 'restored', 'secret.key'))
      say('backup: restoring')
      const back = await seconds(() => posthorn(thisCheckout, restored, ['restore', file], withinMs))
      return {
        figures: [
          single(
            `writing ${count.toLocaleString('en')} messages with their charges`,
            's',
            written,
            quick ? undefined : { most: secondsMost },
          ),
          single('the file', 'MB', size / 1_000_000),
          single('restoring it into an embedded PostgreSQL', 's', back),
        ],
        notes: ['Each message has a charge in the ledger; events, attempts and deliveries are additional.'],
      }
    } finally {
      await endDatabase(join(folder, 'restored')).catch(() => undefined)
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}
