/** The examples in guides are valid: fields, commands, options and links. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { Command } from 'commander'
import { groups } from '../../src/cli/groups.ts'
import { providers } from '../../src/providers/registry.ts'
import { operationAt } from '../support/documented.ts'
import { root } from './sources.ts'

const folder = join(root, 'docs/guides')
const pages = [
  { file: 'README.md', text: readFileSync(join(root, 'README.md'), 'utf8') },
  ...readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({ file: `docs/guides/${file}`, text: readFileSync(join(folder, file), 'utf8') })),
]
const offered = providers.filter((provider) => provider.offered === 'always')

const commonSettings = ['max_messages_per_second', 'mms']

/** null: the guide shows no request to connect. */
function connection(guide: string, provider: string): Record<string, unknown> | null {
  const bodies = [...guide.matchAll(/\/v1\/channels -H[^']*'[^']*'[^']*'?[^{]*-d '(\{[^']*\})'/g)].map(
    ([, body]) => JSON.parse(body!) as Record<string, unknown>,
  )
  return bodies.find((body) => body['provider'] === provider) ?? null
}

test("a provider's guide shows a valid connect request, complete and with the sender if needed", () => {
  const wrong = offered.flatMap(({ name, guide, types, credentials, settings, identifier }) => {
    const shown = connection(readFileSync(join(folder, `${guide}.md`), 'utf8'), name)
    if (shown === null) return [`${name}: no request that connects it`]
    const given = Object.keys(shown['credentials'] as object)
    const known = [...commonSettings, ...Object.keys(settings?.properties ?? {})]
    return [
      ...((types as readonly unknown[]).includes(shown['type']) ? [] : [`${name}: type ${String(shown['type'])}`]),
      ...given
        .filter((field) => !(field in credentials.properties))
        .map((field) => `${name}: credentials.${field} is unknown`),
      ...(credentials.required ?? [])
        .filter((field) => !given.includes(field))
        .map((field) => `${name}: credentials.${field} is missing`),
      ...Object.keys((shown['settings'] as object | undefined) ?? {}).flatMap((field) =>
        known.includes(field) ? [] : [`${name}: settings.${field} is unknown`],
      ),
      ...(identifier === 'required' && shown['identifier'] === undefined ? [`${name}: identifier is missing`] : []),
    ]
  })

  assert.ok(offered.length > 4)
  assert.deepEqual(wrong, [])
})

test("a provider's guide shows its connect command, with the sender if needed", () => {
  const wrong = offered.filter(({ name, guide, identifier }) => {
    const line = readFileSync(join(folder, `${guide}.md`), 'utf8')
      .split('\n')
      .find((each) => each.includes(`channels connect --provider ${name} --file `) && each.includes(' --test-to '))
    return line === undefined || line.includes(' --identifier ') !== (identifier === 'required')
  })

  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  )
})

test('commands and options in README and guides exist', () => {
  const program = new Command('posthorn')
  for (const register of groups) register(program, undefined as never)
  const shown = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:npm run posthorn -- |`posthorn )([^`\n]*)/g)].map(([, line]) => ({
      file,
      line: line!.trim(),
    })),
  )
  const wrong = shown.flatMap(({ file, line }) =>
    wrongCommand(program, line).map((what) => `${file}: ${what} in "${line}"`),
  )

  assert.ok(shown.length > 20, `${shown.length} commands`)
  assert.deepEqual(wrong, [])
})

const everywhere = ['--json', '--help', '--version']

function wrongCommand(program: Command, line: string): string[] {
  const words = line.replace(/\s#.*$/, '').split(/\s+/)
  const [first, second] = words
  if (first === undefined || !/^[a-z]/.test(first)) return []
  const group = program.commands.find((command) => command.name() === first)
  if (group === undefined) return [`no command ${first}`]
  const command = group.commands.length === 0 ? group : group.commands.find((child) => child.name() === second)
  if (command === undefined)
    return second === undefined || !/^[a-z-]+$/.test(second) ? [] : [`no command ${first} ${second}`]
  const known = [...everywhere, ...command.options.map(({ long }) => long)]
  return words
    .filter((word) => /^--[a-z]/.test(word))
    .flatMap((word) => (known.includes(word.split('=')[0]!) ? [] : [`no option ${word}`]))
}

test('operations in README and guides exist', () => {
  const named = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/\b(GET|POST|PATCH|DELETE) (\/v1\/[^\s`?,;)]*)/g)].map(([, method, path]) => ({
      file,
      method: method!,
      path: path!,
    })),
  )
  const wrong = named.filter(({ method, path }) => operationAt(method, path.replaceAll(/\{\w+\}/g, 'x')) === undefined)

  assert.ok(named.length > 50, `${named.length} operations`)
  assert.deepEqual(wrong, [])
})

test('links in guides lead to existing files', () => {
  const wrong = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].flatMap(([, href]) =>
      existsSync(join(root, dirname(file), href!)) ? [] : [`${file}: ${href}`],
    ),
  )

  assert.deepEqual(wrong, [])
})
