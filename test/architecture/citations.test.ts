/** Citations in comments and documents lead to existing paragraphs, files and links. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import test from 'node:test'
import { root, sources, type Source } from './sources.ts'

const behaviour = sources('docs/reference/behaviour/*.md')
const documents = sources('*.md', 'docs/**/*.md')
const citing = [
  ...sources('src/**/*.{ts,sql}', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/*', 'migrations/*.sql'),
  ...documents,
]
const self = 'test/architecture/citations.test.ts'
const others = citing.filter(({ path }) => path !== self)

const numbersOf = (text: string): string[] =>
  [...text.matchAll(/^(?:## (\d+)\. |\*\*(\d+\.\d+)\*\* )/gm)].map(([, section, paragraph]) => (section ?? paragraph)!)
const numbered = new Map(behaviour.map(({ path, text }) => [basename(path, '.md'), numbersOf(text)]))

/** `(behaviour: webhooks 3.2)`, `(behaviour: channels 1, 6; webhooks 2)`. */
const wellFormed =
  /^\(behaviour: ([a-z-]+ \d+(?:\.\d+)?(?:, \d+(?:\.\d+)?)*(?:; [a-z-]+ \d+(?:\.\d+)?(?:, \d+(?:\.\d+)?)*)*)\)/

/** Joins the lines of a citation that was wrapped. */
const joined = (text: string): string => text.slice(0, 300).replace(/\n\s*(?:\*(?!\/)|\/\/|--)?\s*/g, ' ')

function wrongCitation(text: string): string | null {
  const list = wellFormed.exec(joined(text))?.[1]
  if (list === undefined) return `${text.slice(0, 60).split('\n', 1)[0]} is not of the form (behaviour: page number)`
  for (const part of list.split('; ')) {
    const [page = '', ...numbers] = part.split(/,? /)
    const missing = numbers.find((number) => numbered.get(page)?.includes(number) !== true)
    if (missing !== undefined) return `${page} ${missing} does not exist`
  }
  return null
}

const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length

const found = (
  files: readonly Source[],
  pattern: RegExp,
  wrong: (match: RegExpExecArray, file: Source) => string | null,
): string[] =>
  files.flatMap((file) =>
    [...file.text.matchAll(pattern)].flatMap((match) => {
      const problem = wrong(match, file)
      return problem === null ? [] : [`${file.path}:${lineOf(file.text, match.index)}: ${problem}`]
    }),
  )

test('every citation of the behaviour reference names an existing paragraph', () => {
  const wrong = found(others, /.behaviour:\s/g, (match, { text }) => wrongCitation(text.slice(match.index)))

  assert.deepEqual(wrong, [])
  assert.ok(found(others, /\(behaviour:\s/g, () => '').length > 60)
})

test('a malformed citation, or of a missing paragraph, is reported', () => {
  const cite = (list: string) => wrongCitation(`(behaviour: ${list})`)

  assert.deepEqual([cite('webhooks 5.3'), cite('channels 1, 6; webhooks 2')], [null, null])
  assert.match(cite('webhooks 99')!, /webhooks 99 does not exist/)
  assert.match(cite('channels 1, 99.1; webhooks 2')!, /channels 99\.1 does not exist/)
  assert.match(cite('nothing 1')!, /nothing 1 does not exist/)
  for (const malformed of ['webhooks', 'webhooks 3, "Filters"', 'webhooks 3 and 4'])
    assert.match(cite(malformed)!, /is not of the form/)
})

test('nothing cites a text outside of this repository', () => {
  assert.deepEqual(
    found(
      others,
      /\bdecisions \d|\((?:[^()\n]*; )?(?:interface|architecture|decisions|hot[ -]path)[:,] |\b(?:interface|decisions|field-facts|hot-path|message-engine)\.md\b/gi,
      ([text]) => text,
    ),
    [],
  )
})

test('files that comments and documents name exist', () => {
  const named = /(?<![\w/.`-])`?((?:docs|src|test|bench|scripts|migrations)\/[\w./-]*[\w/])/g
  // the changelog may name removed files; patterns contain an ellipsis, a star or angle brackets
  const checked = others
    .filter(({ path }) => path !== 'CHANGELOG.md')
    .map((file) => ({ ...file, text: file.path.endsWith('.md') ? file.text : commentsOf(file.text) }))

  const wrong = found(checked, named, ({ 0: whole, 1: path, index }, { text }) => {
    const isScheme = /^(?:…|\*|<|\$\{)/.test(text.slice(index + whole.length))
    return isScheme || existsSync(join(root, path!)) || existsSync(join(root, `${path!}.md`))
      ? null
      : `${path!} does not exist`
  })

  assert.deepEqual(wrong, [])
})

test('files that documents name with a part of their path exist', () => {
  const paths = sources('{src,test,bench,scripts}/**/*.{ts,mjs}', '*.ts').map(({ path }) => `/${path}`)
  const checked = documents.filter(({ path }) => path !== 'CHANGELOG.md')

  assert.deepEqual(
    found(checked, /(?<![\w/.*-])(?:[\w-]+\/)*[a-z][\w.-]*\.(?:ts|mjs)\b/g, ([name], { text }) =>
      // a guide may let the reader create the file
      paths.some((path) => path.endsWith(`/${name}`)) || text.includes(`<!-- file: ${name} -->`)
        ? null
        : `there is no ${name}`,
    ),
    [],
  )
})

const commentsOf = (text: string): string => {
  const comments = [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)(?:\/\/|--).*$/gm)]
  let [only, at] = ['', 0]
  for (const { 0: comment, index } of comments) {
    only += text.slice(at, index).replaceAll(/[^\n]/g, ' ') + comment
    at = index + comment.length
  }
  return only
}

test('links between documents lead to files and their headings', () => {
  const wrong = found(documents, /\]\(([^)\s]+)\)/g, ([, href], { path, text }) => {
    if (/^[a-z]+:/.test(href!)) return null
    const [file, fragment] = href!.split('#')
    const target = file === '' ? path : posix.join(posix.dirname(path), file!)
    if (!existsSync(join(root, target))) return `${href} leads nowhere`
    const read = target === path ? text : documents.find((document) => document.path === target)?.text
    return fragment === undefined || read === undefined || slugsOf(read).includes(fragment)
      ? null
      : `${href} names no heading`
  })

  assert.deepEqual(wrong, [])
})

const slugsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('paragraphs of the behaviour reference are numbered in order, and every page is in its index', () => {
  const index = behaviour.find(({ path }) => path.endsWith('/README.md'))!.text

  for (const [page, numbers] of numbered) {
    if (page === 'README') continue
    assert.ok(index.includes(`](${page}.md)`), `${page}.md is not in the index`)
    assert.deepEqual(numbers, numbers.toSorted(byNumber), `${page}.md is out of order`)
    assert.equal(new Set(numbers).size, numbers.length, `${page}.md has a number twice`)
    for (const number of numbers.filter((one) => one.includes('.')))
      assert.ok(numbers.includes(number.split('.')[0]!), `${page} ${number} stands under another heading`)
  }
})

function byNumber(one: string, other: string): number {
  const [[a = 0, b = 0], [c = 0, d = 0]] = [one, other].map((number) => number.split('.').map(Number)) as [
    number[],
    number[],
  ]
  return a - c || b - d
}
