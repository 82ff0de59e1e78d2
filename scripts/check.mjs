/** Runs everything that CI runs. Continues after a failure. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root } from './toolchain.mjs'

const node = await prepare()
const tool = (name) => join(root, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name)
const steps = [
  ['types', tool('tsc'), ['--noEmit']],
  ['types of the console', tool('tsc'), ['--noEmit', '-p', 'console']],
  ['lint', tool('oxlint'), ['--type-aware', '--deny-warnings']],
  ['format', tool('oxfmt'), ['--check']],
  ['generated files', node, [join(root, 'scripts', 'gen.ts'), '--check']],
  ['tests', process.execPath, [join(root, 'scripts', 'test.mjs')]],
]
const failed = []
for (const [name, command, args] of steps) {
  if (!existsSync(command)) {
    failed.push(`${name} (${command} is missing)`)
    continue
  }
  console.log(`\n== ${name}`)
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) failed.push(name)
}
console.log(failed.length === 0 ? '\ncheck: all good' : `\ncheck: failed: ${failed.join(', ')}`)
process.exit(failed.length === 0 ? 0 : 1)
