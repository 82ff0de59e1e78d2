/** The README tells the truth about settings and commands. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Command } from 'commander'
import { groups } from '../../src/cli/groups.ts'
import { readConfig, settingRows, settingsTable } from '../../src/config/config.ts'
import { root, sources } from './sources.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')

test('every setting has its row in the README, word for word', () => {
  const missing = settingRows().filter((row) => !readme.includes(`\n${row}\n`))

  assert.deepEqual(missing, [])
})

test('every default is itself a valid setting', () => {
  const written = Object.fromEntries(
    Object.entries(settingsTable).flatMap(([name, { fallback }]) => (fallback === undefined ? [] : [[name, fallback]])),
  )

  assert.deepEqual(readConfig(written), readConfig({}))
})

test('every command is in the README', () => {
  const program = new Command('posthorn')
  for (const register of groups) register(program, undefined as never)
  const names = program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [command.name()]
      : command.commands.map((child) => `${command.name()} ${child.name()}`),
  )

  const missing = names.filter((name) => name !== 'help' && !readme.includes(`\`${name}`))

  assert.deepEqual(missing, [])
})

/** Reads PATH to find programs, no setting. */
const exempt = ['src/main.ts', 'src/platform/database/binaries.ts']

test('no source reads settings from the environment but main.ts, which hands them on', () => {
  const readers = sources('src/**/*.ts').filter(
    ({ path, text }) => !exempt.includes(path) && !path.endsWith('.test.ts') && text.includes('process.env'),
  )

  assert.deepEqual(
    readers.map(({ path }) => path),
    [],
  )
})
