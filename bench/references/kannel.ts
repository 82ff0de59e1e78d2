/** Kannel as a reference: bearerbox with a spool folder and one smsbox, receiving by `sendsms`. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/lib/system.ts'
import { reachable } from '../ports.ts'
import { endProcess, type Running } from '../service.ts'

const sbin = '/usr/sbin'

export const hasKannel = (): boolean =>
  spawnSync(join(sbin, 'smsbox'), ['--version']).error === undefined &&
  spawnSync(join(sbin, 'bearerbox'), ['--version']).error === undefined

export interface Kannel extends Running {
  readonly paths: readonly string[]
}

export async function startKannel(): Promise<Kannel> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-bench-kannel-'))
  await mkdir(join(folder, 'spool'))
  const [admin, boxes, smsc, sms] = [await freePort(), await freePort(), await freePort(), await freePort()]
  await writeFile(join(folder, 'kannel.conf'), configuration(folder, admin, boxes, smsc, sms))
  const children: ChildProcess[] = []
  const start = async (program: string, port: number) => {
    children.push(
      spawn(join(sbin, program), ['-v', '4', join(folder, 'kannel.conf')], { stdio: 'ignore', cwd: folder }),
    )
    await reachable(port)
  }
  const stop = async () => {
    for (const child of children.toReversed()) await endProcess(child)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await start('bearerbox', boxes)
    await start('smsbox', sms)
  } catch (error) {
    await stop()
    throw error
  }
  const text = encodeURIComponent('Your parcel 1 is on its way and arrives today.')
  const paths = Array.from(
    { length: 1000 },
    (_, n) => `/cgi-bin/sendsms?username=bench&password=bench&to=%2B1210${String(n).padStart(7, '0')}&text=${text}`,
  )
  return { pid: children[1]!.pid!, port: sms, paths, stop, [Symbol.asyncDispose]: stop }
}

const configuration = (folder: string, admin: number, boxes: number, smsc: number, sms: number): string => `
group = core
admin-port = ${admin}
admin-password = bench
smsbox-port = ${boxes}
box-allow-ip = 127.0.0.1
store-type = spool
store-location = ${folder}/spool
log-level = 4

group = smsc
smsc = fake
smsc-id = fake
port = ${smsc}
connect-allow-ip = 127.0.0.1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${sms}
global-sender = 12025550100
log-level = 4

group = sendsms-user
username = bench
password = bench
max-messages = 3
`
