/** Compiles the package to `dist/` with the same folders; `npm pack` runs it. */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prepare, prepareConsole, root } from './toolchain.mjs'

const [made, built] = [join(root, 'dist-new'), join(root, 'dist')]

const read = [
  'src/**/sql/*.sql',
  'src/docs/browser/*.{js,css}',
  'migrations/**/*.sql',
  'vendor/postgres/package.json',
  'vendor/postgres/src/*.js',
  'docs/guides/**/*.{md,webp}',
  'docs/reference/behaviour/*.md',
  'docs/reference/{threat-model,providers}.md',
  'console/dist/{index.html,assets/*}',
  'scripts/{start.cjs,start.mjs,preload.mjs,node-flags.mjs}',
]

const node = await prepare()
if (!(await prepareConsole())) fail('the console could not be built (see above).')
rmSync(made, { recursive: true, force: true })
compile()
for (const path of read.flatMap(filesAt)) {
  mkdirSync(dirname(join(made, path)), { recursive: true })
  cpSync(join(root, path), join(made, path))
}
// the compiled program reads its package.json, as the sources do
const { name, version, type, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
writeFileSync(
  join(made, 'package.json'),
  `${JSON.stringify({ name, version, type, imports: { '#postgres': imports['#postgres'].default } }, null, 2)}\n`,
)
rmSync(built, { recursive: true, force: true })
renameSync(made, built)

function filesAt(pattern) {
  const found = globSync(pattern, { cwd: root })
  if (found.length === 0) fail(`nothing is at ${pattern}.`)
  return found
}

function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status } = spawnSync(node, [compiler, '-p', join(root, 'scripts', 'tsconfig.package.json')], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) fail('the sources could not be compiled (see above).')
}

function fail(sentence) {
  console.error(`posthorn: ${sentence}`)
  process.exit(1)
}
