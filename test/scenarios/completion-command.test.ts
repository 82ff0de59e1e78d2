/** `posthorn completion` in real shells (behaviour: command-line 11). */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import { boundMs } from '../support/waiting.ts'

async function script(...argv: string[]): Promise<string> {
  let out = ''
  const code = await runCli(
    ['completion', ...argv],
    { env: {}, out: (text) => void (out += text), err: (text) => void (out += text) },
    groups,
  )
  assert.equal(code, 0, out)
  return out
}

async function offered(...words: string[]): Promise<string[]> {
  const typed = words.map((word) => `'${word}'`).join(' ')
  const asking = `${await script('bash')}\nCOMP_WORDS=(posthorn ${typed})\nCOMP_CWORD=${words.length}\n_posthorn\nprintf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-u', '-c', asking], {
    encoding: 'utf8',
    timeout: boundMs,
  })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout.split('\n').filter((word) => word !== '')
}

test('bash completes commands, subcommands, options and known arguments', async () => {
  assert.deepEqual(await offered('trig'), ['trigger'])
  assert.deepEqual(await offered('messages', ''), ['get', 'list', '--help'])
  assert.deepEqual(await offered('messages', 'list', '--st'), ['--status', '--starting-after'])
  assert.deepEqual(await offered('trigger', 'campaign.'), [
    'campaign.started',
    'campaign.paused',
    'campaign.completed',
    'campaign.failed',
  ])
  assert.deepEqual(await offered('send', '--text', 'Hello', '--chan'), ['--channel'])
  assert.deepEqual(await offered('completion', 'z'), ['zsh'])
})

test('bash offers no options where a value is expected', async () => {
  assert.deepEqual(await offered('send', '--text', ''), [])
})

test('each shell has a script with every command; another shell is wrong usage', async () => {
  const scripts = [await script('bash'), await script('zsh'), await script('fish')]
  const json = JSON.parse(await script('fish', '--json')) as { script: string }
  const other = await runCli(['completion', 'sh'], { env: {}, out: () => undefined, err: () => undefined }, groups)

  for (const text of scripts)
    for (const word of ['wallet', 'message.received', 'base-url']) assert.ok(text.includes(word), word)
  assert.equal(json.script, scripts[2])
  assert.equal(other, 2)
})
