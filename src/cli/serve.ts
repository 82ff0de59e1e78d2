/** `posthorn serve`: its options. The implementation is loaded when it runs. */
import { InvalidArgumentError, type Command } from 'commander'
import { roles as allRoles, type Role } from '../platform/platform.ts'
import { words } from './arguments.ts'
import type { Register } from './program.ts'
import type { ServedParts } from './server.ts'

export const serveCommand =
  (parts: ServedParts = {}): Register =>
  (program, cli) => {
    program
      .command('serve')
      .description('run the service until SIGTERM or SIGINT')
      .option('--roles <roles>', `comma-separated: ${allRoles.join(', ')}`, roleList, [...allRoles])
      .action(async (options: { roles: Role[] }, command: Command) => {
        const { serve } = await import('./server.ts')
        await serve(cli, command, options.roles, parts)
      })
  }

export const registerServe = serveCommand()

function roleList(text: string): Role[] {
  const found = words(text).map((word) => {
    const role = allRoles.find((known) => known === word)
    if (role === undefined) throw new InvalidArgumentError(`Unknown role ${word}. Use ${allRoles.join(', ')}.`)
    return role
  })
  if (found.length === 0) throw new InvalidArgumentError('Name at least one role.')
  return found
}
