import assert from 'node:assert/strict'
import test from 'node:test'
import { blocksOf } from './blocks.ts'
import { playPage } from './play.ts'

const page = (...blocks: string[]) => blocks.join('\n\n')
const block = (language: string, text: string, comment?: string) =>
  `${comment === undefined ? '' : `<!-- ${comment} -->\n`}\`\`\`${language}\n${text}\n\`\`\``
const me = (rest = '') => `curl $BASE/v1/me${rest} -H "Authorization: Bearer $KEY"`

test('a page runs in order, with earlier output and variables', async (t) => {
  const { folder } = await playPage(
    t,
    page(
      block('txt', 'a file', 'file: note.txt'),
      block('sh', 'WORD=hello; greet() { echo "$WORD $1"; }'),
      block('sh', 'greet "$(cat note.txt)"; pwd > where.txt'),
      block('text', 'hello a file'),
      block('sh', me()),
      block('json', '{ "id": "acc_…", "mode": "test", … }'),
      block('sh', 'echo http://127.0.0.1:8080 key_…'),
      block('text', 'http://127.0.0.1:8080 key_0…'),
      block('js', 'neither seen nor run', 'not run: an example'),
    ),
  )

  assert.match(folder, /posthorn-page-/)
})

test('a TypeScript program runs with the client, and its output is compared with the page', async (t) => {
  const program = `import { Posthorn } from '@posthorn/client'
const posthorn = new Posthorn({ apiKey: process.env.KEY!, baseUrl: 'http://127.0.0.1:8080' })
console.log((await posthorn.me.retrieve()).mode)`

  await playPage(
    t,
    page(
      block('sh', 'mkdir ../inner && cd ../inner && ln -s ../folder/node_modules .'),
      block('ts', program),
      block('text', 'test'),
    ),
  )
  await assert.rejects(
    playPage(t, page(block('ts', program), block('text', 'live'))),
    /^Error: line 7: the line "live" was not printed/,
  )
})

test('a page fails if it shows other output, hides a refusal, or has an unknown block', async (t) => {
  const fails = async (expected: RegExp, ...blocks: string[]) =>
    await assert.rejects(playPage(t, page(...blocks)), expected)

  await fails(/^Error: line 5: mode is "test", not "live"/, block('sh', me()), block('json', '{ "mode": "live", … }'))
  await fails(
    /^Error: the commands of line 1 were refused, which the page does not show: .*parameter_invalid/,
    block('sh', me('?limt=1')),
  )
  await fails(/^Error: line 5: the commands of line 1 were refused/, block('sh', me('?limt=1')), block('sh', 'echo on'))
  await fails(/^Error: line 1: ended with 3: /, block('sh', '(exit 3)'))
  await fails(/^Error: line 1: a block of js that is no file and is not marked as not run/, block('js', 'let a'))
})

test('a comment before a block must be a known mark', () => {
  const marks = blocksOf(
    page(
      block('sh', 'a', 'later: 5 s'),
      block('sh', 'b', 'beside'),
      block('sh', 'c', 'while time passes'),
      block('sh', 'd'),
    ),
  ).map(({ mark }) => mark)

  assert.deepEqual(marks, [{ kind: 'later', ms: 5000 }, { kind: 'beside' }, { kind: 'while time passes' }, undefined])
  assert.throws(
    () => blocksOf(block('sh', 'a', 'dont run')),
    /line 2: <!-- dont run --> says nothing that is known about a block/,
  )
  assert.throws(() => blocksOf('```sh\na'), /line 1: a block without an end/)
})
