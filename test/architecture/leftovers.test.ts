/** The tree contains no temporary files. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root } from './sources.ts'

const leftover =
  /(^|\/)(isolate-[^/]*|core|core\.\d+|nohup\.out|\.DS_Store)$|\.(log|cpuprofile|heapsnapshot|heapprofile|tmp|orig|rej|swp|tgz)$/

test('no tracked file is temporary', { skip: !existsSync(join(root, '.git')) }, () => {
  const { status, stdout, stderr } = spawnSync('git', ['ls-files', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  assert.equal(status, 0, stderr)

  const found = stdout.split('\0').filter((path) => leftover.test(path))

  assert.deepEqual(found, [])
})

test('files of profilers, crashes and merges are reported, and sources are not', () => {
  const named = [
    'isolate-0x3963c000-32341-v8.log',
    'a/core.4711',
    'nohup.out',
    'x.heapsnapshot',
    'src/app.ts.orig',
  ].filter((path) => leftover.test(path))
  const passed = ['src/platform/observability/log.ts', 'src/core.ts', 'docs/reference/performance.md'].filter((path) =>
    leftover.test(path),
  )

  assert.deepEqual([named.length, passed], [5, []])
})
